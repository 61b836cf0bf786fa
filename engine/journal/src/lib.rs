//! The journal of a task: its records and events, what they add up to, and how it is read on while it grows. Nothing is written
//! here; who appends to a journal holds the lock of its task, in the engine.

pub mod event;
pub mod fold;
pub mod follow;
pub mod name;
pub mod read;
pub mod record;
pub mod set;

pub use event::Event;
pub use fold::{Conversation, OpenTransition, Owned, TaskHistory};
pub use follow::Follow;
pub use name::Name;
pub use read::{Journal, Torn, Unreadable};
pub use record::Record;
pub use set::Set;
