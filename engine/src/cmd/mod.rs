//! The commands: each takes its arguments and returns one answer.

pub mod answer;
pub mod args;
pub mod manual;
pub mod skill;

mod agent;
mod attach;
mod attempt;
mod complete;
mod confirm;
mod dashboard;
mod demo;
mod doctor;
mod entry_point;
mod event;
mod gc;
mod harness;
mod install;
mod intake;
mod log;
mod mission;
mod monitor;
mod needs;
mod notify;
mod pane;
mod project;
mod relayed;
mod schedule;
mod screen;
mod settings;
mod setup;
mod stdin;
mod step;
mod task;
mod uninstall;
mod usage;
mod workflow;
mod workspace;

pub use entry_point::main;
