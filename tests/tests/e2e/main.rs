//! Whole tasks, end to end: the real `orange`, the real tmux, the real git, and a scripted agent.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests may fail where they stand, and say why")]

mod agents;
mod bad_input;
mod contract;
mod creation;
mod crowd;
mod custom;
mod deaths;
mod default;
mod demo;
mod doctor;
mod dry_run;
mod editing;
mod every_step;
mod exits;
mod faults;
mod following;
mod gates;
mod install;
mod keeping;
mod kills;
mod locks;
mod mcp;
mod merge;
mod odd;
mod persistent;
mod pool;
mod pr;
mod requests;
mod runs;
mod said;
mod sample;
mod settings;
mod starts;
mod task;
mod tmux_conf;
mod world;
