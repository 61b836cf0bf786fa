//! Crabs against a scripted gateway, with real tmux, git and `orange`, and scripted agents on a bare origin.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests may fail where they stand, and say why")]

mod fleet;
mod gateway;
mod kills;
mod leases;
mod machine;
mod pushes;
mod retention;
mod returns;
mod runs;
mod up;
mod world;
