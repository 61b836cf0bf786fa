//! What happens to tasks: decisions of the core, journaled, written down and carried out.

pub mod begin;
pub mod cancel;
pub mod collect;
pub mod definition;
pub mod delete;
pub mod ended;
pub mod finish;
pub mod forced;
pub mod foresee;
pub mod leftovers;
pub mod merge;
pub mod migrate;
pub mod monitor;
pub mod moved;
pub mod polls;
pub mod pull_request;
pub mod refusal;
pub mod request;
pub mod respawn;
pub mod snapshot;
pub mod start;
#[cfg(test)]
pub(crate) mod tests;
pub mod waiting;

pub use cancel::cancel;
pub use ended::{End, ended};
pub use finish::{finish, settled};
pub use foresee::foresee;
pub use leftovers::end_leftovers;
pub use migrate::migrate;
pub use moved::Moved;
pub use request::{Goal, request};
pub use respawn::respawn;
pub use snapshot::Snapshot;
pub use start::{spawn, spawn_next};
