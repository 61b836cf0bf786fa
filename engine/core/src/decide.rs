//! The answer of a machine to a request, and to every request that an actor could make.

use alloc::string::String;
use alloc::vec::Vec;

use crate::section::{fingerprint, section};
use crate::{
    Actor, Actors, Answers, Asker, CRASH_COUNT, CounterId, FactKind, Forced, Gate, Hook, Lack, Machine,
    Missing, ProgramAnswer, Rejection, SectionGate, SeenSection, StateId, TransitionId, When, WorkSince,
    check_section,
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
    pub seen: &'v [SeenSection<'v>],
    /// Answers of programs, and the checks of the pull request.
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
    /// Cause of the transition.
    pub cause: Cause,
    /// The content that passed its gates, for later gates that require fresh content: each section once.
    pub seen: Vec<SeenSection<'m>>,
    /// The content of the sections for which gates in the state it enters require something new.
    pub entered: Vec<SeenSection<'m>>,
    /// The side effects, in order.
    pub effects: Vec<Effect<'m>>,
    /// A counter and its value once the effects are done.
    pub closing: Option<(CounterId, u32)>,
}

/// Cause of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An actor has asked.
    Request(Actor),
    /// An agent has ended, and an exit rule selects the transition.
    Exit,
    /// An agent has crashed too often.
    Escalation,
    /// A fact holds that the workflow watches.
    Watch,
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
            Cause::Exit | Cause::Escalation | Cause::Watch | Cause::HookFailed => Actor::Engine,
        }
    }
}

