//! The authors' command as a library: arguments in, an answer out, nothing printed.

mod answer;
mod args;
mod baseline;
mod cmd;
mod config;
mod fix;
mod fmt;
mod graph;
mod home;
mod input;
mod json;
mod levels;
mod output;
mod paths;
mod report;
mod schema;
mod simulate;
mod site;
mod whole;

use std::ffi::OsString;

use clap::Parser;

pub use answer::{Answer, Exit};
#[cfg(feature = "schemas")]
pub use json::schemas;
pub use output::Style;

use crate::args::Cli;

/// Which of its two streams may have colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Styles {
    /// Standard output.
    pub out: Style,
    /// Standard error.
    pub err: Style,
}

/// Runs a command line; the first argument is the program's own name.
pub fn run(args: impl IntoIterator<Item = OsString>, styles: Styles) -> Answer {
    match Cli::try_parse_from(args) {
        Ok(cli) => cmd::run(&cli.command, styles),
        Err(refusal) => Answer::from(refusal),
    }
}
