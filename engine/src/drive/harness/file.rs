//! `harnesses.toml`: the user's own harnesses, and changes of built-in ones.

use std::io;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable};

use super::built_in;
use super::keys::{Harness, KEYS, TableEntry};
use super::sandbox;
use crate::store::suggest;
use crate::store::toml_text::{TomlText, in_order};
use crate::{Error, ErrorKind, Result};
use orange_system::nofollow;

/// The built-in harnesses with the changes of the file, and those of the file alone.
pub fn all(path: &Path) -> Result<Vec<Harness>> {
    let mut harnesses = built_in();
    if let Some(bytes) = read(path)? {
        HarnessSource(TomlText::new(path, &bytes)?).add_to(&mut harnesses)?;
    }
    Ok(harnesses)
}

/// The harness of this name; the error lists the names.
pub fn named(path: &Path, name: &str) -> Result<Harness> {
    let harnesses = all(path)?;
    harnesses.iter().find(|harness| harness.name == name).cloned().ok_or_else(|| {
        let names: Vec<&str> = harnesses.iter().map(|harness| harness.name.as_str()).collect();
        Error::new(ErrorKind::NotFound, format!("there is no harness `{name}`")).help(format!(
            "{}; {} can have more",
            suggest::help(name, &names, "harnesses"),
            path.display()
        ))
    })
}

/// The bytes of the file; `None` if there is no file.
fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match nofollow::read_linked(path, nofollow::LONGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::io("read", path, &cause)),
    }
}

struct HarnessSource<'t>(TomlText<'t>);

