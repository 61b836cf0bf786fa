//! Progress messages for a person who waits at a terminal: one line for each step of long work.

use std::io::{self, IsTerminal, Write};

/// Reporter of steps on standard error, if they are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    is_shown: bool,
}

impl Progress {
    /// Reports to a person, not to a program that reads JSON.
    pub fn of(as_json: bool) -> Progress {
        Progress { is_shown: !as_json && io::stderr().is_terminal() }
    }

    /// Reports that a step begins.
    pub fn step(self, what: &str) {
        if self.is_shown {
            // The work goes on even if standard error is closed.
            writeln!(io::stderr(), "{what} …").unwrap_or_default();
        }
    }
}
