//! The runtime that every generated orange binary links: store, journal, hooks, drivers, commands.
//!
//! The way of a request: [`cmd`] parses the arguments and finds the task, [`store`] locks and loads it,
//! [`core`] decides, the [`flow`] journals and writes the decision down, the [`hooks`] act on the outside through
//! [`drive`], and the answer goes back out of the door.

pub mod answer;
pub mod app;
pub mod around;
pub mod caller;
pub mod cmd;
pub mod doctor;
pub mod drive;
pub mod error;
pub mod fault;
mod files;
pub mod flow;
pub mod hooks;
pub mod log;
pub mod machines;
mod nofollow;
pub mod progress;
pub mod relay;
pub mod setup;
pub mod store;

pub use cmd::main;
pub use error::{Error, Kind, Result};
pub use orange_core as core;
