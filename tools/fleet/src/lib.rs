//! The fleet: step workflows on many machines. A gateway keeps missions, and crabs run their steps.
//!
//! The reducers are the core's: `Mission` decides what a mission does, `Scheduler` which crab gets a step. A host keeps both durable.

pub mod actors;
pub mod client;
pub mod cmd;
pub mod console;
pub mod crab;
pub mod fault;
pub mod host;
pub mod lines;
pub mod model;
pub mod plans;
pub mod serve;
pub mod simulate;
pub mod up;
