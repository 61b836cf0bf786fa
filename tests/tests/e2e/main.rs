//! Whole tasks, end to end: the real `orange`, the real tmux, the real git, and a scripted agent.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests may fail where they stand, and say why")]

mod deaths;
mod default;
mod persistent;
mod said;
mod task;
mod world;
