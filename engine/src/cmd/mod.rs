//! The commands: arguments in, one answer out.

pub mod answer;
pub mod args;
pub mod line;

mod agent;
mod complete;
mod door;
mod monitor;
mod project;
mod task;
mod workflow;
mod workspace;

pub use door::main;
