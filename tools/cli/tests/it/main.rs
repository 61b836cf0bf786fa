//! The real binary on real files.

#![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

mod bad_input;
mod baseline;
mod cache;
mod check;
mod config;
mod diff;
mod emacs;
mod fix;
mod fmt;
mod formats;
mod graph;
mod help;
mod hooks;
mod init;
mod lsp;
mod manual;
mod neovim;
mod one;
mod prove;
mod reports;
mod scenarios;
#[allow(dead_code)]
#[path = "../../../../tests/src/schemas.rs"]
mod schemas;
mod scratch;
mod shells;
mod simulate;
mod site;
mod terminal;
mod watch;
