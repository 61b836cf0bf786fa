//! B37: while an ask shows the changes, steps that could work do not.

use super::B37;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{StepId, WorktreeUse};
use orange_core::mission::{Mission, StepStatus};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let shows = |step: StepId| facts.plan.step(step).ask.is_some_and(|it| it.shows_diff);
    each(facts.all().filter(|(id, _)| shows(*id)), |(id, step)| {
        let works = |other: &StepId| {
            let rule = facts.plan.step(*other);
            let writes = rule.worktree == WorktreeUse::Write && !rule.is_ask();
            writes && rule.handles.is_none() && rule.on_fail != Some(id)
        };
        let is_beside = |other: &StepId| !facts.waits_for(id, *other) && !facts.waits_for(*other, id);
        let waits = |other: &StepId| {
            let holds = |it: &Mission| {
                it.step(id).status == StepStatus::Asked && it.step(*other).status == StepStatus::Queued
            };
            facts.search.is_cut() || facts.search.find(holds).is_some()
        };
        let held = facts.plan.step_ids().filter(|it| *it != id).filter(works).filter(is_beside).filter(waits);
        let held: Vec<String> = held.map(|it| format!("`{}`", facts.name(it))).collect();
        if held.is_empty() {
            return None;
        }
        let message = format!(
            "while `{}` shows the changes to a person, {} do not work",
            step.id.value,
            held.join(", ")
        );
        let message =
            if held.len() == 1 { message.replace(" do not work", " does not work") } else { message };
        let help =
            "add `show = [\"context\"]` if the answer needs no changes, or order the steps with `depends_on`";
        Some(Diagnostic::new(&B37, step.id.span, message).help(help))
    })
}
