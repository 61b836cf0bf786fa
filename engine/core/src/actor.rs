//! Actors, which ask for transitions, and the sets of actors that may.

use core::fmt;

/// Actor that asks for a transition. [`Machine::actor_name`](crate::Machine::actor_name) has the name of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The agent that does the work.
    Worker,
    /// The agent that judges it.
    Reviewer,
    /// Person at a terminal or in a dashboard.
    Human,
    /// Orange itself: exit rules and escalation. Every transition allows it, whatever its `by` says.
    Engine,
    /// A program that the workflow declares, and that asks with a token.
    Declared(ActorId),
}

/// The number of a declared actor, in source order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(pub u8);

/// The most actors that a workflow can declare; [`Actors`] has a bit for each.
pub const MAX_ACTORS: usize = 28;

impl Actor {
    /// The actors of every workflow, in the order of their bits in [`Actors`].
    pub const BUILT_IN: [Actor; 4] = [Actor::Worker, Actor::Reviewer, Actor::Human, Actor::Engine];

    /// The word of a built-in actor in workflows, journals and `ORANGE_ACTOR`. It is the same word for every declared actor,
    /// whose name only the machine has.
    pub const fn kind(self) -> &'static str {
        match self {
            Actor::Worker => "worker",
            Actor::Reviewer => "reviewer",
            Actor::Human => "human",
            Actor::Engine => "engine",
            Actor::Declared(_) => "program",
        }
    }

    /// The built-in actor that this word names.
    pub fn built_in(name: &str) -> Option<Actor> {
        Actor::BUILT_IN.into_iter().find(|actor| actor.kind() == name)
    }

    const fn bit(self) -> u32 {
        match self {
            Actor::Worker => 1,
            Actor::Reviewer => 1 << 1,
            Actor::Human => 1 << 2,
            Actor::Engine => 1 << 3,
            Actor::Declared(ActorId(id)) => 1 << 4 << id,
        }
    }
}

impl fmt::Display for Actor {
    /// Its kind; in messages that a declared actor can be in, [`Machine::actor_with`](crate::Machine::actor_with).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

/// A set of actors: the `by` of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actors(u32);

impl Actors {
    /// The `by` of a transition that has none: the built-in actors. A declared actor may only do what names it.
    pub const ANYONE: Actors = Actors(0b1111);
    /// The empty set, from which [`Actors::with`] builds others.
    pub const NONE: Actors = Actors(0);

    /// This set and one more actor.
    pub const fn with(self, actor: Actor) -> Actors {
        Actors(self.0 | actor.bit())
    }

    /// The actors of either set.
    pub const fn joined(self, other: Actors) -> Actors {
        Actors(self.0 | other.0)
    }

    /// True if no actor is in both sets.
    pub const fn excludes(self, other: Actors) -> bool {
        self.0 & other.0 == 0
    }

    /// True if the set names this actor.
    pub const fn names(self, actor: Actor) -> bool {
        self.0 & actor.bit() != 0
    }

    /// True if the actor may ask. The engine always may.
    pub const fn allows(self, actor: Actor) -> bool {
        matches!(actor, Actor::Engine) || self.names(actor)
    }

    /// The actors of the set: the built-in ones, then the declared ones in source order.
    pub fn iter(self) -> impl Iterator<Item = Actor> {
        let declared = (0..MAX_ACTORS as u8).map(|id| Actor::Declared(ActorId(id)));
        Actor::BUILT_IN.into_iter().chain(declared).filter(move |actor| self.names(*actor))
    }

    /// The declared actors of the set.
    pub fn declared(self) -> impl Iterator<Item = Actor> {
        self.iter().filter(|actor| matches!(actor, Actor::Declared(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: Actor = Actor::Declared(ActorId(MAX_ACTORS as u8 - 1));

    #[test]
    fn a_set_allows_its_members_and_the_engine() {
        let by = Actors::NONE.with(LAST).with(Actor::Reviewer).with(Actor::Human);
        assert!(by.allows(Actor::Reviewer) && by.allows(Actor::Human) && by.allows(Actor::Engine));
        assert!(by.allows(LAST) && !by.allows(Actor::Worker) && !by.allows(Actor::Declared(ActorId(0))));
        assert!(by.iter().eq([Actor::Reviewer, Actor::Human, LAST]) && by.declared().eq([LAST]));
        assert!(Actor::BUILT_IN.into_iter().all(|actor| Actors::ANYONE.allows(actor)));
        assert!(!Actors::ANYONE.allows(LAST));
        assert!(Actors::ANYONE.excludes(Actors::NONE.with(LAST)) && !Actors::ANYONE.excludes(by));
    }

    #[test]
    fn names_lead_back_to_their_actor() {
        assert!(Actor::BUILT_IN.into_iter().all(|actor| Actor::built_in(actor.kind()) == Some(actor)));
        assert_eq!(Actor::built_in("robot"), None);
        assert_eq!(Actor::built_in(LAST.kind()), None);
    }
}
