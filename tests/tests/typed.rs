//! Made-up workflows, emitted and compiled: their typed functions say what their tables say.
//!
//! `build.rs` emits them, with a test for each.
#![deny(warnings)]

include!(concat!(env!("OUT_DIR"), "/typed.rs"));
