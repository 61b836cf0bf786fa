//! Shared questions of the lints of this group: the guards and what they read, the hooks and what they count.

use std::collections::BTreeSet;

use orange_core::{Action, Actor, CRASH_COUNT, Role, TransitionId};

use crate::lint::{ActorKind, Facts};
use crate::search::{Edge, EdgeId, SearchStep};
use orange_codegen::catalogue::A10;
use orange_codegen::diag::Diagnostic;
use orange_codegen::guard::{Compare, Guard};
use orange_codegen::model::{Clause, CounterId, Hook, Outcome, Spawn, StateId, Transition};
use orange_codegen::span::{Span, Spanned};

/// A guard and what it decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct GuardSite<'f> {
    /// The state that a task is in when it is asked.
    pub state: StateId,
    pub guard: &'f Guard,
    /// Decision that depends on it.
    pub decides: GuardOwner<'f>,
}

/// Decision that depends on a guard.
#[derive(Clone, Copy, Debug)]
pub(super) enum GuardOwner<'f> {
    /// This transition is open or closed; of one `from: [a, b]` the first.
    Transition(&'f Transition),
    /// This clause of a `then_when`, of which these are all, is chosen or not.
    Clause(&'f [Clause], &'f Clause),
    /// A watch rule applies or not.
    Watch,
}

/// Every guard that is written, once: transitions first, then watch rules, then the clauses of exit rules and watch rules.
pub(super) fn guards<'f>(facts: &Facts<'f>) -> Vec<GuardSite<'f>> {
    let mut transitions: Vec<&Transition> = facts.workflow.transitions.iter().collect();
    transitions.dedup_by_key(|it| it.declaration);
    let of_transitions = transitions.into_iter().filter_map(|it| {
        let guard = it.when.as_ref()?;
        Some(GuardSite { state: it.from.value, guard, decides: GuardOwner::Transition(it) })
    });
    let of_watch = facts.workflow.watch.iter().filter_map(|it| {
        Some(GuardSite { state: it.status.value, guard: it.when.as_ref()?, decides: GuardOwner::Watch })
    });
    of_transitions.chain(of_watch).chain(clauses(facts)).collect()
}

fn clauses<'f>(facts: &Facts<'f>) -> impl Iterator<Item = GuardSite<'f>> + use<'f> {
    let rules = facts.workflow.exit_monitoring.rules.iter().map(|it| (it.status.value, &it.outcome));
    let watch = facts.workflow.watch.iter().map(|it| (it.status.value, &it.outcome));
    rules.chain(watch).flat_map(|(state, outcome)| {
        let clauses: &[Clause] = match outcome {
            Outcome::ThenWhen(clauses) => clauses,
            Outcome::Then(_) | Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => &[],
        };
        clauses.iter().map(move |clause| GuardSite {
            state,
            guard: &clause.when,
            decides: GuardOwner::Clause(clauses, clause),
        })
    })
}

impl GuardSite<'_> {
    /// The comparisons of a counter in it.
    pub(super) fn comparisons(&self, counter: CounterId) -> impl Iterator<Item = &Compare> {
        self.guard.expr.comparisons().into_iter().filter(move |it| it.counter == counter)
    }
}

/// The counter that a hook counts up, and where it says so.
pub(super) fn counts(hook: &Hook) -> Option<Spanned<CounterId>> {
    hook.counter.filter(|_| hook.action != Action::Reset)
}

/// True if the agent is the reviewer, whose window is named after `review_round`.
pub(super) fn is_reviewer(spawn: &Spawn) -> bool {
    spawn.role == Role::Reviewer
}

/// True if a step takes a transition that sets the counter back.
pub(super) fn sets_back(facts: &Facts<'_>, edge: &Edge, counter: CounterId) -> bool {
    edge.step.transition().is_some_and(|id| {
        facts.machine.transition(id).hooks.iter().any(|hook| hook.resets() == Some(counter))
    })
}

/// The counters that something counts up: some hook, or the engine itself.
pub(super) fn counted(facts: &Facts<'_>) -> BTreeSet<CounterId> {
    let hooks = facts.workflow.transitions.iter().flat_map(|it| &it.hooks);
    hooks.filter_map(counts).map(|it| it.value).chain([CRASH_COUNT]).collect()
}

/// The name of a counter.
pub(in crate::lint) fn name<'f>(facts: &Facts<'f>, counter: CounterId) -> &'f str {
    &facts.workflow.counters[usize::from(counter.0)].name
}

/// True if a person takes this step: their own transition, or that of an agent that is not there.
pub(super) fn is_persons(facts: &Facts<'_>, edge: &Edge) -> bool {
    match edge.step {
        SearchStep::Request { by: Actor::Engine | Actor::Declared(_), .. } => false,
        SearchStep::Request { transition, by, .. } => {
            by == Actor::Human || is_persons_transition(facts, transition)
        }
        SearchStep::Failure { transition, failed, .. } => {
            failed.by != Actor::Engine
                && (failed.by == Actor::Human || is_persons_transition(facts, transition))
        }
        SearchStep::Start | SearchStep::Respawn | SearchStep::Retry { .. } => true,
        SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Exit { .. } => false,
    }
}

/// True if a transition is a person's to take: theirs by all that the workflow tells, or out of a state that waits for them.
pub(super) fn is_persons_transition(facts: &Facts<'_>, id: TransitionId) -> bool {
    let declared = facts.transition(id);
    let theirs = facts.actor_kinds[id.0 as usize] == ActorKind::Person || facts.waits(declared.from.value);
    theirs && declared.by.allows(Actor::Human) && declared.by.declared().next().is_none()
}

/// The value of a counter after a run, which the search does not follow for ever.
pub(super) fn value_after(facts: &Facts<'_>, run: &[EdgeId], counter: CounterId) -> u32 {
    let start = facts.workflow.counters[usize::from(counter.0)].start;
    run.iter().map(|id| facts.search.edge(*id)).fold(start, |value, edge| match edge.step.transition() {
        Some(id) => {
            let hooks = facts.machine.transition(id).hooks.iter().filter(|it| it.counter == Some(counter));
            hooks.fold(value, |value, it| if it.resets().is_some() { start } else { value.saturating_add(1) })
        }
        None => value.max(facts.search.value(facts.search.task(edge.to), counter)),
    })
}

/// The finding that a guard was too large to answer a question about.
pub(super) fn undecided(place: Span, question: &str) -> Diagnostic {
    let message = format!("whether {question} was not decided: the guards are too many or too long");
    Diagnostic::new(&A10, place, message).help("compare fewer counters, or with fewer different numbers")
}
