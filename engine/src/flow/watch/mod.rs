//! The work of `orange monitor`: agents that died unnoticed, pull requests, the queue, and leftovers.

pub mod garbage;
pub mod leftovers;
pub mod monitor;
pub mod polls;
pub mod pull_request;
pub mod queue;
pub mod take_in;
