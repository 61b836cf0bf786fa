//! The runtime that every generated orange binary links: store, journal, hooks, drivers, commands.

pub mod drive;
pub mod error;
pub mod store;

pub use error::{Error, Kind, Result};
pub use orange_core as core;
