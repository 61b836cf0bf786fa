//! The runtime that every generated orange binary links: store, journal, hooks, drivers, commands.
//!
//! The path of a request: `cmd` parses the arguments and finds the task, `store` locks and loads it, [`core`] decides, `flow`
//! journals the decision and writes it, `hooks` act on the outside through `drive`, and `cmd` prints the answer.

mod app;
mod around;
mod caller;
mod cmd;
mod declared;
mod demo;
mod doctor;
mod drive;
mod flow;
mod hooks;
mod log_file;
mod machines;
mod plans;
mod progress;
mod relay;
mod setup;
mod store;

pub use cmd::args::Cli;
pub use cmd::main;
pub use machines::{Compile, Workflows};
use orange_api::{Error, ErrorKind, Result};
pub use orange_core as core;
pub use store::frontmatter::any_bytes;

/// Texts about a workflow that agents read.
pub mod contract {
    pub use orange_api::contract::{example, gate_words, of, text};
}

/// Manual pages.
pub mod manual {
    pub use crate::cmd::manual::of_orange;
}

/// The scratch home of `orange demo`, for other demos.
pub mod demo_home {
    pub use crate::demo::scratch::{AGENT, PROJECT, REPOSITORY, environment, furnish};
}

/// The skill that agents are given.
pub mod skill {
    pub use crate::cmd::skill::text;
    pub use crate::setup::skill::MARK;
}
