//! What a person who waits at a terminal is told meanwhile: one plain line for each step of long work.

use std::io::{self, IsTerminal, Write};

/// Where the steps are told: on standard error, or nowhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    told: bool,
}

impl Progress {
    /// Tells a person at a terminal, and no program that reads JSON.
    pub fn of(as_json: bool) -> Progress {
        Progress { told: !as_json && io::stderr().is_terminal() }
    }

    /// Says what is begun now.
    pub fn step(self, what: &str) {
        if self.told {
            // Work goes on when nobody reads of it any more.
            writeln!(io::stderr(), "{what} …").unwrap_or_default();
        }
    }
}
