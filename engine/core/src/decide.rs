//! What a machine answers to a request, and what it would answer to every request that could be made.

use alloc::string::String;
use alloc::vec::Vec;

use crate::section::{fingerprint, section};
use crate::{
    Actor, CRASH_COUNT, CounterId, Forced, Gate, Hook, Machine, Rejection, Seen, StateId, Transition,
    TransitionId, When, check_gate,
};

/// All that a decision needs to know about a task.
#[derive(Clone, Copy, Debug)]
pub struct View<'v> {
    /// Where it is.
    pub status: StateId,
    /// By [`CounterId`]; what is not given counts as 0.
    pub counters: &'v [u32],
    /// The markdown body, without the frontmatter.
    pub body: &'v str,
    /// What stood in sections when gates let them through, the state was entered, and its agent was started.
    pub seen: &'v [Seen<'v>],
}

/// A yes: what is to be done, in order.
#[derive(Clone, Debug)]
pub struct Decision<'m> {
    /// The transition that fires.
    pub transition: TransitionId,
    /// The state it leaves.
    pub from: StateId,
    /// The state it enters; to be written before the effects.
    pub to: StateId,
    /// Why it fires.
    pub cause: Cause,
    /// What its gate let through, for later gates that want fresh content.
    pub seen: Option<Seen<'m>>,
    /// What stands in the sections that gates in the state it enters want written anew.
    pub entered: Vec<Seen<'m>>,
    /// The side effects, in order.
    pub effects: Vec<Effect<'m>>,
    /// A counter and its value once the effects are done.
    pub closing: Option<(CounterId, u32)>,
}

/// Why a transition fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Somebody asked.
    Request(Actor),
    /// An agent ended, and an exit rule says where to go.
    Exit,
    /// An agent crashed too often.
    Escalation,
    /// The task ends, whatever its workflow declares.
    Forced(Forced, Actor),
}

impl Cause {
    /// Whose act it is.
    pub const fn actor(self) -> Actor {
        match self {
            Cause::Request(actor) | Cause::Forced(_, actor) => actor,
            Cause::Exit | Cause::Escalation => Actor::Engine,
        }
    }
}

/// One hook with its arguments bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect<'m> {
    /// The hook.
    pub hook: Hook<'m>,
    /// A counter and its new value, to be written before the hook acts. It is a value and no increment, so that
    /// doing it twice is doing it once.
    pub counter: Option<(CounterId, u32)>,
}

/// One way on from where a task is.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The state it leads to.
    pub to: StateId,
    /// The transition that would fire, or the first declared one when none is open.
    pub transition: TransitionId,
    /// Why it is closed, if it is.
    pub rejection: Option<Rejection>,
}

impl View<'_> {
    /// The value of a counter.
    pub fn counter(&self, id: CounterId) -> u32 {
        self.counters.get(usize::from(id.0)).copied().unwrap_or_default()
    }

    /// Whether the task's body passes the gate.
    ///
    /// # Errors
    /// What is missing, if it does not.
    pub fn check(&self, gate: &Gate<'_>) -> Result<(), crate::Missing> {
        check_gate(gate, self.body, self.seen)
    }
}

