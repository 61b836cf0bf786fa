//! Helpers that the tests of several crates share.

pub mod flows;
pub mod generate;
pub mod harnesses;
pub mod model;
pub mod monitor;
pub mod plan;
pub mod programs;
pub mod reference;
pub mod schemas;
pub mod steps;
pub mod typed;
