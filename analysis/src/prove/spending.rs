//! The most that agents use: stays in states times the budgets of these, and at most the budget of the task.

use std::collections::BTreeMap;

use orange_core::StateId;
use orange_core::budget::{BudgetKind, amount};

use super::ProofFacts;
use crate::lint::unattended::{restarts, starts};
use crate::search::Edge;

/// The most of one kind that the agents of a task use, beside the turns in which limits are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorstCase {
    pub kind: BudgetKind,
    /// The most for one thing that a person does; absent where it is not bounded.
    pub most: Option<u64>,
    /// The limits on which this rests, or the reason why there is no bound, in words.
    pub rests_on: String,
}

/// By kind of limit that the workflow has: the most of it.
pub(super) fn of(known: &ProofFacts<'_, '_>) -> Vec<WorstCase> {
    let machine = known.facts.machine;
    let budgets = || machine.states.iter().map(|it| it.budget).chain([machine.budget]);
    let limited = BudgetKind::ALL.into_iter().filter(|kind| budgets().any(|it| it.get(*kind).is_some()));
    limited.map(|kind| worst(known, kind)).collect()
}

fn worst(known: &ProofFacts<'_, '_>, kind: BudgetKind) -> WorstCase {
    let of_task = known.facts.machine.budget.get(kind);
    let (most, rests_on) = match (stays(known, kind), of_task) {
        (Ok((sum, words)), Some(limit)) if limit < sum => {
            (Some(limit), format!("the budget of the task; {words} would be {}", amount(kind, sum)))
        }
        (Ok((sum, words)), _) => (Some(sum), words),
        (Err(_), Some(limit)) => (Some(limit), "the budget of the task alone".to_owned()),
        (Err(why), None) => (None, why),
    };
    WorstCase { kind, most, rests_on }
}

/// The sum of the budgets of the stays in one run without a person, and the stays in words.
///
/// # Errors
/// The reason for which there is no such bound, in words.
fn stays(known: &ProofFacts<'_, '_>, kind: BudgetKind) -> Result<(u64, String), String> {
    let (facts, search) = (known.facts, known.facts.search);
    if let Some(cut) = search.cut() {
        return Err(format!("the search was cut, {cut}"));
    }
    let status = |edge: &Edge| search.task(edge.to).status;
    let limit = |id: StateId| facts.machine.state(id).budget.get(kind);
    let mut starting = search.edges().map(|(_, edge)| edge).filter(|edge| starts(facts, edge) > 0);
    if let Some(edge) = starting.find(|edge| limit(status(edge)).is_none()) {
        let state = facts.name(status(edge));
        return Err(format!("agents in `{state}` have no limit of `{}`", kind.as_str()));
    }
    // An agent that is started again after a crash is in the stay of the one before.
    let begins = |edge: &Edge| starts(facts, edge) > 0 && !restarts(edge);
    let budget = |edge: &Edge| if begins(edge) { limit(status(edge)).unwrap_or_default() } else { 0 };
    let longest = known.unattended.longest(|_, edge| budget(edge));
    let longest = longest.ok_or("some loop without a person has no end")?;
    let mut counts: BTreeMap<StateId, u64> = BTreeMap::new();
    for edge in longest.steps.iter().map(|id| search.edge(*id)).filter(|edge| begins(edge)) {
        *counts.entry(status(edge)).or_default() += 1;
    }
    let words: Vec<String> = counts
        .into_iter()
        .map(|(id, count)| {
            let stays = if count == 1 { "1 stay".to_owned() } else { format!("{count} stays") };
            let each = amount(kind, limit(id).unwrap_or_default());
            format!("{stays} in `{}` with {each}{}", facts.name(id), if count == 1 { "" } else { " each" })
        })
        .collect();
    Ok((longest.sum, words.join(", ")))
}
