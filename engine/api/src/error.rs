//! The one error of the engine: a kind, which fixes the exit status, what happened, and what to do about it.

use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

/// The kind of a failure; each has one exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Kind"))]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The machine has no such transition.
    NoTransition,
    /// A guard does not hold.
    GuardFailed,
    /// A gate does not pass.
    GateFailed,
    /// The actor may not ask for this.
    NotAllowed,
    /// The state, the workspace or a live session forbids a respawn.
    NotRespawnable,
    /// Hooks of the last transition wait, because one of them has failed.
    HooksWait,
    /// The engine refuses for another reason.
    Refused,
    /// An awaited event did not happen in time.
    TimedOut,
    /// Wrong arguments.
    Usage,
    /// No such task, project, workflow or state.
    NotFound,
    /// Another process holds the lock.
    Locked,
    /// A file cannot be parsed; nothing was changed.
    Corrupt,
    /// tmux, git, gh, a harness or the disk failed. Kinds of newer versions are read as this one.
    #[serde(other)]
    Environment,
}

impl ErrorKind {
    /// The exit status of the process.
    pub fn exit_status(self) -> u8 {
        match self {
            ErrorKind::NoTransition
            | ErrorKind::GuardFailed
            | ErrorKind::GateFailed
            | ErrorKind::NotAllowed
            | ErrorKind::NotRespawnable
            | ErrorKind::HooksWait
            | ErrorKind::Refused
            | ErrorKind::TimedOut => 1,
            ErrorKind::Usage => 2,
            ErrorKind::NotFound => 3,
            ErrorKind::Locked => 4,
            ErrorKind::Environment => 5,
            ErrorKind::Corrupt => 6,
        }
    }
}

/// A failure: what happened, and how to mend it.
///
/// It is one pointer wide, since every result of the engine contains one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error(Box<Failure>);

/// Content of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Failure {
    /// Its kind, and so its exit status.
    #[serde(rename = "code")]
    pub kind: ErrorKind,
    /// Message, which names the things involved.
    pub message: String,
    /// Remedy; empty when the message suffices.
    pub help: String,
}

/// The result of every fallible function of the engine.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this kind without help.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Box::new(Failure { kind, message: message.into(), help: String::new() }))
    }

    /// The error of a failure that another program reports.
    pub fn reported(failure: Failure) -> Error {
        Error(Box::new(failure))
    }

    /// Sets the help: what to do about the error.
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.help = help.into();
        self
    }

    /// The error in one line, for journals and for `attention`.
    pub fn one_line(&self) -> String {
        let line = if self.help.is_empty() {
            self.message.clone()
        } else {
            format!("{}; {}", self.message, self.help)
        };
        line.replace('\n', " ")
    }

    /// Its message and its help as one sentence for a screen.
    pub fn sentence(&self) -> String {
        let Failure { message, help, .. } = &**self;
        if help.is_empty() { message.clone() } else { format!("{message}: {help}") }
    }

    /// A failed operation on a file or folder: an `environment` error, or a `corrupt` one if a link or the like is in its place.
    pub fn io(doing: &str, path: &std::path::Path, cause: &io::Error) -> Error {
        let (kind, help) = match Unfit::of(cause) {
            Some(Unfit::Link | Unfit::NoFile) => (ErrorKind::Corrupt, NOT_OURS),
            Some(Unfit::TooLong(_)) => (ErrorKind::Corrupt, TOO_LONG),
            None => (ErrorKind::Environment, remedy(cause.kind())),
        };
        Error::new(kind, format!("cannot {doing} {}: {cause}", path.display())).help(help)
    }

    /// A copy of the error for a person: an error of the surroundings without help refers to the doctor.
    pub fn for_person(&self) -> Error {
        let is_bare =
            self.help.is_empty() && matches!(self.kind, ErrorKind::Environment | ErrorKind::Corrupt);
        let error = self.clone();
        if is_bare { error.help(LOOK_AROUND) } else { error }
    }
}

