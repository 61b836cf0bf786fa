//! Living agents, and what follows when one ends: activity, limits, ends, and waits for the next start.

pub mod activity;
pub mod doing;
pub mod ended;
pub mod limit;
pub mod transcript;
pub mod waiting;
