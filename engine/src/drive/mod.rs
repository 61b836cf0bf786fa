//! The outside programs: tmux, git and the coding agents, one thin driver each.
//!
//! Drivers decide nothing. Each verb is one function, reads a machine format, and takes everything it
//! needs as arguments: no driver looks at the environment of this process by itself.

pub mod agent;
pub mod changes;
pub mod exec;
pub mod gh;
pub mod git;
pub mod harness;
pub mod last_lines;
pub mod process;
pub mod terminal;
#[cfg(test)]
pub(crate) mod testing;
pub mod tmux;
pub mod transcript;
