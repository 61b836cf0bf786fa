//! B34: a fan-out of writers, whose items work one after the other.

use super::B34;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::WorktreeUse;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let fan_out = step.fan_out.as_ref()?;
        if step.worktree.value != WorktreeUse::Write || facts.plan.most_items(id) < 2 {
            return None;
        }
        let name = &step.id.value;
        let message = format!("the items of `{name}` write in one worktree, and work one after the other");
        let help = "add `read_only = true` if they only read";
        Some(Diagnostic::new(&B34, fan_out.span, message).help(help))
    })
}
