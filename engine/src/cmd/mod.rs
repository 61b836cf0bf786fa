//! The commands: arguments in, one answer out.

pub mod answer;
pub mod args;
pub mod contract;
pub mod skill;

mod agent;
mod attach;
mod complete;
mod doctor;
mod door;
mod event;
mod gc;
mod install;
mod log;
mod mission;
mod monitor;
mod project;
mod relayed;
mod screen;
mod setup;
mod stdin;
mod step;
mod task;
mod workflow;
mod workspace;

pub use door::main;
