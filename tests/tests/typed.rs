//! Made-up workflows, emitted and compiled: their typed functions say what their tables say.
//!
//! `build.rs` emits them, with a test for each.
#![deny(warnings)]
#![allow(clippy::all, reason = "random guards say the same twice, and hold always or never")]

include!(concat!(env!("OUT_DIR"), "/typed.rs"));
