//! `harnesses.toml`: harnesses of one's own, and built-in ones that are called in another way.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::toml::{self, Entry, Table, Value};
use super::{EFFORT, HARNESSES, Harness, PROMPT, PROMPT_FILE};
use crate::store::suggest;
use crate::{Error, Kind, Result};

const KEYS: &[&str] =
    &["binary", "full", "reduced", "review", "effort", "workspace_files", "unset", "install"];

/// The harnesses that are built in, with what the file says of them, and those of the file alone.
///
/// # Errors
/// `corrupt` with the line when the file cannot be understood; `environment` when it cannot be read.
pub fn all(path: &Path) -> Result<Vec<Harness>> {
    let mut harnesses: Vec<Harness> = HARNESSES.iter().map(Harness::from).collect();
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
    let bytes = match fs::read(path) {
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
        if !table.entries.iter().any(|entry| entry.key == key) {
            return Err(broken(path, table.line, &format!("a new harness says its `{key}`")));
        }
    }
    let mut harness = Harness { name: table.name.clone(), ..Harness::default() };
    apply(path, table, &mut harness).map(|()| harness)
}

fn apply(path: &Path, table: &Table, harness: &mut Harness) -> Result<()> {
    for entry in &table.entries {
        let flaw = |what: &str| broken(path, entry.line, what);
        match entry.key.as_str() {
            "binary" => {
                harness.binary = text(entry)
                    .filter(|text| !text.is_empty())
                    .ok_or_else(|| flaw("`binary` is the name or path of a program"))?
            }
            "install" => harness.install = text(entry).ok_or_else(|| flaw("`install` is one string"))?,
            "full" => harness.full = prompted(path, entry)?,
            "reduced" => harness.reduced = prompted(path, entry)?,
            "review" => harness.review = Some(prompted(path, entry)?),
            "effort" => harness.effort = with_effort(path, entry)?,
            "workspace_files" => harness.workspace_files = list(path, entry)?,
            "unset" => harness.unset = list(path, entry)?,
            other => {
                return Err(flaw(&format!(
                    "`{other}` is no key of a harness: {}",
                    suggest::help(other, KEYS, "keys")
                )));
            }
        }
    }
    Ok(())
}

fn text(entry: &Entry) -> Option<String> {
    match &entry.value {
        Value::Text(text) => Some(text.clone()),
        Value::List(_) => None,
    }
}

fn list(path: &Path, entry: &Entry) -> Result<Vec<String>> {
    match &entry.value {
        Value::List(list) => Ok(list.clone()),
        Value::Text(_) => {
            Err(broken(path, entry.line, &format!("`{}` is a list: [\"…\", \"…\"]", entry.key)))
        }
    }
}

fn prompted(path: &Path, entry: &Entry) -> Result<Vec<String>> {
    let args = list(path, entry)?;
    let places = args.iter().flat_map(|arg| [PROMPT, PROMPT_FILE].map(|place| arg.matches(place).count()));
    if places.sum::<usize>() == 1 {
        return Ok(args);
    }
    let what = format!(
        "`{}` has the place of the prompt once: `{PROMPT}`, or `{PROMPT_FILE}` for a file with it",
        entry.key
    );
    Err(broken(path, entry.line, &what))
}

fn with_effort(path: &Path, entry: &Entry) -> Result<Vec<String>> {
    let args = list(path, entry)?;
    if args.is_empty() || args.iter().any(|arg| arg.contains(EFFORT)) {
        return Ok(args);
    }
    Err(broken(path, entry.line, &format!("`effort` has the place of the level: `{EFFORT}`")))
}

fn broken(path: &Path, line: usize, what: &str) -> Error {
    Error::new(Kind::Corrupt, format!("{}:{line}: {what}", path.display()))
        .help("mend that line, or remove the file; nothing was changed")
}

#[cfg(test)]
mod tests {
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
        assert_eq!(names, ["claude", "codex", "opencode", "pi"]);
        assert!(named(path, "cluade").unwrap_err().help.starts_with("did you mean `claude`?"));
        assert!(named(path, "cursor").unwrap_err().help.contains("claude, codex, opencode, pi"));
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
        let built_in = Harness::from(&HARNESSES[0]);
        assert_eq!(claude, Harness { binary: "/opt/claude".to_owned(), ..built_in });
        assert_eq!(all(&path).unwrap().len(), 5);
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
        check_flaw(&format!("['a b']\n{WHOLE}"), "1", "name");
        check_flaw("[claude]\nfull = []", "2", "once");
        check_flaw("[claude]\nfull = 1", "2", "string in quotes");
    }
}
