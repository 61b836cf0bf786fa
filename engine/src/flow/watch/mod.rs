//! The work of `orange monitor`: agents that died unnoticed, pull requests, the queue, and leftovers.

pub mod blocked;
pub mod budget;
pub mod created;
pub mod garbage;
pub mod intake;
pub mod interrupted_reclaim;
pub mod leftovers;
pub mod merge_copy;
pub mod monitor;
pub mod only_one;
pub mod polls;
pub mod pull_request;
pub mod queue;
pub mod reclaim;
pub mod rerun;
pub mod rules;
pub mod schedule;
