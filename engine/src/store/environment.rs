//! The environments of agents on disk: the one that an agent is to get, and the last one that a person's command of a project had.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::Result;
use crate::store::{Home, WorkItemDir, home};
use orange_system::files::if_found;
use orange_system::{atomic, nofollow};

/// The variables that a program needs to run at all: where it finds programs, files and the user, and how it writes.
const NEEDED: &[&str] =
    &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TMUX_TMPDIR", "TZ"];

/// Prefixes of the names of further variables that a program needs.
const NEEDED_BEGINNINGS: &[&str] = &["LC_", "XDG_"];

/// Variables, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Keeps only those variables whose name `is_kept` accepts.
    pub fn filtered(self, is_kept: impl Fn(&str) -> bool) -> Environment {
        self.0.into_iter().filter(|(name, _)| name.to_str().is_none_or(&is_kept)).collect()
    }

    /// Keeps only the variables that a program needs, and those of these names.
    pub fn only(self, names: &[String]) -> Environment {
        let is_named = |name: &OsStr| names.iter().any(|named| OsStr::new(named) == name);
        self.0.into_iter().filter(|(name, _)| is_needed(name) || is_named(name)).collect()
    }

    /// Leaves out the variables of these names.
    pub fn without(self, names: &[String]) -> Environment {
        self.filtered(|name| !names.iter().any(|denied| denied == name))
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Every variable.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// As in `/proc/PID/environ`: each variable ends with a zero byte, which no variable contains.
    fn to_bytes(&self) -> Vec<u8> {
        self.iter()
            .flat_map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat())
            .collect()
    }

    fn of_bytes(bytes: &[u8]) -> Environment {
        let pair = |entry: &[u8]| {
            let at = entry.iter().position(|byte| *byte == b'=')?;
            let owned = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
            Some((owned(&entry[..at]), owned(&entry[at + 1..])))
        };
        bytes.split(|byte| *byte == 0).filter_map(pair).collect()
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Environment {
        Environment(variables.into_iter().collect())
    }
}

/// True if every program needs this variable.
pub fn is_needed(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        NEEDED.contains(&name) || NEEDED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
    })
}

/// Writes the environment of an agent for its wrapper, unless one is there: that is the one of the command that recorded the agent.
pub fn offer(dir: &WorkItemDir, spawn: u32, environment: &Environment) -> Result<()> {
    let path = dir.environment(spawn);
    if path.symlink_metadata().is_ok() { Ok(()) } else { write(&path, environment) }
}

/// The environment that an agent was offered, which no later call gets.
pub fn take(dir: &WorkItemDir, spawn: u32) -> Result<Option<Environment>> {
    let found = read(&dir.environment(spawn))?;
    forget(dir, spawn).map(|()| found)
}

/// Removes what an agent was offered and has not taken.
pub fn forget(dir: &WorkItemDir, spawn: u32) -> Result<()> {
    atomic::remove(&dir.environment(spawn))
}

/// The environment that the last command of a person about this project had.
pub fn last(home: &Home, project: &str) -> Result<Option<Environment>> {
    read(&home.environment(project))
}

/// Keeps this environment as the last one of a project. One that is the same is not written again.
pub fn keep(home: &Home, project: &str, environment: &Environment) -> Result<()> {
    if last(home, project)?.as_ref() == Some(environment) {
        return Ok(());
    }
    write(&home.environment(project), environment)
}

/// Removes the environment of a project that is gone.
pub fn forget_last(home: &Home, project: &str) -> Result<()> {
    atomic::remove(&home.environment(project))
}

fn write(path: &Path, environment: &Environment) -> Result<()> {
    home::make_folder(path.parent().unwrap_or(path))?;
    atomic::write(path, &environment.to_bytes())
}

fn read(path: &Path) -> Result<Option<Environment>> {
    let bytes = if_found(path, nofollow::read(path, nofollow::LONGEST))?;
    Ok(bytes.map(|bytes| Environment::of_bytes(&bytes)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::store::tests;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[track_caller]
    fn is_private(path: &Path) {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_offered_environment_is_private_and_taken_once() {
        let (_folder, home) = tests::home();
        let dir = home.task("toy", "t1");
        let offered = environment(&[("A", "1=2\n3"), ("EMPTY", "")]);
        offer(&dir, 1, &offered).unwrap();
        offer(&dir, 1, &environment(&[("A", "later")])).unwrap();
        is_private(&dir.environment(1));
        assert_eq!(take(&dir, 1).unwrap(), Some(offered));
        assert!(!dir.environment(1).exists());
        assert_eq!(take(&dir, 1).unwrap(), None);
    }

    #[test]
    fn the_last_environment_of_a_project_is_private() {
        let (_folder, home) = tests::home();
        assert_eq!(last(&home, "toy").unwrap(), None);
        for value in ["old", "new"] {
            keep(&home, "toy", &environment(&[("KEY", value)])).unwrap();
            is_private(&home.environment("toy"));
        }
        assert_eq!(last(&home, "toy").unwrap().unwrap().get("KEY"), Some(OsStr::new("new")));
        assert_eq!(last(&home, "other").unwrap(), None);
    }

    #[test]
    fn an_unchanged_environment_is_not_written_again() {
        let (_folder, home) = tests::home();
        let kept =
            || fs::metadata(home.environment("toy")).map(|it| std::os::unix::fs::MetadataExt::ino(&it));
        keep(&home, "toy", &environment(&[("KEY", "1")])).unwrap();
        let before = kept().unwrap();
        keep(&home, "toy", &environment(&[("KEY", "1")])).unwrap();
        assert_eq!(kept().unwrap(), before);
        forget_last(&home, "toy").unwrap();
        assert!(kept().is_err());
    }

    #[test]
    fn denied_variables_are_left_out() {
        let all = environment(&[("GH_TOKEN", "1"), ("GH_TOKEN_2", "2"), ("NPM_TOKEN", "3")]);
        let denied = ["GH_TOKEN".to_owned(), "NPM_TOKEN".to_owned()];
        assert_eq!(all.without(&denied), environment(&[("GH_TOKEN_2", "2")]));
    }

    #[test]
    fn named_variables_come_beside_those_that_are_needed() {
        let all = environment(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("XDG_DATA_HOME", "/x"),
            ("KEY", "1"),
            ("OTHER", "2"),
        ]);
        let expect = environment(&[("PATH", "/bin"), ("LC_ALL", "C"), ("XDG_DATA_HOME", "/x"), ("KEY", "1")]);
        assert_eq!(all.only(&["KEY".to_owned(), "ABSENT".to_owned()]), expect);
    }
}
