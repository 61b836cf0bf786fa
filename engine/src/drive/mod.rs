//! Drivers of other programs: tmux, git, gh, glab and the coding agents.
//!
//! Drivers decide nothing. Each verb is one function, reads a machine format, and takes everything it needs as arguments: no driver
//! reads the environment of this process.

pub mod agent;
pub mod browser;
pub mod curl;
pub mod desktop;
pub mod editor;
pub mod forge;
pub mod git;
pub mod harness;
pub mod last_lines;
pub mod prices;
#[cfg(test)]
pub(crate) mod testing;
pub mod tmux;
pub mod transcript;
pub mod wall;
