//! The answer to a transition.

use crate::flow::definition::changed_story;
use crate::store::event::Cause;
use crate::store::{Event, Record};
use crate::store::{WorkItem, WorkItemHistory};
use orange_api::{TransitionResult, WorkflowChange};

/// The result of the transition that was begun or goes on with this sequence number, by the journal.
pub fn read(id: &str, records: &[Record], started: u64) -> TransitionResult {
    let mut result = TransitionResult { id: id.to_owned(), ..TransitionResult::default() };
    let is_end =
        |record: &&Record| matches!(record.event, Event::StatusChanged { .. } | Event::HooksWaiting { .. });
    // The transition that follows a failed hook begins in the same write, and its end is the end of both.
    let goes_on = |close: &Record| {
        let next = records.iter().find(|record| record.seq == close.seq + 2).map(|record| &record.event);
        matches!(next, Some(Event::TransitionStarted(plan)) if plan.cause == Cause::HookFailed)
    };
    let close = records.iter().find(|record| record.seq > started && is_end(record) && !goes_on(record));
    let until = close.map_or(u64::MAX, |close| close.seq);
    let so_far = || records.iter().filter(|record| record.seq <= until);
    for record in so_far().filter(|record| record.seq >= started) {
        add(&mut result, &record.event);
    }
    result.workflow_changed = changed_before(records, started);
    result.review_round = WorkItemHistory::fold(so_far()).owned.counter("review_round");
    result
}

/// The result of a transition about to begin after these records.
pub fn beginning(records: &[Record]) -> TransitionResult {
    TransitionResult { workflow_changed: changed_before(records, u64::MAX), ..TransitionResult::default() }
}

/// The result without a transition.
pub fn staying(task: &WorkItem) -> TransitionResult {
    let (id, status) = (task.id.clone(), task.status());
    let review_round = task.counter("review_round");
    TransitionResult {
        id,
        from: status.to_owned(),
        to: status.to_owned(),
        review_round,
        ..TransitionResult::default()
    }
}

fn add(result: &mut TransitionResult, event: &Event) {
    if let Event::TransitionStarted(plan) = event {
        if result.from.is_empty() {
            result.from.clone_from(&plan.from);
        }
        result.to.clone_from(&plan.to);
    }
    if let Event::HooksRetried { from, to, .. } = event {
        result.from.clone_from(from);
        result.to.clone_from(to);
    }
    if let Event::HooksWaiting { hook, left, .. } = event {
        result.hooks_waiting = std::iter::once(hook).chain(left).cloned().collect();
    }
    if let Event::HookEnded { hook, error, .. } = event {
        result.hooks.push(hook.clone());
        result.hook_errors.extend(error.iter().map(|error| format!("{hook}: {error}")));
    }
    if let Event::WorkBackedUp { reference: kept, .. } | Event::WorkSetAside { folder: kept } = event
        && !result.backed_up.contains(kept)
    {
        result.backed_up.push(kept.clone());
    }
}

/// The answer for people.
pub fn text(result: &TransitionResult) -> String {
    let would = if result.dry_run { "would go " } else { "" };
    let mut text = format!("{would}{} → {}", result.from, result.to);
    if !result.hooks.is_empty() {
        text += &format!("  [{}]", result.hooks.join(", "));
    }
    for program in &result.asks {
        text += &format!("\nif `{program}` succeeds, which is asked then");
    }
    for reference in &result.backed_up {
        text += &format!("\nwork is kept in {reference}");
    }
    if let Some(WorkflowChange { workflow, compare, .. }) = &result.workflow_changed {
        text += &format!("\n{}", changed_story(workflow, compare));
    }
    for error in &result.hook_errors {
        text += &format!("\nattention: {error}");
    }
    if !result.hooks_waiting.is_empty() {
        let (hooks, id) = (result.hooks_waiting.join(", "), &result.id);
        text += &format!(
            "\nthese hooks wait: {hooks}; mend what failed, then `orange task update {id} --retry-hooks`"
        );
    }
    text
}

/// The change of the workflow to report with this transition: the last one since the transition or migration before.
fn changed_before(records: &[Record], started: u64) -> Option<WorkflowChange> {
    let before = records.iter().rev().skip_while(|record| record.seq >= started);
    let moves = |event: &Event| matches!(event, Event::StatusChanged { .. } | Event::TaskMigrated { .. });
    let since = before.take_while(|record| !moves(&record.event));
    since.filter_map(|record| changed(&record.event)).next()
}

fn changed(event: &Event) -> Option<WorkflowChange> {
    let Event::WorkflowChanged { workflow, from, to, compare } = event.clone() else { return None };
    Some(WorkflowChange { workflow, from, to, compare })
}
