//! The table `sandbox` of a harness in `harnesses.toml`, for its agents in walls.

use orange_core::wall::flaw_of_host;
use toml::de::DeTable;

use super::keys::{KeyResult, TableEntry, list, names, prompted};
use super::needs::HarnessSandbox;
use crate::store::settings::flaw_of_grant;
use crate::store::suggest;
use crate::store::toml_text::in_order;

/// Name of the table.
pub(super) const TABLE: &str = "sandbox";

const KEYS: &[&str] = &["hosts", "env", "seed", "full", "reduced"];

/// Changes what the table sets. An error has the place of its key.
pub(super) fn apply(table: &DeTable<'_>, sandbox: &mut HarnessSandbox) -> Result<(), (usize, String)> {
    for (name, value) in in_order(table) {
        let (at, entry) = (name.span().start, TableEntry { key: name.get_ref(), value: value.get_ref() });
        set(sandbox, &entry).map_err(|flaw| (at, flaw))?;
    }
    Ok(())
}

fn set(sandbox: &mut HarnessSandbox, entry: &TableEntry<'_>) -> KeyResult<()> {
    match entry.key {
        "hosts" => sandbox.hosts = checked(list(entry)?, flaw_of_host)?,
        "env" => sandbox.env = names(entry)?,
        "seed" => sandbox.seed = checked(list(entry)?, flaw_of_seed)?,
        "full" => sandbox.full = Some(prompted(entry)?),
        "reduced" => sandbox.reduced = Some(prompted(entry)?),
        key => {
            return Err(format!("`{key}` is not a key here: {}", suggest::help(key, KEYS, "keys")));
        }
    }
    Ok(())
}

fn checked(texts: Vec<String>, flaw: fn(&str) -> Option<String>) -> KeyResult<Vec<String>> {
    texts.iter().find_map(|text| flaw(text)).map_or(Ok(texts), Err)
}

fn flaw_of_seed(path: &str) -> Option<String> {
    flaw_of_grant(&format!("~/{path}"))
        .map(|_| format!("`{}` is not a path below the home, without `~/` and `..`", path.escape_debug()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::{built_in, named};

    fn read(text: &str) -> crate::Result<super::super::Harness> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("harnesses.toml");
        fs::write(&path, text).unwrap();
        named(&path, "claude")
    }

    #[test]
    fn a_table_changes_what_it_names() {
        let read = read("[claude.sandbox]\nhosts = ['a.org:443']\nseed = ['.x/y']\n").unwrap();
        let built_in = built_in().remove(0);
        assert_eq!((read.sandbox.hosts, read.sandbox.seed), (vec!["a.org:443".into()], vec![".x/y".into()]));
        assert_eq!((&read.sandbox.env, read.sandbox.full), (&built_in.sandbox.env, built_in.sandbox.full));
    }

    #[test]
    fn a_flaw_of_the_table_names_its_line() {
        for (line, part) in [
            ("hosts = ['a']", "not a host and a port"),
            ("env = ['ORANGE_SECRET']", "its own"),
            ("seed = ['../x']", "below the home"),
            ("full = ['x']", "once"),
            ("home = 'x'", "`home` is not a key here"),
        ] {
            let error = read(&format!("[claude.sandbox]\n{line}\n")).unwrap_err();
            assert!(error.message.contains(part) && error.message.contains("toml:2: "), "{error}");
        }
        assert!(read("[claude]\nsandbox = 1\n").unwrap_err().message.contains("[claude.sandbox]"));
    }

    #[test]
    fn hosts_and_seeds_of_the_built_in_ones_are_valid() {
        for harness in built_in() {
            let table = harness.sandbox;
            assert!(table.hosts.iter().all(|host| super::flaw_of_host(host).is_none()));
            assert!(table.seed.iter().all(|path| super::flaw_of_seed(path).is_none()));
        }
    }
}
