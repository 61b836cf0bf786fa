//! The user who runs the agents: the user of the tests, or an ordinary one where that is root.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The user that is made where the tests run as root. Its shell is one that agents can use.
const NAME: &str = "orange-agents";

/// A user that is not root.
#[derive(Clone, Debug)]
pub(crate) struct TestUser {
    /// Its name.
    pub(crate) name: String,
    uid: u32,
    gid: u32,
    /// It is another one than runs the tests.
    is_other: bool,
}

impl TestUser {
    /// The user who runs the tests, unless that is root.
    pub(crate) fn find() -> Result<TestUser, String> {
        let own = fs::metadata("/proc/self").map_err(|error| error.to_string())?;
        let known = |is_wanted: &dyn Fn(&TestUser) -> bool| users().into_iter().find(|user| is_wanted(user));
        if own.uid() != 0 {
            let by_id = known(&|user| user.uid == own.uid());
            return Ok(TestUser { is_other: false, ..by_id.ok_or("this user has no line in /etc/passwd")? });
        }
        let by_name = || known(&|user| user.name == NAME);
        if let Some(user) = by_name() {
            return Ok(user);
        }
        let made = Command::new("useradd").args(["--shell", "/bin/bash", "--no-create-home", NAME]).output();
        by_name().ok_or_else(|| {
            let why = made.map_or_else(
                |error| error.to_string(),
                |said| String::from_utf8_lossy(&said.stderr).into_owned(),
            );
            format!("agents refuse to run as root, and the user {NAME} cannot be made: {}", why.trim())
        })
    }

    /// Lets a program run as this user.
    pub(crate) fn runs(&self, command: &mut Command) {
        if self.is_other {
            command.uid(self.uid).gid(self.gid);
        }
    }

    /// Gives a file or folder to this user, with all that is in it.
    pub(crate) fn owns(&self, path: &Path) {
        if !self.is_other {
            return;
        }
        chown(path, Some(self.uid), Some(self.gid)).unwrap();
        if path.is_dir() {
            fs::read_dir(path).unwrap().for_each(|entry| self.owns(&entry.unwrap().path()));
        }
    }
}

/// The users of `/etc/passwd`.
fn users() -> Vec<TestUser> {
    let text = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = |line: &str| {
        let mut parts = line.split(':');
        let name = parts.next()?.to_owned();
        let (uid, gid) = (parts.nth(1)?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(TestUser { name, uid, gid, is_other: true })
    };
    text.lines().filter_map(user).collect()
}
