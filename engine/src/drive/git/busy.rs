//! Waits while another git process holds a lock.
//!
//! A killed git leaves its lock files. They are reported and never removed: a git may close a lock long before it is done, as
//! during the editor of a commit, and a git in a container or on another machine is invisible.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::{Git, head, parse};
use crate::{Error, Result};
use orange_system::exec::{CallOutput, ProgramCall};
use orange_system::files::{entries, real};
use orange_system::process;

/// Time for which a call waits for a lock.
const PATIENCE: Duration = Duration::from_secs(20);

/// Time for which a call waits for a lock that no visible process holds.
const LEAST: Duration = Duration::from_secs(2);

/// The rest of the patience for one operation.
pub(super) struct Patience {
    start: Instant,
    pause: Duration,
}

impl Patience {
    pub(super) fn new() -> Patience {
        Patience { start: Instant::now(), pause: Duration::from_millis(20) }
    }

    /// Waits a little for the git process that blocked this call.
    pub(super) fn wait(&mut self, git: &Git, output: &CallOutput) -> Result<()> {
        let lock = parse::lock_in(&output.complaint()).map(|lock| git.repo.join(lock));
        let waited = self.start.elapsed();
        if waited > PATIENCE {
            return Err(in_the_way(output, "another git has been at work there for long", lock.as_deref()));
        }
        if waited > LEAST && lock.as_deref().is_some_and(|lock| git.is_held(lock) == Ok(Some(false))) {
            return Err(in_the_way(output, "the git that held it has died", lock.as_deref()));
        }
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(Duration::from_millis(500));
        Ok(())
    }
}

impl Git {
    /// Repeats a call while another git process blocks it.
    pub(in crate::drive) fn patiently(&self, call: impl Fn() -> ProgramCall) -> Result<CallOutput> {
        let mut patience = Patience::new();
        loop {
            let output = call().run()?;
            if output.success() || !parse::says_busy(&output.complaint()) {
                return Ok(output);
            }
            patience.wait(self, &output)?;
        }
    }

    /// The lock files of the repository and of its worktrees that no process holds: killed gits have left them.
    pub fn abandoned_locks(&self) -> Result<Vec<PathBuf>> {
        let common = self.common_dir()?;
        let mut folders = vec![common.clone(), common.join("refs")];
        folders.extend(entries(&common.join("worktrees"))?.into_iter().map(|worktree| worktree.path()));
        let mut locks = Vec::new();
        while let Some(folder) = folders.pop() {
            let is_of_refs = folder.starts_with(common.join("refs"));
            for path in entries(&folder)?.into_iter().map(|entry| entry.path()) {
                if is_of_refs && path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "lock") {
                    locks.push(path);
                }
            }
        }
        locks.retain(|lock| self.is_held(lock) == Ok(Some(false)) && lock.exists());
        locks.sort_unstable();
        Ok(locks)
    }

    /// True if a process may hold this lock, as far as this machine shows: it has the file open, or is a git in this repository, or
    /// the lock changed meanwhile. `None` where that cannot be known.
    fn is_held(&self, lock: &Path) -> Result<Option<bool>> {
        let lock = real(lock);
        let common = real(&self.common_dir()?);
        let stands_here = |folder: &Path| {
            let repository = folder.ancestors().find_map(head::repository);
            folder.starts_with(&common) || repository.is_some_and(|one| real(&one).starts_with(&common))
        };
        let before = identity(&lock);
        let is_used = process::may_use(&lock, "git", &stands_here);
        Ok(is_used.map(|is_used| is_used || before.is_none() || identity(&lock) != before))
    }
}

/// Numbers that identify a file and its creation.
fn identity(file: &Path) -> Option<[i64; 3]> {
    let meta = fs::symlink_metadata(file).ok()?;
    Some([meta.ino().cast_signed(), meta.ctime(), meta.ctime_nsec()])
}

fn in_the_way(output: &CallOutput, why: &str, lock: Option<&Path>) -> Error {
    let error = output.failure();
    // The rest is git's own advice.
    let said = error.message.split("\n\n").next().unwrap_or_default();
    let remedy = match lock {
        Some(lock) => format!("if no git is running there, `rm '{}'`, then try again", lock.display()),
        None => "wait until no git is running there, then try again".to_owned(),
    };
    Error::new(error.kind, format!("{said} ({why})")).help(remedy)
}