impl HarnessSource<'_> {
    fn add_to(&self, harnesses: &mut Vec<Harness>) -> Result<()> {
        let tables = self.0.table()?;
        for (name, value) in in_order(tables.get_ref()) {
            let Some(table) = value.get_ref().as_table() else {
                return Err(self
                    .0
                    .broken(name.span().start, "a key needs a table before it, such as `[aider]`"));
            };
            match harnesses.iter_mut().find(|known| known.name == **name.get_ref()) {
                Some(harness) => self.apply(table, harness)?,
                None => harnesses.push(self.new_harness(name, table)?),
            }
        }
        Ok(())
    }

    fn new_harness(&self, name: &Spanned<DeString<'_>>, table: &DeTable<'_>) -> Result<Harness> {
        let (at, name) = (name.span().start, name.get_ref());
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if name.is_empty() || !name.chars().all(is_plain) || name.starts_with('-') {
            return Err(self.0.broken(at, "a harness's name has letters, digits, `_` and `-`"));
        }
        for key in ["binary", "full", "reduced"] {
            if !table.contains_key(key) {
                return Err(self.0.broken(at, &format!("a new harness says its `{key}`")));
            }
        }
        let mut harness = Harness { name: name.to_string(), ..Harness::default() };
        self.apply(table, &mut harness).map(|()| harness)
    }

    fn apply(&self, table: &DeTable<'_>, harness: &mut Harness) -> Result<()> {
        if table.contains_key("report") {
            // The built-in variables belong to the built-in arguments.
            harness.report_set.clear();
            harness.report_defaults.clear();
            harness.report_version.clear();
        }
        for (name, value) in in_order(table) {
            let (at, entry) = (name.span().start, TableEntry { key: name.get_ref(), value: value.get_ref() });
            if entry.key == sandbox::TABLE {
                let Some(table) = entry.value.as_table() else {
                    let name = &harness.name;
                    return Err(self.0.broken(at, &format!("`sandbox` is a table: [{name}.sandbox]")));
                };
                sandbox::apply(table, &mut harness.sandbox).map_err(|(at, flaw)| self.0.broken(at, &flaw))?;
                continue;
            }
            let Some(key) = KEYS.iter().find(|key| key.name == entry.key) else {
                let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
                let help = suggest::help(entry.key, &names, "keys");
                return Err(self.0.broken(at, &format!("`{}` is not a key of a harness: {help}", entry.key)));
            };
            (key.set)(harness, &entry).map_err(|flaw| self.0.broken(at, &flaw))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use std::path::PathBuf;

    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("harnesses.toml");
        fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[track_caller]
    fn check_flaw(text: &str, place: &str, part: &str) {
        let (_folder, path) = file(text);
        let error = all(&path).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Corrupt);
        assert!(error.message.contains(&format!("harnesses.toml:{place}: ")), "{error}");
        assert!(error.message.contains(part), "{error}");
    }

    #[test]
    fn without_a_file_there_are_the_built_in_ones() {
        let path = Path::new("/nowhere/harnesses.toml");
        let names: Vec<String> = all(path).unwrap().into_iter().map(|harness| harness.name).collect();
        assert_eq!(names, ["claude", "codex", "opencode", "pi", "gemini", "copilot"]);
        assert!(named(path, "cluade").unwrap_err().help.starts_with("did you mean `claude`?"));
        assert!(
            named(path, "cursor").unwrap_err().help.contains("claude, codex, opencode, pi, gemini, copilot")
        );
    }

    #[test]
    fn a_file_adds_some_and_changes_others() {
        let (_folder, path) = file(
            "[aider]\nbinary = 'aider'\nfull = ['--yes-always', '--message-file={prompt_file}']\n\
             reduced = ['--message', '{prompt}']\nworkspace_files = ['.aider*']\n[claude]\nbinary = '/opt/claude'\n",
        );
        let aider = named(&path, "aider").unwrap();
        assert_eq!((aider.binary.as_str(), aider.full.len(), &aider.review), ("aider", 2, &None));
        assert_eq!(aider.workspace_files, [".aider*"]);
        let claude = named(&path, "claude").unwrap();
        assert_eq!(claude, Harness { binary: "/opt/claude".to_owned(), ..built_in().remove(0) });
        assert_eq!(all(&path).unwrap().len(), built_in().len() + 1);
    }

    #[test]
    fn a_version_belongs_to_the_arguments_that_it_is_said_with() {
        let version = |text: &str| {
            let (_folder, path) = file(text);
            named(&path, "codex").unwrap().report_version
        };
        assert_eq!(version("[codex]\nbinary = '/opt/codex'\n"), built_in().remove(1).report_version);
        assert_eq!(version("[codex]\nreport = ['--hooks']\n"), "");
        assert_eq!(version("[codex]\nreport_version = '1.'\nreport = ['--hooks']\n"), "1.");
    }

    #[test]
    fn an_error_is_reported_with_its_line() {
        const WHOLE: &str = "binary = 'x'\nfull = ['{prompt}']\nreduced = ['{prompt}']\n";
        check_flaw("[x]\nbinary = 'x'", "1", "says its `full`");
        check_flaw("[x]\nbinary = ['x']\nfull = ['{prompt}']\nreduced = ['{prompt}']", "2", "program");
        check_flaw(&format!("[x]\n{WHOLE}bianry = 'x'"), "5", "did you mean `binary`?");
        check_flaw(&format!("[x]\n{WHOLE}review = []"), "5", "once");
        check_flaw(&format!("[x]\n{WHOLE}review = ['{{prompt}} {{prompt_file}}']"), "5", "once");
        check_flaw(&format!("[x]\n{WHOLE}unset = 'A'"), "5", "is a list");
        check_flaw(&format!("[x]\n{WHOLE}effort = ['--high']"), "5", "level");
        check_flaw(&format!("[x]\n{WHOLE}model = ['--big']"), "5", "model's name");
        check_flaw(&format!("[x]\n{WHOLE}set = ['A']"), "5", "NAME=value");
        check_flaw(&format!("[x]\n{WHOLE}set = ['ORANGE_TASK=t2']"), "5", "its own");
        check_flaw(&format!("[x]\n{WHOLE}set = ['A={{prompt}}']"), "5", "prompt_file");
        check_flaw(&format!("[x]\n{WHOLE}overrides = ['A=b']"), "5", "names");
        check_flaw(&format!("[x]\n{WHOLE}overrides = ['ORANGE_HOME']"), "5", "its own");
        check_flaw(&format!("['a b']\n{WHOLE}"), "1", "name");
        check_flaw("[claude]\nconsent = ['{rpeo:json}']", "2", "did you mean `{repo}`?");
        check_flaw("[claude]\nfull = []", "2", "once");
        check_flaw("[claude]\nresume = ['--continue']", "2", "`{session}`");
        check_flaw("[claude]\ntranscripts = ['sessions/{session}.jsonl']", "2", "begins with");
        check_flaw("[claude]\ntranscripts = ['~/{session}/x.jsonl']", "2", "once");
        for wrong in ["1", "true", "{c = 'd'}", "[['c']]", "['a', 1]", "[\"\\u0000\"]"] {
            check_flaw(&format!("[claude]\n\nfull = {wrong}"), "3", "strings in quotes");
        }
        check_flaw("[claude]\nbinary = 1", "2", "program");
        check_flaw("[claude]\ninstall = 1", "2", "one string in quotes");
    }

    #[test]
    fn invalid_toml_is_reported_with_its_line() {
        check_flaw("# one\nclaude = 'b'", "2", "table before it");
        check_flaw("['']\nbinary = 'b'", "1", "name");
        check_flaw("[[claude]]\nbinary = 'b'", "1", "table before it");
        check_flaw("[a.b]", "1", "says its `binary`");
        check_flaw("[claude]\nbinary.c = 'd'", "2", "program");
        check_flaw("[claude]\nbinary = \"c\nd\"", "2", "string");
        check_flaw("[claude]\nbinary = 'c", "2", "string");
        check_flaw("[claude]\nbinary = \"\\x\"", "2", "unicode");
        check_flaw("[claude]\nbinary = 'c' d", "2", "expected");
        check_flaw("[claude]\nfull = ['c' 'd']", "2", "expected");
        check_flaw("[claude]\nbinary 'c'", "2", "expected");
        check_flaw("[claude]\n= 'c'", "2", "key");
        check_flaw("[claude]\nbinary = 'c'\nbinary = 'd'", "3", "duplicate key");
        check_flaw("[claude]\n[codex]\n[claude]", "3", "duplicate key");
        let (_folder, path) = file("\u{feff}[claude]\r\nbinary = \"\"\"\r\n/opt/\\\r\n  claude\"\"\"\r\n");
        assert_eq!(named(&path, "claude").unwrap().binary, "/opt/claude");
    }
}
