//! B29: a step fixes what another one has refused, and the mission completes without a second judgement.

use super::B29;
use super::facts::{StepFacts, each};
use super::orders::orders_a_fix;
use crate::missions::MissionConfigurationId;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Equality, Field, Permissions, Step, StepId};
use orange_codegen::span::Span;
use orange_core::mission::{Mission, MissionStatus, StepStatus};

/// Beginnings of results that refuse work. What other words mean, such as `SMALL` or `RISKY`, only their author knows.
const REFUSING: [&str; 8] = ["fail", "reject", "refuse", "changes", "rework", "revise", "needs", "fix"];

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let (span, condition) = on_result(step).filter(|(_, it)| is_refusing(it.value.value))?;
        // `max_retries = 0` has a finding of its own.
        let may_fix = step.max_retries.is_none() && step.permissions == Permissions::Full;
        if !may_fix || !orders_a_fix(step) {
            return None;
        }
        let (skipped, accepting) = accepting(facts, &condition)?;
        let at = completed_without_judge(facts, id, &condition, skipped)?;
        let (name, judge, skipped) = (&step.id.value, facts.name(condition.step.value), facts.name(skipped));
        let message = format!(
            "`{judge}` does not judge again after `{name}`: the mission completes without `{skipped}`"
        );
        let finding = Diagnostic::new(&B29, span, message)
            .label(span, format!("`{name}` runs after `{}`", condition.value.value))
            .label(accepting, format!("`{skipped}` is skipped then"));
        let trace = facts.tell(Some(at), format!("`{skipped}` was skipped"));
        let help = format!("write how often `{judge}` judges again, such as `max_retries = 2`, in `{name}`");
        Some(finding.trace_if(trace).help(help))
    })
}

/// The place of a condition that is one comparison of a result, and its parts.
fn on_result(step: &Step) -> Option<(Span, Equality<'_>)> {
    let condition = step.condition.as_ref()?;
    Some((condition.span, condition.equality().filter(|it| it.field == Field::Result)?))
}

fn is_refusing(result: &str) -> bool {
    let result = result.to_ascii_lowercase();
    REFUSING.iter().any(|it| result.starts_with(it))
}

/// The step that runs after another result of the same step, with the place of its condition.
fn accepting(facts: &StepFacts<'_>, condition: &Equality<'_>) -> Option<(StepId, Span)> {
    let mut others = facts.all().filter_map(|(id, step)| Some((id, on_result(step)?)));
    let found =
        others.find(|(_, (_, it))| it.step.value == condition.step.value && !is_refusing(it.value.value));
    found.map(|(id, (span, _))| (id, span))
}

/// First mission that completes after the fix, with the result that asked for it. A step that goes on with the fix alone, or judges it,
/// shows that its author has thought of what follows.
fn completed_without_judge(
    facts: &StepFacts<'_>,
    fixing: StepId,
    condition: &Equality<'_>,
    skipped: StepId,
) -> Option<MissionConfigurationId> {
    let goes_on = |it: &Mission, id: StepId| {
        it.step(id).status == StepStatus::Completed
            && facts.waits_for(id, fixing)
            && (!facts.waits_for(id, skipped) || !facts.plan.results_of(id).is_empty())
    };
    facts.search.find(|it| {
        let judged = it.step(condition.step.value).latest.as_ref();
        it.status == MissionStatus::Completed
            && it.step(fixing).status == StepStatus::Completed
            && it.step(skipped).status == StepStatus::Skipped
            && judged.is_some_and(|it| it.result.as_deref() == Some(condition.value.value))
            && !facts.plan.step_ids().any(|id| goes_on(it, id))
    })
}
