//! B49: the runs of these steps are not searched, so that the checks which look at runs find nothing.

use super::B49;
use super::facts::StepFacts;
use crate::missions::follows;
use orange_codegen::diag::Diagnostic;
use orange_core::plan::WorktreeUse;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    if follows(facts.plan) {
        return Vec::new();
    }
    let message = "no run of these steps was looked at: the search does not follow readers and fan-outs";
    let found = Diagnostic::new(&B49, facts.steps.name.span, message);
    let first = facts.all().find(|(id, _)| {
        let rule = facts.plan.step(*id);
        rule.is_fan_out() || rule.worktree != WorktreeUse::Write
    });
    let found = match first {
        Some((_, step)) => found.label(step.id.span, "the first such step"),
        None => found,
    };
    vec![found.help("try it with `orange-workflow simulate`; the other checks hold")]
}
