//! Who asks for a transition, and who may.

use core::fmt;

/// Who asks for a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The agent that does the work.
    Worker,
    /// The agent that judges it.
    Reviewer,
    /// A person.
    Human,
    /// Orange itself: exit rules and escalation. Every transition allows it, whatever its `by` says.
    Engine,
}

impl Actor {
    /// Every actor, in the order of their bits in [`Actors`].
    pub const ALL: [Actor; 4] = [Actor::Worker, Actor::Reviewer, Actor::Human, Actor::Engine];

    /// The word that workflows, journals and `ORANGE_ACTOR` use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Actor::Worker => "worker",
            Actor::Reviewer => "reviewer",
            Actor::Human => "human",
            Actor::Engine => "engine",
        }
    }

    /// The actor that this word names.
    pub fn from_name(name: &str) -> Option<Actor> {
        Actor::ALL.into_iter().find(|actor| actor.as_str() == name)
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of actors: the `by` of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actors(u8);

impl Actors {
    /// The `by` of a transition that has none.
    pub const ANYONE: Actors = Actors(0b1111);
    /// The empty set, from which [`Actors::with`] builds others.
    pub const NONE: Actors = Actors(0);

    /// This set and one more actor.
    pub const fn with(self, actor: Actor) -> Actors {
        Actors(self.0 | 1 << actor as u8)
    }

    /// Whether the actor may ask. The engine always may.
    pub const fn allows(self, actor: Actor) -> bool {
        matches!(actor, Actor::Engine) || self.0 & 1 << actor as u8 != 0
    }

    /// The actors of the set, in the order of [`Actor::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Actor> {
        Actor::ALL.into_iter().filter(move |actor| self.0 & 1 << *actor as u8 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_allows_its_members_and_the_engine() {
        let by = Actors::NONE.with(Actor::Reviewer).with(Actor::Human);
        assert!(by.allows(Actor::Reviewer) && by.allows(Actor::Human) && by.allows(Actor::Engine));
        assert!(!by.allows(Actor::Worker));
        assert!(by.iter().eq([Actor::Reviewer, Actor::Human]));
        assert!(Actor::ALL.into_iter().all(|actor| Actors::ANYONE.allows(actor)));
    }

    #[test]
    fn names_lead_back_to_their_actor() {
        assert!(Actor::ALL.into_iter().all(|actor| Actor::from_name(actor.as_str()) == Some(actor)));
        assert_eq!(Actor::from_name("robot"), None);
    }
}
