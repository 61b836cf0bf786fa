//! Argument that loops without a person end: the counter that rises in each of them, and the guard that asks for less.

use std::collections::BTreeSet;

use orange_core::{CRASH_COUNT, CounterId, TransitionId};

use super::ProofFacts;
use crate::lint::unattended::{restarts, times};
use crate::search::components::Components;

/// "`review_round` rises on working → agent-review; agent-review → working needs `review_round < 2`; so it is taken at
/// most 2 times"
pub(super) fn argument(known: &ProofFacts<'_, '_>) -> String {
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
    let turning: Vec<TransitionId> = moves.into_iter().filter(inside).collect();
    let mut parts: Vec<String> = turning.iter().filter_map(|id| bound(known, *id, &turning)).collect();
    if parts.is_empty() {
        parts.push(match turning.first() {
            None => "no run comes back to a state that it has left before a person is needed".to_owned(),
            Some(_) => "no run comes back to where it was: every turn leaves other sections, agents or counters behind"
                .to_owned(),
        });
    }
    parts.extend(restarted(known));
    parts.join("; ")
}

/// Bound of this transition: the counter that rises on it, the transitions around it that ask for less, and the most times it is
/// taken.
fn bound(known: &ProofFacts<'_, '_>, id: TransitionId, turning: &[TransitionId]) -> Option<String> {
    let facts = known.facts;
    let hooks = facts.machine.transition(id).hooks;
    let rises = |counter: CounterId| hooks.iter().any(|it| it.raises() == Some(counter));
    let needs: Vec<String> = turning
        .iter()
        .filter(|it| reads(known, **it).any(|counter| counter != CRASH_COUNT && rises(counter)))
        .filter_map(|it| {
            let transition = facts.transition(*it);
            Some(format!("{} needs `{}`", facts.arrow(transition), transition.when.as_ref()?.text))
        })
        .collect();
    let counter = turning.iter().flat_map(|it| reads(known, *it)).find(|it| rises(*it))?;
    let name = &facts.workflow.counters[usize::from(counter.0)].name;
    // The sentence names two states, and several transitions may lead from one to the other.
    let same = facts.machine.between(facts.machine.transition(id).from, facts.machine.transition(id).to);
    let same: Vec<TransitionId> = same.collect();
    let most = known.unattended.longest(|_, edge| same.iter().map(|it| times(edge, *it)).sum())?.sum;
    let arrow = facts.arrow(facts.transition(id));
    let needs = needs.join(" and ");
    Some(format!("`{name}` rises on {arrow}, and {needs}: so {arrow} is taken at most {}", often(most)))
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
