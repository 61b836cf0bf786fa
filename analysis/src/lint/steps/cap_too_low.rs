//! B39: no mission completes within the cap.

use super::B39;
use super::facts::StepFacts;
use orange_codegen::diag::Diagnostic;
use orange_core::mission::{Mission, MissionStatus, StepFailure};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let Some(cap) = facts.steps.max_attempts.filter(|_| !facts.search.is_cut()) else { return Vec::new() };
    let completes = |it: &Mission| it.status == MissionStatus::Completed;
    let Some(at) = facts.search.find(is_capped).filter(|_| facts.search.find(completes).is_none()) else {
        return Vec::new();
    };
    let most = cap.value;
    let message = format!("no mission completes within {most} attempt{}", if most == 1 { "" } else { "s" });
    let trace = facts.tell(Some(at), "no attempt is left".to_owned());
    let finding = Diagnostic::new(&B39, cap.span, message).trace_if(trace);
    vec![finding.help("write a larger `max_attempts`, or leave it out: loops have a bound of their own")]
}

/// True if a step needs an attempt, and the mission has none left.
pub(super) fn is_capped(mission: &Mission) -> bool {
    mission.steps.iter().any(|it| it.failure == Some(StepFailure::Cap))
}