/// One hook with its arguments bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect<'m> {
    /// Hook that is run.
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
    /// The transition that would fire, or the one that is nearest to it.
    pub transition: TransitionId,
    /// Rejection of a request that would be refused; `None` for one that would be accepted.
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

    /// Distance of these gates from holding: true if the verdict that stands there rules them out, true if more than the answer of
    /// a program is missing, and the number of those that do not hold.
    fn distance(&self, gates: &[Gate<'_>]) -> (bool, bool, usize) {
        let asked = self.lacks(gates).any(|lack| lack.missing != Missing::Answer);
        (self.is_ruled_out(gates), asked, self.lacks(gates).count())
    }

    /// True if these gates ask for another verdict than the one that stands there.
    pub(crate) fn is_ruled_out(&self, gates: &[Gate<'_>]) -> bool {
        let is_other =
            |gate| matches!(check_section(gate, self.body, self.seen), Err(Missing::OtherVerdict { .. }));
        let mut sections = gates.iter().map(Gate::sections).filter(|it| !it.is_empty());
        sections.any(|any| any.iter().all(is_other))
    }

    /// Every gate that does not hold, in order.
    pub fn lacks(&self, gates: &[Gate<'_>]) -> impl Iterator<Item = Lack> {
        gates.iter().enumerate().filter_map(|(gate, it)| {
            let missing = match it {
                Gate::Section(it) => check_section(it, self.body, self.seen).err()?,
                Gate::AnySection(any) => {
                    let is_met = |it| check_section(it, self.body, self.seen).is_ok();
                    (!any.iter().any(is_met)).then_some(Missing::Any)?
                }
                Gate::Command(it) => match it.answer(&self.answers) {
                    None => Missing::Answer,
                    Some(ProgramAnswer { failure, .. }) => failure.map(|_| Missing::Success)?,
                },
                Gate::OnMerge(_) => (!self.answers.is_merge).then_some(Missing::Merge)?,
                Gate::Checks => {
                    let found = self.answers.checks;
                    found.failure().map(|_| Missing::Checks { found })?
                }
                Gate::Children(wanted) => {
                    self.answers.children.failure(*wanted).map(|_| Missing::Children)?
                }
            };
            Some(Lack { gate, missing })
        })
    }
}

impl<'m> Machine<'m> {
    /// The answer to a request. It checks in this order that a transition exists, that the actor may ask for one, that a guard
    /// holds, and that the gates pass; the error is the first of these that does not hold. The compiler refuses two transitions
    /// that could fire at once.
    pub fn decide(&self, view: &View<'_>, to: StateId, actor: Actor) -> Result<Decision<'m>, Rejection> {
        self.decide_for(view, to, actor, None)
    }

    /// The answer to a request, which a fact of this kind may have caused.
    pub(crate) fn decide_for(
        &self,
        view: &View<'_>,
        to: StateId,
        actor: Actor,
        cause: Option<FactKind>,
    ) -> Result<Decision<'m>, Rejection> {
        let (from, not_allowed) = (view.status, Rejection::NotAllowed { from: view.status, to, actor });
        // The actor comes before the guard, so that nobody waits for a counter in vain.
        let mut declared = self.between(from, to).peekable();
        if declared.peek().is_some() && !declared.any(|id| self.transition(id).by.allows(actor)) {
            return Err(not_allowed);
        }
        self.resolve(from, to, view.counters).map(drop)?;
        let nearest = self.candidates(view, to, actor, cause).into_iter().next().ok_or(not_allowed)?;
        view.check(self.transition(nearest).gates).map_err(|lack| match lack.missing {
            Missing::Answer => Rejection::NotAsked { asker: Asker::Transition(nearest), gate: lack.gate },
            Missing::Section
            | Missing::Content
            | Missing::Verdict
            | Missing::OneVerdict { .. }
            | Missing::OtherVerdict { .. }
            | Missing::Field { .. }
            | Missing::Fresh { .. }
            | Missing::OtherWork { .. }
            | Missing::Any
            | Missing::Success
            | Missing::Merge
            | Missing::Children
            | Missing::Checks { .. } => Rejection::GateFailed { transition: nearest, actor, lack },
        })?;
        Ok(self.fire(view, nearest, Cause::Request(actor)))
    }

    /// The transitions that the gates choose from when the actor asks: those that are open and for it, the nearest to firing
    /// first. Where none of them is for the engine, it asks as the first actor that one is for. A transition that names a cause is for
    /// facts of this kind alone, and comes before those without one.
    pub(crate) fn candidates(
        &self,
        view: &View<'_>,
        to: StateId,
        actor: Actor,
        cause: Option<FactKind>,
    ) -> Vec<TransitionId> {
        let all = || self.open(view.status, to, view.counters);
        let cause = cause.filter(|kind| all().any(|id| self.transition(id).cause == Some(*kind)));
        let open = || all().filter(|id| self.transition(*id).cause == cause);
        let anyone = open().fold(Actors::NONE, |by, id| by.joined(self.transition(id).by));
        let actor = match anyone.iter().next() {
            Some(first) if actor == Actor::Engine && !anyone.names(actor) => first,
            Some(_) | None => actor,
        };
        let mut candidates: Vec<_> = open().filter(|id| self.transition(*id).by.names(actor)).collect();
        candidates.sort_by_key(|id| view.distance(self.transition(*id).gates));
        candidates
    }

    /// Every state to which a transition leads from here, with the reason why the actor could not go there.
    pub fn options(&self, view: &View<'_>, actor: Actor) -> Vec<Choice> {
        self.targets(view.status)
            .filter_map(|to| {
                let nearest = self.candidates(view, to, actor, None).into_iter().next();
                let transition = nearest
                    .or_else(|| self.open(view.status, to, view.counters).next())
                    .or_else(|| self.between(view.status, to).next())?;
                Some(Choice { to, transition, rejection: self.decide(view, to, actor).err() })
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
            entered: self.standing(transition.to, view.body),
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

    /// The side effects that are left of a transition after a hook of it, by its place, has failed. A hook that fails changes its
    /// counter all the same, and not once more when it runs again.
    pub fn effects_left(&self, id: TransitionId, failed: usize, counters: &[u32]) -> Vec<Effect<'m>> {
        let transition = self.transition(id);
        let hooks = transition.hooks.get(failed..).unwrap_or_default();
        let Some((first, others)) = hooks.split_first() else { return Vec::new() };
        let view =
            View { status: transition.from, counters, body: "", seen: &[], answers: Answers::default() };
        let mut left = Vec::from([Effect { hook: *first, counter: None }]);
        left.extend(self.bind(others, &view));
        left
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

    /// The content of the sections for which gates and exit rules of a state require something new, when a task enters it.
    fn standing(&self, state: StateId, body: &str) -> Vec<SeenSection<'m>> {
        contents(self.section_gates_of(state).filter(|gate| gate.fresh), body, When::Entered)
    }

    /// The content of the sections for which gates and exit rules of a state require a new verdict, at the start of an
    /// agent, perhaps of a reviewer with a name: a verdict that it finds is not its own. The section of another
    /// reviewer is left out.
    pub fn found(&self, state: StateId, body: &str, reviewer: Option<&str>) -> Vec<SeenSection<'m>> {
        let gates = self.section_gates_of(state).filter(|gate| gate.fresh && gate.asks_for_verdict());
        let gates = gates.filter(|gate| gate.reviewer.is_none() || gate.reviewer == reviewer);
        contents(gates, body, When::Started)
    }

    /// True if some gate lets a verdict count only for the work about which it was accepted.
    pub fn asks_of_work(&self) -> bool {
        self.state_ids()
            .flat_map(|state| self.gates_of(state))
            .any(|gate| gate.sections().iter().any(|it| it.of.is_some()))
    }

    /// The gates of the transitions out of a state, and the artifacts of its exit rules.
    pub fn gates_of(&self, state: StateId) -> impl Iterator<Item = &'m Gate<'m>> {
        self.transition_gates_of(state).chain(self.artifacts_of(state))
    }
}

impl Choice {
    /// True if a request is accepted, or depends on the answer of a program alone.
    pub fn can_be_asked(&self) -> bool {
        matches!(self.rejection, None | Some(Rejection::NotAsked { .. }))
    }

    /// Reason for which a request would be refused, in words.
    pub fn missing(&self, machine: &Machine<'_>, view: &View<'_>) -> Option<String> {
        self.rejection.map(|rejection| rejection.message(machine, view))
    }
}

/// The content of the sections that these gates read, each section once.
fn contents<'m>(
    gates: impl Iterator<Item = &'m SectionGate<'m>>,
    body: &str,
    when: When,
) -> Vec<SeenSection<'m>> {
    let mut contents: Vec<SeenSection<'m>> = Vec::new();
    for SectionGate { section: heading, .. } in gates {
        if let Some(content) = section(body, heading)
            && contents.iter().all(|seen| seen.section != *heading)
        {
            contents.push(SeenSection {
                section: heading,
                fingerprint: fingerprint(content),
                when,
                work: WorkSince::default(),
            });
        }
    }
    contents
}
