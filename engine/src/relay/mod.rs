//! Requests of agents in sandboxes: files in the worktree, carried out by a companion of the agent's wrapper.
//!
//! A sandbox lets an agent write to its worktree and to nothing else. So `orange` inside of one leaves a request in
//! `.orange/<spawn>/` of the worktree, and `orange agent serve`, which the wrapper has started outside, runs the command
//! and leaves the reply there. The agent can write anything into that folder, so nothing in it is trusted.

mod ask;
mod companion;
mod confinement;
mod counter;
mod folder;
mod message;
mod serve;
mod watch;

pub use ask::{Asker, only_some};
pub use companion::Companion;
pub use message::Reply;
pub use serve::serve;
