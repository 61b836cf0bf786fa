//! The answer of a command: its two texts and its exit status, delivered in one place.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// The output of one run of the command.
#[derive(Debug)]
pub struct Answer {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
    /// The exit status.
    pub exit: Exit,
}

/// The exit statuses of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: the command succeeded without a finding at `deny` or above.
    Clean,
    /// 1: something was found.
    Found,
    /// 2: the work could not be done.
    Failed,
}

/// Reason for which a command could not do its work, and the remedy.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    help: String,
}

impl Answer {
    /// A text for standard output, with nothing wrong.
    pub(crate) fn text(out: impl Into<String>) -> Self {
        Self { out: out.into(), err: String::new(), exit: Exit::Clean }
    }

    /// Writes both texts, each at once. A closed output is not a failure; any other error is one.
    pub fn deliver(self) -> ExitCode {
        let written =
            write(io::stdout().lock(), &self.out).and_then(|()| write(io::stderr().lock(), &self.err));
        match written {
            Ok(()) => self.exit.code(),
            Err(error) => {
                let failure = Failure::new(
                    format!("cannot write the answer: {error}"),
                    "see whether the disk is full or the output was closed",
                );
                match write(io::stderr().lock(), &failure.to_string()) {
                    Ok(()) | Err(_) => Exit::Failed.code(),
                }
            }
        }
    }
}

impl Exit {
    fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Clean => 0,
            Self::Found => 1,
            Self::Failed => 2,
        })
    }
}

impl Failure {
    /// A failure from a message without a full stop and the help for the user.
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// The error, without the remedy.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "error: {}", crate::output::printable(&self.message))?;
        writeln!(f, "  help: {}", crate::output::printable(&self.help))
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self { out: String::new(), err: failure.to_string(), exit: Exit::Failed }
    }
}

impl From<clap::Error> for Answer {
    fn from(refusal: clap::Error) -> Self {
        let text = refusal.render().to_string();
        if refusal.use_stderr() {
            Self { out: String::new(), err: text, exit: Exit::Failed }
        } else {
            Self::text(text)
        }
    }
}

fn write(mut stream: impl Write, text: &str) -> io::Result<()> {
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
