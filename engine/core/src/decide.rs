//! The answer of a machine to a request, and to every request that an actor could make.

use alloc::string::String;
use alloc::vec::Vec;

use crate::section::{fingerprint, section};
use crate::{
    Actor, Answer, Answers, Asker, CRASH_COUNT, CounterId, Forced, Gate, Hook, Lack, Machine, Missing,
    Rejection, SectionGate, Seen, StateId, TransitionId, When, check_section,
};

/// All that a decision needs to know about a task.
#[derive(Clone, Copy, Debug)]
pub struct View<'v> {
    /// The state of the task.
    pub status: StateId,
    /// By [`CounterId`]; a counter that is not given is 0.
    pub counters: &'v [u32],
    /// The markdown body, without the frontmatter.
    pub body: &'v str,
    /// The content of sections at three times: when a gate passed, when the state was entered, when its agent was started.
    pub seen: &'v [Seen<'v>],
    /// What programs have answered, and the checks of the pull request.
    pub answers: Answers<'v>,
}

/// The answer to an accepted request: what to do, in order.
#[derive(Clone, Debug)]
pub struct Decision<'m> {
    /// The transition that fires.
    pub transition: TransitionId,
    /// The state it leaves.
    pub from: StateId,
    /// The state it enters; it is written before the effects.
    pub to: StateId,
    /// Why it fires.
    pub cause: Cause,
    /// The content that passed its gates, for later gates that require fresh content: each section once.
    pub seen: Vec<Seen<'m>>,
    /// The content of the sections for which gates in the state it enters require something new.
    pub entered: Vec<Seen<'m>>,
    /// The side effects, in order.
    pub effects: Vec<Effect<'m>>,
    /// A counter and its value once the effects are done.
    pub closing: Option<(CounterId, u32)>,
}

/// Why a transition fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An actor has asked.
    Request(Actor),
    /// An agent has ended, and an exit rule selects the transition.
    Exit,
    /// An agent has crashed too often.
    Escalation,
    /// A hook of the transition before has failed, and that one says where the task goes then.
    HookFailed,
    /// The task ends without a declared transition.
    Forced(Forced, Actor),
}

impl Cause {
    /// The actor on whose behalf the transition fires.
    pub const fn actor(self) -> Actor {
        match self {
            Cause::Request(actor) | Cause::Forced(_, actor) => actor,
            Cause::Exit | Cause::Escalation | Cause::HookFailed => Actor::Engine,
        }
    }
}

/// One hook with its arguments bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect<'m> {
    /// The hook.
    pub hook: Hook<'m>,
    /// A counter and its new value, which is written before the hook runs. It is a value and not an increment, so that a
    /// repeated hook counts once.
    pub counter: Option<(CounterId, u32)>,
}

/// A state that a request can name, with the transition to it.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The target state.
    pub to: StateId,
    /// The transition that would fire, or the first declared one when no guard holds.
    pub transition: TransitionId,
    /// Why a request would be refused.
    pub rejection: Option<Rejection>,
}

