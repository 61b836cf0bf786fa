//! The machine: the compiled, immutable tables of one workflow.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{
    Actor, ActorId, Actors, Budget, Delegates, ExitRule, FactKind, Gate, Guard, Hook, Prompt, Rejection,
    SectionGate, WatchRule,
};

/// The number of a state, in source order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u16);

/// The number of a transition, in the machine's order: by `from`, then `to`, then source order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransitionId(pub u32);

/// The number of a counter. Every machine has [`REVIEW_ROUND`] and [`CRASH_COUNT`]; declared ones follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(pub u16);

/// The number of a prompt, in source order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PromptId(pub u16);

/// The built-in counter of review rounds.
pub const REVIEW_ROUND: CounterId = CounterId(0);

/// The built-in counter of crashes since the last transition.
pub const CRASH_COUNT: CounterId = CounterId(1);

/// One workflow, compiled. All references are into the same machine; the compiler has checked them.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// The workflow's name.
    pub name: &'a str,
    /// Its version, as the author counts.
    pub version: u32,
    /// Purpose of the workflow, in its author's words; may be empty.
    pub description: &'a str,
    /// The hash of its source; a task records the definition that it follows.
    pub source_hash: &'a str,
    /// The hash of its prompts alone.
    pub prompts_hash: &'a str,
    /// By [`StateId`].
    pub states: &'a [State<'a>],
    /// The state of a new task.
    pub initial: StateId,
    /// By [`CounterId`].
    pub counters: &'a [Counter<'a>],
    /// The names of the actors that it declares, by [`ActorId`].
    pub actors: &'a [&'a str],
    /// By [`TransitionId`].
    pub transitions: &'a [Transition<'a>],
    /// The index in `transitions` at which each state's begin; one entry more than there are states.
    pub rows: &'a [u32],
    /// Sorted by state, then source order.
    pub exit_rules: &'a [ExitRule<'a>],
    /// Sorted by state, then source order.
    pub watch: &'a [WatchRule<'a>],
    /// By [`PromptId`].
    pub prompts: &'a [Prompt<'a>],
    /// The state to which each command leads.
    pub commands: Commands,
    /// Seconds between two rounds of the monitor.
    pub poll_interval: u32,
    /// Limits of a task for all its agents, where the task has none of its own.
    pub budget: Budget,
}

/// A position that a task can have.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// The name in workflows, tasks and messages.
    pub name: &'a str,
    /// May be empty.
    pub description: &'a str,
    /// No transition leaves it.
    pub terminal: bool,
    /// Only a person moves a task on.
    pub waits_for_human: bool,
    /// A task may be created here.
    pub entry: bool,
    /// The hook that starts this state's agent again, if it can be respawned.
    pub respawn: Option<Hook<'a>>,
    /// The agent whose end the exit rules of this state judge.
    pub agent: Actor,
    /// Its agent may create tasks for which the task then waits.
    pub delegates: Option<Delegates<'a>>,
    /// Limits of a stay in it for the agents that are started there.
    pub budget: Budget,
}

/// An integer of the task's frontmatter that guards compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter<'a> {
    /// The frontmatter key.
    pub name: &'a str,
    /// The value of a new task.
    pub default: u32,
}

/// One declared `from → to`.
#[derive(Clone, Copy, Debug)]
pub struct Transition<'a> {
    /// The state it leaves.
    pub from: StateId,
    /// The state it enters.
    pub to: StateId,
    /// Actors that may ask for it.
    pub by: Actors,
    /// The kind of fact for which it is; without one, it is for everything else.
    pub cause: Option<FactKind>,
    /// The condition over counters.
    pub guard: Option<Guard<'a>>,
    /// Gates, each of which must hold.
    pub gates: &'a [Gate<'a>],
    /// The side effects, in order.
    pub hooks: &'a [Hook<'a>],
    /// The state to which the task goes when one of the hooks fails and stops the others.
    pub on_hook_failure: Option<StateId>,
}

/// The states to which commands lead; `None` when the workflow has no such state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// `orange task spawn`.
    pub spawn: Option<StateId>,
    /// `orange task spawn` of a task without a summary.
    pub clarify: Option<StateId>,
    /// The state in which reviewers work.
    pub review: Option<StateId>,
    /// `orange task merge`.
    pub merge: Option<StateId>,
    /// `orange task cancel`.
    pub cancel: Option<StateId>,
    /// The target of escalations.
    pub crash: Option<StateId>,
}

impl<'a> Transition<'a> {
    /// Requirements of its gates on sections.
    pub fn section_gates(&self) -> impl Iterator<Item = &'a SectionGate<'a>> + use<'a> {
        self.gates.iter().flat_map(Gate::sections)
    }

    /// True if one of its hooks changes the work.
    pub fn remakes(&self) -> bool {
        self.hooks.iter().any(|it| it.action.traits().remakes)
    }
}

