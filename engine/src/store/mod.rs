//! What is kept on disk: tasks, journals, projects and the workspace pool.
//!
//! A task is a folder with `TASK.md` (people and agents edit it) and `history.jsonl` (the journal, the
//! engine's own record). Whoever changes a task holds its lock, and has it as an [`Open`] in the hand:
//! there is no other way to write. Readers take no lock and see whole files.

pub mod atomic;
pub mod clock;
pub mod create;
pub mod edit;
pub mod event;
pub mod find;
pub mod fold;
pub mod follow;
pub mod frontmatter;
pub mod home;
pub mod id;
pub mod journal;
pub mod late;
pub mod link;
pub mod list;
pub mod lock;
pub mod open;
pub mod pool;
pub mod projects;
pub mod scalar;
pub mod set;
pub mod suggest;
pub mod task;
pub mod trash;

pub use create::{Draft, create, rebranch};
pub use event::{Event, Record};
pub use fold::{Log, OpenTransition, Owned};
pub use follow::Follow;
pub use home::{Home, TaskDir};
pub use list::{Listed, list};
pub use open::Open;
pub use pool::Pool;
pub use set::Set;
pub use task::Task;

#[cfg(test)]
pub(crate) mod tests;
