//! The commands: arguments in, one answer out.

pub mod answer;
pub mod args;
pub mod line;

mod agent;
mod complete;
mod door;
mod log;
mod monitor;
mod project;
mod screen;
mod task;
mod workflow;
mod workspace;

pub use door::main;
