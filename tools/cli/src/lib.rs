//! The authors' command as a library: arguments in, an answer out, nothing printed.

mod answer;
mod args;
mod baseline;
mod cache;
mod cmd;
mod config;
mod fix;
mod fmt;
mod graph;
mod home;
mod input;
mod json;
mod levels;
mod lsp;
mod output;
mod paths;
mod report;
mod schema;
mod screen;
mod simulate;
mod site;
mod whole;

use std::ffi::OsString;

use clap::Parser;

pub use answer::{Answer, Exit};
pub use cmd::complete::Shell;
pub use cmd::manual::of_orange_workflow;
#[cfg(feature = "schemas")]
pub use json::schemas;
pub use screen::{Screen, Screens, Wishes};

use crate::args::Cli;

/// Runs a command line; the first argument is the program's own name.
pub fn run(args: impl IntoIterator<Item = OsString>, screens: Screens) -> Answer {
    match Cli::try_parse_from(args) {
        Ok(cli) => cmd::run(&cli.command, screens.styles(cli.color)),
        Err(refusal) => Answer::from(refusal),
    }
}
