//! Living agents, and what follows when one ends: what it does, its limits, its end, and the wait until it is started again.

pub mod activity;
pub mod doing;
pub mod ended;
pub mod limit;
pub mod transcript;
pub mod waiting;