impl<'m> Machine<'m> {
    /// The answer to a request, in the order of design §9: the transition exists, the actor may, a guard holds, the
    /// gate passes.
    ///
    /// # Errors
    /// The first of these that does not hold.
    pub fn decide(&self, view: &View<'_>, to: StateId, actor: Actor) -> Result<Decision<'m>, Rejection> {
        self.allowed(view.status, to, actor)?;
        let id = self.resolve(view.status, to, view.counters)?;
        let transition = self.transition(id);
        if !transition.by.allows(actor) {
            return Err(Rejection::NotAllowed { transition: id, actor });
        }
        if let Some(gate) = &transition.gate {
            view.check(gate).map_err(|missing| Rejection::GateFailed { transition: id, missing })?;
        }
        Ok(self.fire(view, id, Cause::Request(actor)))
    }

    /// Every state that some transition leads to from here, with what would stand in the actor's way.
    pub fn options(&self, view: &View<'_>, actor: Actor) -> Vec<Choice> {
        self.targets(view.status)
            .filter_map(|to| {
                let first = self.between(view.status, to).next()?;
                Some(match self.decide(view, to, actor) {
                    Ok(decision) => Choice { to, transition: decision.transition, rejection: None },
                    Err(rejection) => {
                        let transition = self.resolve(view.status, to, view.counters).unwrap_or(first);
                        Choice { to, transition, rejection: Some(rejection) }
                    }
                })
            })
            .collect()
    }

    /// The decision that takes this transition, its conditions being met or not in question.
    pub(crate) fn fire(&self, view: &View<'_>, id: TransitionId, cause: Cause) -> Decision<'m> {
        let transition = self.transition(id);
        Decision {
            transition: id,
            from: transition.from,
            to: transition.to,
            cause,
            seen: seen_by(transition, view.body),
            entered: self.standing(transition.to, view.body, When::Entered),
            effects: bind(transition.hooks, view),
            closing: self.closing(cause),
        }
    }

    /// What stands in the sections that gates and exit rules of a state want written anew. What an agent finds when it is
    /// started is not its own verdict; anything else it may go on with.
    pub fn standing(&self, state: StateId, body: &str, when: When) -> Vec<Seen<'m>> {
        let gates = self.gates_of(state).filter(|gate| gate.fresh);
        let gates = gates.filter(|gate| when != When::Started || gate.verdict.is_some());
        let mut standing: Vec<Seen<'m>> = Vec::new();
        for Gate { section: heading, .. } in gates {
            if let Some(content) = section(body, heading)
                && standing.iter().all(|seen| seen.section != *heading)
            {
                standing.push(Seen { section: heading, fingerprint: fingerprint(content), when });
            }
        }
        standing
    }

    /// The gates of the transitions out of a state, and the artifacts of its exit rules.
    pub fn gates_of(&self, state: StateId) -> impl Iterator<Item = &'m Gate<'m>> {
        self.transition_gates_of(state).chain(self.artifacts_of(state))
    }

    /// The actor is asked for before the guard, so that who may never go there is not told to wait for a counter.
    fn allowed(&self, from: StateId, to: StateId, actor: Actor) -> Result<(), Rejection> {
        let mut declared = self.between(from, to).peekable();
        match declared.peek().copied() {
            None => Err(Rejection::NoTransition { from, to }),
            Some(first) if !declared.any(|id| self.transition(id).by.allows(actor)) => {
                Err(Rejection::NotAllowed { transition: first, actor })
            }
            Some(_) => Ok(()),
        }
    }
}

impl Choice {
    /// What is missing, in words; `None` when the way is open.
    pub fn missing(&self, machine: &Machine<'_>, view: &View<'_>) -> Option<String> {
        self.rejection.map(|rejection| rejection.message(machine, view))
    }
}

fn seen_by<'m>(transition: &Transition<'m>, body: &str) -> Option<Seen<'m>> {
    let gate = transition.gate?;
    section(body, gate.section).map(|content| Seen {
        section: gate.section,
        fingerprint: fingerprint(content),
        when: When::Passed,
    })
}

/// Counters rise as the hooks are read, so that two increments of one counter in one transition both count.
fn bind<'m>(hooks: &'m [Hook<'m>], view: &View<'_>) -> Vec<Effect<'m>> {
    let mut raised: Vec<(CounterId, u32)> = Vec::new();
    hooks
        .iter()
        .map(|hook| {
            let counter = hook.counter.filter(|id| *id != CRASH_COUNT).map(|id| {
                let before = raised.iter().rev().find(|(other, _)| *other == id);
                let value = before.map_or(view.counter(id), |(_, value)| *value).saturating_add(1);
                raised.push((id, value));
                (id, value)
            });
            Effect { hook: *hook, counter }
        })
        .collect()
}
