//! Parts of a mission that decisions can distinguish.

use orange_core::mission::{
    Attempt, AttemptEnd, ItemState, ItemStatus, LandingEnd, Mission, Report, StepFailure, StepState,
    StepStatus,
};
use orange_core::plan::{Plan, StepId, Value, WorktreeUse};

use super::Conflicts;

/// A mission without what decisions cannot distinguish: of attempts the number of completions up to the largest that a condition
/// names, of items how far they have got and what they have reported, no texts that nothing compares, no numbers of pauses.
pub(super) fn of(plan: &Plan<'_>, rounds: &[i64], mission: &Mission, conflicts: &Conflicts) -> Mission {
    let mut key = mission.clone();
    for (id, most) in plan.step_ids().zip(rounds) {
        let completion =
            Attempt { end: Some(AttemptEnd::Completed(Report::default())), ..Attempt::default() };
        let number = mission.rounds(plan, id).min(*most).max(0);
        let step = &mut key.steps[id.index()];
        step.rounds = 0;
        match plan.step(id).is_fan_out() || plan.step(id).worktree == WorktreeUse::Own {
            true => {
                step.rounds = number as u32;
                with_items(plan, id, mission.step(id), conflicts, step);
            }
            false => step.attempts = vec![completion; number as usize],
        }
    }
    key.pauses = 0;
    key.questions.iter_mut().for_each(|it| it.number = 0);
    for step in &mut key.steps {
        // A round that a person grants counts like one that was left.
        step.completions = step.completions.saturating_sub(step.granted);
        step.granted = 0;
        step.failure = step.failure.take().map(failure);
        if let Some(report) = &mut step.latest {
            report.warning = None;
        }
    }
    key
}

/// A failure without its text and numbers.
fn failure(failure: StepFailure) -> StepFailure {
    match failure {
        StepFailure::Reported(_) | StepFailure::Stuck(_) | StepFailure::Abandoned(_) => {
            StepFailure::Reported(String::new())
        }
        StepFailure::Items { .. } => StepFailure::Items { failed: 1, of: 1 },
        StepFailure::Exhausted(_) | StepFailure::Cap | StepFailure::Because(_) => failure,
    }
}

/// The items of a step. Those that have ended come first and are sorted: nothing depends on their order. The others keep theirs, in
/// which they start and land. Once the step has completed, or its handler has, a condition reads only which reports there are.
fn with_items(plan: &Plan<'_>, id: StepId, state: &StepState, conflicts: &Conflicts, key: &mut StepState) {
    let is_over = state.status == StepStatus::Completed || state.is_handled;
    let items = if is_over { &[][..] } else { &state.items[..] };
    let (open, ended): (Vec<_>, Vec<_>) = items.iter().partition(|it| it.status.is_open());
    let mut ended: Vec<_> = ended.into_iter().map(|it| item(state, it)).collect();
    let mut open: Vec<_> = open.into_iter().map(|it| item(state, it)).collect();
    ended.sort_by_key(order);
    let counts = plan.step(id).fan_out.is_some_and(|it| it.enough.is_some()) || plan.max_attempts.is_some();
    match counts {
        true => repeat_first(&mut ended),
        // One failure fails the step, whatever else has ended.
        false => ended.dedup(),
    }
    if plan.step(id).worktree != WorktreeUse::Own {
        // Those at work are alike to the ones that wait for a place, which come after them.
        open.sort_by_key(|(it, _)| it.status == ItemStatus::Queued);
    }
    let reported = state.latest_items.iter().filter(|it| it.status == ItemStatus::Completed);
    let mut latest: Vec<_> = reported.map(|it| item(state, it)).collect();
    latest.sort_by_key(order);
    latest.dedup();
    key.attempts = Vec::new();
    let mut number = |all: Vec<(ItemState, Option<AttemptEnd>)>| -> Vec<ItemState> {
        let numbered = all.into_iter().enumerate().map(|(place, (item, end))| {
            let conflict = || LandingEnd::Conflict { reason: String::new() };
            let fails = item.status.is_open() && conflicts.has(id, item.attempt);
            let landing = fails.then(conflict);
            key.attempts.push(Attempt { end, item: Some(place as u16), landing, ..Attempt::default() });
            ItemState { attempt: key.attempts.len() as u32, ..item }
        });
        numbered.collect()
    };
    (key.items, key.latest_items) = (number([ended, open].concat()), number(latest));
}

/// Lets completed items with a report that another one has, too, have the first report: only their number and the reports count.
fn repeat_first(ended: &mut [(ItemState, Option<AttemptEnd>)]) {
    let is_completed = |it: &&mut (ItemState, Option<AttemptEnd>)| it.0.status == ItemStatus::Completed;
    let first = ended.iter().find(|it| it.0.status == ItemStatus::Completed).cloned();
    let mut before: Option<AttemptEnd> = None;
    for (item, end) in ended.iter_mut().filter(is_completed) {
        let report = end.clone();
        if let Some((first, of_first)) = first.as_ref().filter(|_| report == before) {
            (*item, *end) = (first.clone(), of_first.clone());
        }
        before = report;
    }
    ended.sort_by_key(order);
}

/// An item with the end of its attempt, without its text.
fn item(state: &StepState, item: &ItemState) -> (ItemState, Option<AttemptEnd>) {
    let attempt = state.attempts.get((item.attempt as usize).wrapping_sub(1));
    let end = attempt.and_then(|it| it.end.clone()).filter(|_| item.status != ItemStatus::Failed);
    let failure = item.failure.clone().map(failure);
    let attempt = if item.status.is_open() { item.attempt } else { 0 };
    (ItemState { text: String::new(), failure, attempt, ..item.clone() }, end)
}

/// Place of an item that has ended among others: by its status, its failure and its report.
fn order((item, end): &(ItemState, Option<AttemptEnd>)) -> impl Ord + use<> {
    let report = end.as_ref().and_then(AttemptEnd::report);
    let values: Vec<(String, Value)> = report.iter().flat_map(|it| it.outputs.clone().into_iter()).collect();
    let words = report.map(|it| (it.result.clone(), it.summary.clone(), it.warning.clone()));
    (item.status, item.failure == Some(StepFailure::Cap), item.lost, item.abandoned, words, values)
}
