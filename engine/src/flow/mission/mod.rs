//! Carries out for real missions what [`orange_core::mission::Mission::apply`] answers: journals it, and acts.
//!
//! The journal has what has happened to a mission, and its state is what the core makes of that, event by event. [`advance`]
//! compares that state with the world and does what is missing: it is both the normal course and the recovery.

pub mod advance;
pub mod answer;
pub mod attempt;
pub mod ended;
pub mod limit;
mod locked;
mod notices;
mod projection;
mod refusal;
pub mod single;
pub mod start;
#[cfg(test)]
mod tests;
pub mod view;
mod wait;

pub use locked::LockedMission;
pub use projection::Projection;
