//! Carries out what the core answers for real tasks: journals it, writes it, and acts.

mod agent;
pub mod life;
pub mod mission;
mod person;
pub mod request;
pub mod snapshot;
#[cfg(test)]
pub(crate) mod tests;
mod watch;

pub use agent::ended::{End, ended, judge_exited};
pub use agent::{activity, asked, attach, doing, event, limit, run, serve, session, transcript, waiting};
pub use person::cancel::cancel;
pub use person::create_pr::create_pr;
pub use person::migrate::migrate;
pub use person::respawn::{names, respawn};
pub use person::start::{spawn, spawn_next};
pub use person::stop::{restart, stop};
pub use person::{answer, collect, create, delete, merge, project, rebranch, restore, typed, update};
pub use request::dry_run::{TaskPreview, dry_run};
pub use request::finish::{abandoned, finish, lock_recovered};
pub use request::{Goal, ask, complete, definition, refusal, request};
pub use snapshot::Snapshot;
pub use watch::leftovers::end_leftovers;
pub use watch::take_in::{even_out, take_in};
pub use watch::{garbage, monitor, polls, pull_request, queue};
