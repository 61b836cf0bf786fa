//! The machines that are compiled into this binary.

use orange_core::Machine;

use crate::{Error, Kind, Result};

/// All of them, sorted by name.
#[derive(Clone, Copy, Debug)]
pub struct Machines(pub &'static [&'static Machine<'static>]);

impl Machines {
    /// The machine of this workflow.
    ///
    /// # Errors
    /// `not_found`, with the names that there are.
    pub fn named(self, name: &str) -> Result<&'static Machine<'static>> {
        self.iter().find(|machine| machine.name == name).ok_or_else(|| {
            let names: Vec<_> = self.iter().map(|machine| machine.name).collect();
            Error::new(Kind::NotFound, format!("no workflow `{name}` is compiled in")).help(format!(
                "there is: {}; `cargo xtask build-workflow` builds others in",
                names.join(", ")
            ))
        })
    }

    /// Each machine.
    pub fn iter(self) -> impl Iterator<Item = &'static Machine<'static>> {
        self.0.iter().copied()
    }
}
