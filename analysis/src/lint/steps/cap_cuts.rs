//! B3A: some missions reach the cap, and others complete.

use super::B3A;
use super::cap_too_low::is_capped;
use super::facts::StepFacts;
use orange_codegen::diag::Diagnostic;
use orange_core::mission::{Mission, MissionStatus};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let Some(cap) = facts.steps.max_attempts else { return Vec::new() };
    let completes = |it: &Mission| it.status == MissionStatus::Completed;
    let Some(at) = facts.search.find(is_capped).filter(|_| facts.search.find(completes).is_some()) else {
        return Vec::new();
    };
    let message = format!("some missions need more than {} attempts", cap.value);
    let trace = facts.tell(Some(at), "no attempt is left".to_owned());
    let finding = Diagnostic::new(&B3A, cap.span, message).trace_if(trace);
    vec![finding.help("at the cap, a mission pauses and asks whether it goes on; without pauses, it fails")]
}
