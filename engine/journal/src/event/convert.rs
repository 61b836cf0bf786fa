//! Values of events from values of the core, and back.

use orange_core::SeenSection;

use super::{Actor, Ending, Event, Exited, Pass, Permissions};
use crate::set::Set;

impl Actor {
    /// The built-in actor in the core's rules; `None` for a declared one, and for a word of a newer version.
    pub fn known(&self) -> Option<orange_core::Actor> {
        orange_core::Actor::built_in(self.as_str())
    }
}

impl From<orange_core::Actor> for Actor {
    fn from(actor: orange_core::Actor) -> Actor {
        Actor::from(actor.kind())
    }
}

impl From<orange_core::Permissions> for Permissions {
    fn from(permissions: orange_core::Permissions) -> Permissions {
        match permissions {
            orange_core::Permissions::Full => Permissions::Full,
            orange_core::Permissions::Reduced => Permissions::Reduced,
        }
    }
}

impl Exited {
    /// The end of this agent, of which only the reason is known.
    pub fn of(spawn: u32, reason: impl Into<Ending>) -> Exited {
        Exited { spawn, reason: reason.into(), ..Exited::default() }
    }
}

impl Pass {
    /// The content of a section, without a commit.
    pub fn of(seen: SeenSection<'_>) -> Pass {
        let hash = Pass::hash_of(seen.fingerprint);
        Pass { section: seen.section.to_owned(), hash, commit: None, patch: None }
    }

    /// The text of a fingerprint.
    pub fn hash_of(fingerprint: u64) -> String {
        format!("{fingerprint:016x}")
    }
}

impl From<Event> for (Event, Set) {
    fn from(event: Event) -> (Event, Set) {
        (event, Set::new())
    }
}
