//! Carries out the answers of [`orange_core::mission::Mission::apply`]: writes events to the journal of a mission, and acts.
//!
//! The journal holds the events of a mission, and the core computes the state of the mission from them. [`advance`] compares that
//! state with the world and does the rest of the work, both in normal operation and after a process was killed.

pub mod advance;
pub mod answer;
pub mod answer_ask;
mod ask;
pub mod attempt;
mod attempt_end;
pub mod ended;
mod gates;
pub mod limit;
mod locked;
mod notices;
mod open_attempt;
mod program;
mod projection;
mod readers;
mod refusal;
pub mod run_program;
pub mod single;
pub mod start;
#[cfg(test)]
mod tests;
pub mod view;
mod wait;

pub use locked::LockedMission;
pub use projection::Projection;