impl View<'_> {
    /// The value of a counter.
    pub fn counter(&self, id: CounterId) -> u32 {
        self.counters.get(usize::from(id.0)).copied().unwrap_or_default()
    }

    /// Checks that each of these gates holds; the error is the first that does not. A program is asked last: it runs only if all
    /// others hold.
    pub fn check(&self, gates: &[Gate<'_>]) -> Result<(), Lack> {
        let known = self.lacks(gates).find(|lack| lack.missing != Missing::Answer);
        known.or_else(|| self.lacks(gates).next()).map_or(Ok(()), Err)
    }

    /// Every gate that does not hold, in order.
    pub fn lacks(&self, gates: &[Gate<'_>]) -> impl Iterator<Item = Lack> {
        gates.iter().enumerate().filter_map(|(gate, it)| {
            let missing = match it {
                Gate::Section(it) => check_section(it, self.body, self.seen).err()?,
                Gate::Command(it) => match it.answer(&self.answers) {
                    None => Missing::Answer,
                    Some(Answer { failure, .. }) => failure.map(|_| Missing::Success)?,
                },
                Gate::Checks => {
                    let found = self.answers.checks;
                    found.failure().map(|_| Missing::Checks { found })?
                }
            };
            Some(Lack { gate, missing })
        })
    }
}

impl<'m> Machine<'m> {
    /// The answer to a request. It checks in this order that a transition exists, that the actor may ask for it, that a guard
    /// holds, and that the gate passes; the error is the first of these that does not hold.
    pub fn decide(&self, view: &View<'_>, to: StateId, actor: Actor) -> Result<Decision<'m>, Rejection> {
        self.allowed(view.status, to, actor)?;
        let id = self.resolve(view.status, to, view.counters)?;
        let transition = self.transition(id);
        if !transition.by.allows(actor) {
            return Err(Rejection::NotAllowed { transition: id, actor });
        }
        view.check(transition.gates).map_err(|lack| match lack.missing {
            Missing::Answer => Rejection::NotAsked { asker: Asker::Transition(id), gate: lack.gate },
            Missing::Section
            | Missing::Content
            | Missing::Verdict
            | Missing::OneVerdict { .. }
            | Missing::OtherVerdict { .. }
            | Missing::Field { .. }
            | Missing::Fresh { .. }
            | Missing::Success
            | Missing::Checks { .. } => Rejection::GateFailed { transition: id, lack },
        })?;
        Ok(self.fire(view, id, Cause::Request(actor)))
    }

    /// Every state to which a transition leads from here, with the reason why the actor could not go there.
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

    /// The decision for this transition; it checks no condition.
    pub(crate) fn fire(&self, view: &View<'_>, id: TransitionId, cause: Cause) -> Decision<'m> {
        let transition = self.transition(id);
        Decision {
            transition: id,
            from: transition.from,
            to: transition.to,
            cause,
            seen: contents(transition.section_gates(), view.body, When::Passed),
            entered: self.standing(transition.to, view.body, When::Entered),
            effects: self.bind(transition.hooks, view),
            closing: self.closing(cause),
        }
    }

    /// The side effects of a transition, whatever opens it.
    pub fn effects_of(&self, id: TransitionId, counters: &[u32]) -> Vec<Effect<'m>> {
        let transition = self.transition(id);
        self.bind(
            transition.hooks,
            &View { status: transition.from, counters, body: "", seen: &[], answers: Answers::default() },
        )
    }

    /// The value of a counter changes from hook to hook, so that two increments of one counter in one transition both count.
    fn bind(&self, hooks: &'m [Hook<'m>], view: &View<'_>) -> Vec<Effect<'m>> {
        let mut changed: Vec<(CounterId, u32)> = Vec::new();
        hooks
            .iter()
            .map(|hook| {
                let counter = hook.counter.filter(|id| *id != CRASH_COUNT).map(|id| {
                    let before = changed.iter().rev().find(|(other, _)| *other == id);
                    let before = before.map_or(view.counter(id), |(_, value)| *value);
                    let value = if hook.resets().is_some() {
                        self.counter(id).default
                    } else {
                        before.saturating_add(1)
                    };
                    changed.push((id, value));
                    (id, value)
                });
                Effect { hook: *hook, counter }
            })
            .collect()
    }

    /// The content of the sections for which gates and exit rules of a state require something new. At the start of an agent
    /// only sections with a verdict count: a verdict that the agent finds is not its own.
    pub fn standing(&self, state: StateId, body: &str, when: When) -> Vec<Seen<'m>> {
        let gates = self.gates_of(state).filter_map(Gate::section).filter(|gate| gate.fresh);
        let gates = gates.filter(|gate| when != When::Started || gate.verdict.is_some());
        contents(gates, body, when)
    }

    /// The gates of the transitions out of a state, and the artifacts of its exit rules.
    pub fn gates_of(&self, state: StateId) -> impl Iterator<Item = &'m Gate<'m>> {
        self.transition_gates_of(state).chain(self.artifacts_of(state))
    }

    /// It asks about the actor before the guard, so that nobody waits for a counter in vain.
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
    /// Whether a request is accepted, or depends on the answer of a program alone.
    pub fn can_be_asked(&self) -> bool {
        matches!(self.rejection, None | Some(Rejection::NotAsked { .. }))
    }

    /// Why a request would be refused, in words.
    pub fn missing(&self, machine: &Machine<'_>, view: &View<'_>) -> Option<String> {
        self.rejection.map(|rejection| rejection.message(machine, view))
    }
}

/// The content of the sections that these gates read, each section once.
fn contents<'m>(gates: impl Iterator<Item = &'m SectionGate<'m>>, body: &str, when: When) -> Vec<Seen<'m>> {
    let mut contents: Vec<Seen<'m>> = Vec::new();
    for SectionGate { section: heading, .. } in gates {
        if let Some(content) = section(body, heading)
            && contents.iter().all(|seen| seen.section != *heading)
        {
            contents.push(Seen { section: heading, fingerprint: fingerprint(content), when });
        }
    }
    contents
}
