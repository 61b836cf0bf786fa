//! Answers, made of what the store has. `orange_api::gateway` declares them.

mod colony;
mod mission;
mod status;

pub use self::colony::crab;
pub use self::mission::{attempt_status, runs, tasks};
pub use self::status::{status, workflow};
