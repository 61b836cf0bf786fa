//! `harnesses.toml`: harnesses of one's own, and built-in ones that are called in another way.

use std::io::ErrorKind;
use std::path::Path;

use super::built_in;
use super::keys::{Harness, KEYS};
use super::toml::{self, Table};
use crate::store::suggest;
use crate::{Error, Kind, Result, nofollow};

/// The harnesses that are built in, with what the file says of them, and those of the file alone.
///
/// # Errors
/// `corrupt` with the line when the file cannot be understood; `environment` when it cannot be read.
pub fn all(path: &Path) -> Result<Vec<Harness>> {
    let mut harnesses = built_in();
    for table in &read(path)? {
        let known = harnesses.iter_mut().find(|known| known.name == table.name);
        match known {
            Some(harness) => apply(path, table, harness)?,
            None => harnesses.push(new(path, table)?),
        }
    }
    Ok(harnesses)
}

/// The harness of this name.
///
/// # Errors
/// Those of [`all`]; `not_found` with the names there are.
pub fn named(path: &Path, name: &str) -> Result<Harness> {
    let harnesses = all(path)?;
    harnesses.iter().find(|harness| harness.name == name).cloned().ok_or_else(|| {
        let names: Vec<&str> = harnesses.iter().map(|harness| harness.name.as_str()).collect();
        Error::new(Kind::NotFound, format!("there is no harness `{name}`")).help(format!(
            "{}; {} can have more",
            suggest::help(name, &names, "harnesses"),
            path.display()
        ))
    })
}

fn read(path: &Path) -> Result<Vec<Table>> {
    let bytes = match nofollow::read_linked(path, nofollow::LONGEST) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(Error::io("read", path, &cause)),
    };
    let text = std::str::from_utf8(&bytes).map_err(|cause| {
        let line = bytes[..cause.valid_up_to()].split(|byte| *byte == b'\n').count();
        broken(path, line, "this is no UTF-8 text")
    })?;
    toml::parse(text).map_err(|flaw| broken(path, flaw.line, &flaw.what))
}

fn new(path: &Path, table: &Table) -> Result<Harness> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if !table.name.chars().all(plain) || table.name.starts_with('-') {
        return Err(broken(path, table.line, "a harness's name has letters, digits, `_` and `-`"));
    }
    for key in ["binary", "full", "reduced"] {
        if !table.has(key) {
            return Err(broken(path, table.line, &format!("a new harness says its `{key}`")));
        }
    }
    let mut harness = Harness { name: table.name.clone(), ..Harness::default() };
    apply(path, table, &mut harness).map(|()| harness)
}

fn apply(path: &Path, table: &Table, harness: &mut Harness) -> Result<()> {
    if table.has("report") {
        // These went with other arguments.
        harness.report_set.clear();
        harness.report_defaults.clear();
        harness.report_version.clear();
    }
    for entry in &table.entries {
        let Some(key) = KEYS.iter().find(|key| key.name == entry.key) else {
            let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            let help = suggest::help(&entry.key, &names, "keys");
            return Err(broken(path, entry.line, &format!("`{}` is no key of a harness: {help}", entry.key)));
        };
        (key.set)(harness, entry).map_err(|flaw| broken(path, entry.line, &flaw))?;
    }
    Ok(())
}

fn broken(path: &Path, line: usize, what: &str) -> Error {
    Error::new(Kind::Corrupt, format!("{}:{line}: {what}", path.display()))
        .help("mend that line, or remove the file; nothing was changed")
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
        assert_eq!(error.kind, Kind::Corrupt);
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
    fn what_is_wrong_with_it_is_told_with_its_line() {
        const WHOLE: &str = "binary = 'x'\nfull = ['{prompt}']\nreduced = ['{prompt}']\n";
        check_flaw("[x]\nbinary = 'x'", "1", "says its `full`");
        check_flaw("[x]\nbinary = ['x']\nfull = ['{prompt}']\nreduced = ['{prompt}']", "2", "program");
        check_flaw(&format!("[x]\n{WHOLE}bianry = 'x'"), "5", "did you mean `binary`?");
        check_flaw(&format!("[x]\n{WHOLE}review = []"), "5", "once");
        check_flaw(&format!("[x]\n{WHOLE}review = ['{{prompt}} {{prompt_file}}']"), "5", "once");
        check_flaw(&format!("[x]\n{WHOLE}unset = 'A'"), "5", "is a list");
        check_flaw(&format!("[x]\n{WHOLE}effort = ['--high']"), "5", "level");
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
        check_flaw("[claude]\nfull = 1", "2", "string in quotes");
    }
}
