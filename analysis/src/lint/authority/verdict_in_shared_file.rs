//! CA5: reviewers in walls work side by side, and each can write the verdict of another one into the file that they share.

use orange_core::wall::{Level, WorktreeAccess};
use orange_core::{Hook, StateId};

use super::CA5;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts.states().filter_map(|(state, _)| of_state(facts, state)).collect()
}

fn of_state(facts: &Facts<'_>, state: StateId) -> Option<Diagnostic> {
    let judged = |name: &str| {
        let mut gates = facts.machine.section_gates_of(state);
        gates.any(|it| it.asks_for_verdict() && it.reviewer == Some(name))
    };
    let hooks = facts.machine.reviewers(state);
    let judges: Vec<&&Hook<'_>> = hooks.iter().filter(|it| it.reviewer().is_some_and(judged)).collect();
    let is_walled = |hook: &Hook<'_>| hook.spawn().is_some_and(|it| it.sandbox.level == Level::Wall);
    let writes =
        |hook: &Hook<'_>| hook.spawn().is_some_and(|it| it.sandbox.worktree != Some(WorktreeAccess::Read));
    if judges.len() < 2 || !judges.iter().all(|it| is_walled(it)) {
        return None;
    }
    let writer = judges.iter().find(|it| writes(it))?.reviewer()?;
    let place = facts.workflow.transitions.iter().filter(|it| it.to.value == state).flat_map(|it| &it.hooks);
    let place = place.filter_map(|hook| Some((hook.span, hook.spawn.as_ref()?.reviewer.as_ref()?)));
    let at =
        place.into_iter().find(|(_, name)| name.value == writer).map(|(span, _)| facts.first_line(span))?;
    let message = format!(
        "`{writer}` can write the verdicts of the other reviewers of `{}`: all write into one TASK.md",
        facts.name(state)
    );
    let help = "demand `sandbox: {worktree: read}` of the reviewers, and have their prompts say `{orange} task verdict PASS -`: Orange then \
                writes each verdict into the section of the reviewer that asks";
    Some(Diagnostic::new(&CA5, at, message).label(at, "it can write to the worktree").help(help))
}
