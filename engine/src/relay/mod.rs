//! Requests of agents in sandboxes: files in the worktree, which a companion of the agent's wrapper carries out.
//!
//! A sandbox allows an agent to write to its worktree only. Inside of one, `orange` leaves a request in `.orange/<spawn>/` of the
//! worktree, and `orange agent serve`, which the wrapper has started outside, runs the command and leaves the reply there. The
//! agent can write anything into that folder, so its contents are not trusted.

mod ask;
mod companion;
mod confinement;
mod counter;
mod folder;
mod message;
mod serve;

pub use ask::{SandboxAsker, only_some};
pub use companion::Companion;
pub use counter::RequestCheck;
pub use message::RelayReply;
pub use serve::serve;
