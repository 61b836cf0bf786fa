//! Everything on disk: tasks, missions, journals, projects and the worktree pool.
//!
//! A task is a folder with `TASK.md` (people and agents edit it) and `history.jsonl` (the journal, the engine's own record). A
//! mission is the same with `MISSION.md`, and its plan.
//! Only a [`LockedWorkItem`], which holds the task's lock, can write them. Readers take no lock and see whole files.

pub mod activity;
pub mod base;
pub mod copy;
pub mod create;
pub mod edit;
pub mod effective;
pub mod environment;
pub mod feedback;
pub mod find;
pub mod follow;
pub mod frontmatter;
pub mod home;
pub mod id;
pub mod index;
pub mod intake;
pub mod journal;
pub mod jsonl;
pub mod late_write;
pub mod list;
pub mod lock;
pub mod locked_work_item;
pub mod merge;
pub mod mission_plan;
pub mod owed;
pub mod pool;
pub mod ports;
pub mod projects;
mod read;
pub mod scalar;
pub mod schedules;
pub mod secret;
pub mod settings;
pub mod slug;
mod snapshot;
pub mod suggest;
pub mod tokens;
pub mod toml_text;
pub mod transcripts;
pub mod trash;
pub mod trust;
pub mod work_item;

pub use copy::WorktreeCopy;
pub use create::{WorkItemDraft, create, create_among, edit as edit_in_project, in_project, rebranch};
pub use follow::FollowedJournal;
pub use home::{Home, WorkItemDir, WorkItemKind};
pub use list::{WorkItemEntry, list};
pub use locked_work_item::LockedWorkItem;
pub use orange_journal::{
    Conversation, Event, Name, OpenTransition, Owned, Record, Seat, Set, TransitionHistory, WorkItemHistory,
    event, history,
};
pub use pool::Pool;
pub use work_item::WorkItem;

#[cfg(test)]
pub(crate) mod tests;
