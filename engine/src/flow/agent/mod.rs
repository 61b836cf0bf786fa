//! Living agents, and what follows when one ends: activity, limits, ends, and waits for the next start.

pub mod activity;
pub mod asked;
pub mod attach;
pub mod doing;
pub mod ended;
pub mod event;
pub mod inside;
pub mod limit;
pub mod observed;
pub mod pane;
pub mod run;
pub mod serve;
pub mod session;
pub mod transcript;
pub mod waiting;