impl<'a> Machine<'a> {
    /// The transitions for `from → to` that are open with these counters, in source order, at least one. Where there are several,
    /// the actor and the gates choose; see [`Machine::decide`].
    ///
    /// # Errors
    /// No transition is declared for the pair, or none of them is open.
    pub fn resolve<'c>(
        &self,
        from: StateId,
        to: StateId,
        counters: &'c [u32],
    ) -> Result<impl Iterator<Item = TransitionId> + use<'a, 'c>, Rejection> {
        let mut open = self.open(from, to, counters).peekable();
        match (open.peek(), self.between(from, to).next()) {
            (Some(_), _) => Ok(open),
            (None, Some(_)) => Err(Rejection::GuardFailed { from, to }),
            (None, None) => Err(Rejection::NoTransition { from, to }),
        }
    }

    /// The transitions for `from → to` that are open with these counters, in source order; none where
    /// [`Machine::resolve`] has an error.
    pub(crate) fn open<'c>(
        &self,
        from: StateId,
        to: StateId,
        counters: &'c [u32],
    ) -> impl Iterator<Item = TransitionId> + use<'a, 'c> {
        let transitions = self.transitions;
        self.between(from, to)
            .filter(move |id| transitions[id.0 as usize].guard.is_none_or(|guard| guard.holds(counters)))
    }

    /// The transitions declared for `from → to`, in source order.
    pub fn between(&self, from: StateId, to: StateId) -> impl Iterator<Item = TransitionId> + use<> {
        let row = self.row(from);
        let start = row.start + self.transitions[row.clone()].partition_point(|t| t.to < to);
        let length = self.transitions[start..row.end].partition_point(|t| t.to == to);
        (start..start + length).map(|index| TransitionId(index as u32))
    }

    /// The states to which a transition leads from here, each once, in source order.
    pub fn targets(&self, from: StateId) -> impl Iterator<Item = StateId> {
        let mut last = None;
        self.transitions[self.row(from)].iter().map(|t| t.to).filter(move |to| last.replace(*to) != Some(*to))
    }

    /// The number of every state, in source order.
    pub fn state_ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.states.len()).map(|index| StateId(index as u16))
    }

    /// The state with this number.
    pub fn state(&self, id: StateId) -> &'a State<'a> {
        &self.states[usize::from(id.0)]
    }

    /// The state with this name.
    pub fn state_named(&self, name: &str) -> Option<StateId> {
        self.states.iter().position(|state| state.name == name).map(|index| StateId(index as u16))
    }

    /// The transition with this number.
    pub fn transition(&self, id: TransitionId) -> &'a Transition<'a> {
        &self.transitions[id.0 as usize]
    }

    /// The counter with this number.
    pub fn counter(&self, id: CounterId) -> &'a Counter<'a> {
        &self.counters[usize::from(id.0)]
    }

    /// The actors that can ask here: the built-in ones, then the declared ones.
    pub fn all_actors(&self) -> impl Iterator<Item = Actor> + use<> {
        let declared = (0..self.actors.len()).map(|id| Actor::Declared(ActorId(id as u8)));
        Actor::BUILT_IN.into_iter().chain(declared)
    }

    /// The actor with this name.
    pub fn actor_named(&self, name: &str) -> Option<Actor> {
        self.all_actors().find(|actor| self.actor_name(*actor) == name)
    }

    /// The name of an actor.
    pub fn actor_name(&self, actor: Actor) -> &'a str {
        match actor {
            Actor::Worker | Actor::Reviewer | Actor::Human | Actor::Engine => actor.kind(),
            Actor::Declared(ActorId(id)) => self.actors[usize::from(id)],
        }
    }

    /// An actor in a sentence: `a worker` with the article `a`, and a declared one by its name alone.
    pub fn actor_with(&self, article: &str, actor: Actor) -> String {
        match actor {
            Actor::Worker | Actor::Reviewer | Actor::Human => format!("{article} {}", actor.kind()),
            Actor::Engine => "the engine".to_string(),
            Actor::Declared(_) => self.actor_name(actor).to_string(),
        }
    }

    /// Whom a task waits for in a state that no exit rule leads on from: `a person`, or the declared actors that may move it on.
    pub fn waits_for(&self, id: StateId) -> Option<String> {
        if !self.state(id).waits_for_human {
            return None;
        }
        let leaving = &self.transitions[self.row(id)];
        let by = leaving.iter().fold(Actors::NONE, |by, it| by.joined(it.by));
        let declared: Vec<&str> = by.declared().map(|it| self.actor_name(it)).collect();
        let person = (by.names(Actor::Human) || declared.is_empty()).then_some("a person");
        Some(person.into_iter().chain(declared).collect::<Vec<_>>().join(" or "))
    }

    /// The prompt with this number.
    pub fn prompt(&self, id: PromptId) -> &'a Prompt<'a> {
        &self.prompts[usize::from(id.0)]
    }

    /// The prompt with this name.
    pub fn prompt_named(&self, name: &str) -> Option<PromptId> {
        self.prompts.iter().position(|prompt| prompt.name == name).map(|index| PromptId(index as u16))
    }

    /// The exit rules of a state, in source order.
    pub fn exit_rules_of(&self, state: StateId) -> core::ops::Range<usize> {
        let start = self.exit_rules.partition_point(|rule| rule.state < state);
        let length = self.exit_rules[start..].partition_point(|rule| rule.state == state);
        start..start + length
    }

    /// The indices of the transitions that leave a state.
    pub(crate) fn row(&self, from: StateId) -> core::ops::Range<usize> {
        let from = usize::from(from.0);
        self.rows[from] as usize..self.rows[from + 1] as usize
    }
}
