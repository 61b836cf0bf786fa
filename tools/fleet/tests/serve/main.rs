//! The gateway over real sockets: every call, its authentication, and what callers do wrong.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::print_stderr)]

mod asks;
mod auth;
mod bad_input;
mod commands;
mod contract;
mod crowd;
mod described;
mod events;
mod h2;
mod limits;
mod runs;
mod stops;
mod texts;
mod traces;
mod waiting;
mod world;