/// Remedy for a file or folder that the system refuses.
fn remedy(cause: io::ErrorKind) -> &'static str {
    REMEDIES.iter().find(|(known, _)| *known == cause).map_or(LOOK_AROUND, |(_, remedy)| remedy)
}

const NOT_OURS: &str = "of files only regular ones are opened here, and no link is followed: put back what was there, or \
                        move it away";
const TOO_LONG: &str = "move it away, or cut it down to what belongs there";
const LOOK_AROUND: &str = "`orange doctor` looks at all that is needed here";
const FREE_SPACE: &str = "free some space on its disk, then repeat the command: it finishes what was begun";
const MOVE_AWAY: &str = "something else has that name: move it away";
const FILE_IN_PATH: &str =
    "a part of its path is not a folder: move that away, or set ORANGE_HOME to another folder";

const REMEDIES: &[(io::ErrorKind, &str)] = &[
    (io::ErrorKind::StorageFull, FREE_SPACE),
    (io::ErrorKind::QuotaExceeded, FREE_SPACE),
    (io::ErrorKind::FileTooLarge, "files may not grow so large here: raise that limit (`ulimit -f`)"),
    (
        io::ErrorKind::ReadOnlyFilesystem,
        "make its disk writable, or set ORANGE_HOME to a folder on another one",
    ),
    (
        io::ErrorKind::PermissionDenied,
        "give yourself the permission to read and write it, or run the command as its owner",
    ),
    (io::ErrorKind::NotADirectory, FILE_IN_PATH),
    (io::ErrorKind::IsADirectory, MOVE_AWAY),
    (io::ErrorKind::AlreadyExists, MOVE_AWAY),
    (io::ErrorKind::NotFound, "it, or the folder it is in, is gone: put it back"),
];

impl Deref for Error {
    type Target = Failure;

    fn deref(&self) -> &Failure {
        &self.0
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Failure {
        &mut self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.help.is_empty() {
            write!(f, "\nhelp: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Reason for which a path is not read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is a symbolic link, or its path contains one.
    Link,
    /// It is a folder, a pipe, a socket or a device.
    NoFile,
    /// It is longer than this many bytes.
    TooLong(u64),
}

impl Unfit {
    /// The reason in an error of the system, if it is one of these.
    pub fn of(cause: &io::Error) -> Option<Unfit> {
        cause.get_ref()?.downcast_ref().copied()
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Link => f.write_str("it is a symbolic link, or behind one"),
            Unfit::NoFile => f.write_str("it is not a regular file"),
            Unfit::TooLong(limit) => write!(f, "it is longer than {} MiB", limit / (1024 * 1024)),
        }
    }
}

impl std::error::Error for Unfit {}

impl From<Unfit> for io::Error {
    fn from(unfit: Unfit) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidInput, unfit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(number: i32, expect: &str) {
        let error = Error::io("write", "/x".as_ref(), &std::io::Error::from_raw_os_error(number));
        assert!(error.help.contains(expect), "{error}");
    }

    #[test]
    fn what_the_system_refuses_has_its_remedy() {
        check(28, "free some space");
        check(122, "free some space");
        check(27, "ulimit -f");
        check(30, "set ORANGE_HOME");
        check(13, "permission");
        check(20, "a part of its path is not a folder");
        check(21, "move it away");
        check(2, "put it back");
        check(5, "orange doctor");
    }

    #[test]
    fn every_failure_for_a_person_has_help() {
        let bare = |kind| Error::new(kind, "no").for_person().help.clone();
        assert!(
            bare(ErrorKind::Environment).contains("orange doctor")
                && bare(ErrorKind::Corrupt).contains("doctor")
        );
        assert_eq!(bare(ErrorKind::Refused), "");
        assert_eq!(Error::new(ErrorKind::Environment, "no").help("do").for_person().help, "do");
    }
}
