//! Argument that loops without a person end: the counter that rises in each of them, and the guard that asks for less.

use std::collections::BTreeSet;

use orange_core::budget::{BudgetKind, amount};
use orange_core::{CRASH_COUNT, CounterId, TransitionId};

use super::ProofFacts;
use crate::lint::unattended::{restarts, times};
use crate::search::components::Components;

/// "`review_round` rises on working → agent-review; agent-review → working needs `review_round < 2`; so it is taken at
/// most 2 times"
pub(super) fn argument(known: &ProofFacts<'_, '_>) -> String {
    if let Some(starts) = known.facts.machine.budget.starts.filter(|_| known.unattended.has_loops()) {
        return format!(
            "bounded by budget alone: every loop starts an agent, and the task has {}; then the next start waits for a person",
            amount(BudgetKind::Starts, starts)
        );
    }
    let mut parts: Vec<String> = known.bounds().iter().map(|it| it.words(known)).collect();
    if parts.is_empty() {
        parts.push(match turning(known).first() {
            None => "no run comes back to a state that it has left before a person is needed".to_owned(),
            Some(_) => "no run comes back to where it was: every turn leaves other sections, agents or counters behind"
                .to_owned(),
        });
    }
    parts.extend(restarted(known));
    parts.join("; ")
}

/// The bounds of the transitions of which a counter counts the turns.
pub(super) fn of(known: &ProofFacts<'_, '_>) -> Vec<LoopBound> {
    let turning = turning(known);
    turning.iter().filter_map(|id| bound(known, *id, &turning)).collect()
}

/// The transitions that a run takes in a loop before a person is needed.
fn turning(known: &ProofFacts<'_, '_>) -> Vec<TransitionId> {
    let facts = known.facts;
    let moves: BTreeSet<TransitionId> =
        known.unattended.moves().filter_map(|(_, edge)| edge.step.transition()).collect();
    let arrow = |id: &TransitionId| {
        let it = facts.machine.transition(*id);
        (u32::from(it.from.0), u32::from(it.to.0))
    };
    let circles = Components::of(facts.machine.states.len(), moves.iter().map(arrow));
    let inside = |id: &TransitionId| {
        let (from, to) = arrow(id);
        circles.together(from, to)
    };
    moves.into_iter().filter(inside).collect()
}

/// Bound of a transition in a loop, by the counter that rises on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBound {
    pub transition: TransitionId,
    /// The counter.
    pub counter: String,
    /// The transitions around it that ask for less.
    bounding: Vec<TransitionId>,
    /// The most times that a run takes it before a person is needed, with all others between the same states.
    pub most: u64,
}

impl LoopBound {
    fn words(&self, known: &ProofFacts<'_, '_>) -> String {
        let facts = known.facts;
        let needs: Vec<String> = self
            .bounding
            .iter()
            .filter_map(|it| {
                let transition = facts.transition(*it);
                Some(format!("{} needs `{}`", facts.arrow(transition), transition.when.as_ref()?.text))
            })
            .collect();
        let (name, needs) = (&self.counter, needs.join(" and "));
        let arrow = facts.arrow(facts.transition(self.transition));
        format!("`{name}` rises on {arrow}, and {needs}: so {arrow} is taken at most {}", often(self.most))
    }
}

/// Bound of this transition: the counter that rises on it, the transitions around it that ask for less, and the most times it is
/// taken.
fn bound(known: &ProofFacts<'_, '_>, id: TransitionId, turning: &[TransitionId]) -> Option<LoopBound> {
    let facts = known.facts;
    let hooks = facts.machine.transition(id).hooks;
    let rises = |counter: CounterId| hooks.iter().any(|it| it.raises() == Some(counter));
    let is_bounding =
        |it: &TransitionId| reads(known, *it).any(|counter| counter != CRASH_COUNT && rises(counter));
    let bounding = turning.iter().copied().filter(is_bounding).collect();
    let counter = turning.iter().flat_map(|it| reads(known, *it)).find(|it| rises(*it))?;
    let name = &facts.workflow.counters[usize::from(counter.0)].name;
    // The sentence names two states, and several transitions may lead from one to the other.
    let same = facts.machine.between(facts.machine.transition(id).from, facts.machine.transition(id).to);
    let same: Vec<TransitionId> = same.collect();
    let most = known.unattended.longest(|_, edge| same.iter().map(|it| times(edge, *it)).sum())?.sum;
    Some(LoopBound { transition: id, counter: name.clone(), bounding, most })
}

fn reads(known: &ProofFacts<'_, '_>, id: TransitionId) -> impl Iterator<Item = CounterId> {
    let guard = known.facts.machine.transition(id).guard;
    guard.into_iter().flat_map(|it| it.any_of).copied().flatten().map(|it| it.counter)
}

/// Bound on the restarts of crashed agents, in words.
fn restarted(known: &ProofFacts<'_, '_>) -> Option<String> {
    let most = known.unattended.longest(|_, edge| u64::from(restarts(edge)))?.sum;
    (most > 0).then(|| format!("crashed agents are started again at most {} in all", often(most)))
}

fn often(times: u64) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}
