//! The processes of a system, whichever system it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, ErrorKind, Result};

/// The processes that a system shows. No answer takes a process for ended without proof: where the system does not show a
/// process and does not prove that there is none, the answer is an error.
pub(super) trait Processes: Sync {
    /// Every process that it shows, by number; this process is one of them.
    fn all(&self) -> Result<BTreeMap<i32, Stat>>;

    /// One process; `None` proves that there is none.
    fn one(&self, pid: i32) -> Result<Option<Stat>>;

    /// Refuses where processes cannot be looked at.
    fn check(&self) -> Result<()>;

    /// The variables with which a process was started, each with a zero byte after it; empty for another user's, or one that is gone.
    fn environment(&self, pid: i32) -> Vec<u8>;

    /// The arguments of a process, likewise.
    fn command(&self, pid: i32) -> Vec<u8>;

    /// True if the environments of some programs cannot be read.
    fn hides_environments(&self) -> bool;

    /// True if it runs the program of this process, even if the file has been replaced.
    fn is_own(&self, pid: i32) -> bool;

    /// The name of its program.
    fn name(&self, pid: i32) -> String;

    /// Time since this start.
    fn age(&self, start: u64) -> Option<Duration>;

    /// The processes with their folders and those open files that are this one or below it.
    fn files(&self, at: &Path) -> Result<Vec<ProcessFiles>>;
}

/// A process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) state: ProcessState,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// As in [`super::Process`].
    pub(super) start: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessState {
    Alive,
    /// By a signal.
    Stopped,
    /// A zombie, whose parent has not asked for its end yet.
    Ended,
}

/// The files that a process uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessFiles {
    pub(super) pid: i32,
    pub(super) name: String,
    /// None after its end.
    pub(super) folder: Option<ProcessFolder>,
    pub(super) open: Vec<OpenFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProcessFolder {
    At(PathBuf),
    /// It has one, which nothing shows.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenFile {
    /// True if it is the file that was asked for, and not one below it.
    pub(super) is_itself: bool,
    pub(super) is_for_writing: bool,
}

/// The processes of this system.
pub(super) fn system() -> &'static dyn Processes {
    #[cfg(all(target_os = "linux", any(test, feature = "lacks")))]
    if crate::fault::lacks("proc") {
        return &super::portable::Portable;
    }
    #[cfg(target_os = "linux")]
    return &super::proc_folder::ProcFolder;
    #[cfg(not(target_os = "linux"))]
    return &super::portable::Portable;
}

/// The error where the process table cannot be read.
pub(super) fn unknown(why: &str) -> Error {
    const REST: &str = "until then nothing shows which agents are alive, and none is started or ended";
    let remedy = if cfg!(target_os = "linux") {
        "mount it (`mount -t proc proc /proc`) and try again"
    } else {
        "let this program look at processes (a sandbox may forbid it) and try again"
    };
    Error::new(ErrorKind::Environment, format!("the process table cannot be read: {why}"))
        .help(format!("{remedy}: {REST}"))
}
