//! The commands: arguments in, one answer out.

pub mod answer;
pub mod args;
pub mod contract;
pub mod line;
pub mod skill;

mod agent;
mod complete;
mod doctor;
mod door;
mod install;
mod log;
mod mcp;
mod monitor;
mod project;
mod screen;
mod task;
mod workflow;
mod workspace;

pub use door::main;
