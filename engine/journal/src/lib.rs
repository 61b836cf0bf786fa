//! The journal of a task: its records and events, the state that they fold to, and a reader for journals that grow. It writes nothing: the
//! engine appends to a journal while it holds the lock of the task.

pub mod event;
pub mod follow;
pub mod form;
pub mod history;
pub mod name;
pub mod read;
pub mod record;
pub mod set;

pub use event::Event;
pub use follow::Follow;
pub use history::{
    Conversation, OpenTransition, Owned, Prepared, Reclaim, Seat, TransitionHistory, WorkItemHistory,
};
pub use name::Name;
pub use read::{Journal, Torn, Unreadable};
pub use record::Record;
pub use set::Set;
