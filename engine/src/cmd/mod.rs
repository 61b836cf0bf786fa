//! The commands: arguments in, one answer out.

pub mod answer;
pub mod args;

mod agent;
mod door;
mod monitor;
mod project;
mod task;
mod workflow;
mod workspace;

pub use door::main;
