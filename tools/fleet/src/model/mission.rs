//! A mission as it is stored: only together with its plan it can be understood.

use orange_core::mission::{Mission, StepFailure};
use orange_core::plan::{Plan, StepId};

use super::UnreadableText;

/// The mission of this text.
///
/// # Errors
/// It is of a newer version, is not a mission, or is a mission of another plan.
pub fn read(text: &str, plan: &Plan<'_>) -> Result<Mission, UnreadableText> {
    let mission: Mission = super::read(text)?;
    if mission.steps.len() != plan.steps.len() {
        let (has, plan) = (mission.steps.len(), plan.steps.len());
        return Err(UnreadableText::Broken(format!("the mission has {has} steps, and its plan {plan}")));
    }
    match named(&mission).into_iter().find(|step| step.index() >= plan.steps.len()) {
        Some(StepId(step)) => Err(UnreadableText::Broken(format!(
            "the mission names step {step}, which its plan does not have"
        ))),
        None => Ok(mission),
    }
}

/// The steps that crabs may start now, with the numbers of their attempts. Persons do the other ones.
pub fn work(plan: &Plan<'_>, mission: &Mission) -> impl Iterator<Item = (StepId, u32)> {
    mission.offerable(plan).filter(|(step, _)| !plan.step(*step).is_ask())
}

/// Every step that a mission names by its number.
fn named(mission: &Mission) -> Vec<StepId> {
    let mut named = Vec::new();
    for step in &mission.steps {
        named.extend(step.sent_back_by);
        if let Some(StepFailure::Because(cause)) = step.failure {
            named.push(cause);
        }
    }
    named.extend(mission.questions.iter().filter_map(|it| it.reason.step()));
    named
}
