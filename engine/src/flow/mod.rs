//! Carries out what the core answers for real tasks: journals it, writes it, and acts.

mod agent;
pub mod budget;
pub mod changed;
pub mod delegation;
pub mod feedback;
pub mod foreign;
pub mod intake;
pub mod judged;
pub mod life;
pub mod mission;
pub mod names;
pub mod need;
pub mod notify;
mod offers;
mod person;
pub mod reply;
pub mod request;
pub mod schedule;
pub mod snapshot;
#[cfg(test)]
pub(crate) mod tests;
pub mod usage;
pub mod verdict;
mod watch;

pub use agent::ended::{ended, judge_exited};
pub use agent::{
    activity, asked, attach, doing, event, inside, limit, observed, pane, run, serve, session, transcript,
    waiting,
};
pub use person::budget as person_budget;
pub use person::cancel::{cancel, would_cancel};
pub use person::create_pr::{create_pr, would_create_pr};
pub use person::migrate::{migrate, text as migrated_text, would_migrate};
pub use person::respawn::{command as respawn_command, names, respawn, would_respawn, would_restart};
pub use person::start::{spawn, spawn_next, would_spawn};
pub use person::stop::{restart, stop, would_stop};
pub use person::{
    answer, collect, create, delete, diff, edit, harness, issue, merge, open, parent, project, rebranch,
    refresh, restore, send, sync, trust, typed, undo, uninstall, update, written,
};
pub use request::dry_run::{TaskPreview, dry_run};
pub use request::finish::{abandoned, finish, lock_recovered};
pub use request::{Goal, ask, complete, definition, refusal, request};
pub use snapshot::Snapshot;
pub use watch::interrupted_reclaim::lock_with_worktree;
pub use watch::leftovers::end_leftovers;
pub use watch::merge_copy::{merge_copy, sync_copy};
pub use watch::{blocked, created, garbage, monitor, only_one, polls, pull_request, queue};
