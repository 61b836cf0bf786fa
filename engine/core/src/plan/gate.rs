//! Gates of steps: what must hold before the report of an agent counts.

use alloc::format;
use alloc::string::String;

use super::StepPrompt;

/// A gate of a step. While one says no, a report that the step is complete is refused, and the agent goes on.
#[derive(Clone, Copy, Debug)]
pub enum StepGate<'a> {
    /// A program that must end with status 0.
    Program {
        /// The program and its arguments, with placeholders; at least one.
        run: &'a [StepPrompt<'a>],
        /// The seconds that it may take; at least 1.
        timeout: u32,
    },
    /// A file that must be there.
    File {
        /// Its path in the worktree.
        file: &'a str,
        /// Text that it must contain; empty where it only has to be there.
        contains: &'a str,
    },
}

impl<'a> StepGate<'a> {
    /// The program that it runs, and its arguments; none of a file.
    pub fn run(&self) -> &'a [StepPrompt<'a>] {
        match self {
            StepGate::Program { run, .. } => run,
            StepGate::File { .. } => &[],
        }
    }
}

/// The answer of the gate of a file: what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// There is no such file.
    Missing,
    /// It lacks the text of the gate.
    Lacks,
    /// It cannot be read, for this reason.
    Unreadable(String),
}

impl FileFault {
    /// The fault in words, for the agent that has to mend it.
    pub fn words(&self, file: &str, contains: &str) -> String {
        match self {
            FileFault::Missing => format!("there is no file `{file}`"),
            FileFault::Lacks => format!("the file `{file}` does not contain `{contains}`"),
            FileFault::Unreadable(why) => format!("the file `{file}` cannot be read: {why}"),
        }
    }
}
