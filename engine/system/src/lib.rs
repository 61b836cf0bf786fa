//! The operating system as the programs of Orange use it: processes, files without links, atomic writes, clocks.
//!
//! Code that differs between systems belongs here: other packages call it.

pub mod atomic;
pub mod changes;
pub mod clock;
pub mod exec;
pub mod fault;
pub mod files;
pub mod many;
pub mod nofollow;
pub mod process;
pub mod random;
pub mod regular;
pub mod terminal;
pub mod variables;

use orange_api::{Error, ErrorKind, Result};
