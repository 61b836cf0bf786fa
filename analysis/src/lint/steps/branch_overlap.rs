//! B10: two steps without an order that run after the same report.

use super::B10;
use super::facts::{StepFacts, each};
use crate::missions::MissionConfigurationId;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::StepId;
use orange_core::mission::{Mission, StepStatus};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.unordered_pairs(), |(a, b)| {
        let (first, second) = (facts.step(a), facts.step(b));
        let (one, other) = (first.condition.as_ref()?, second.condition.as_ref()?);
        if !facts.is_overlap(a, b) {
            return None;
        }
        let pair = (a, b);
        let (a, b) = (&first.id.value, &second.id.value);
        let message = format!("`{a}` and `{b}` both run if {}", other.text);
        let finding = Diagnostic::new(&B10, other.span, message)
            .label(one.span, format!("of `{a}`"))
            .label(other.span, format!("of `{b}`"));
        let trace = facts.tell(both_queued(facts, pair), format!("`{a}` and `{b}` are both queued"));
        Some(finding.trace_if(trace).help(format!("let `{b}` depend on `{a}`, or correct one of the values")))
    })
}

fn both_queued(facts: &StepFacts<'_>, (a, b): (StepId, StepId)) -> Option<MissionConfigurationId> {
    let is_queued = |mission: &Mission, id: StepId| mission.step(id).status == StepStatus::Queued;
    facts.search.find(|it| is_queued(it, a) && is_queued(it, b))
}
