//! B09: a report with which none of the steps runs that read it, and the mission goes on without them.

use std::collections::BTreeSet;

use super::B09;
use super::facts::{StepFacts, each};
use crate::missions::{MissionAct, MissionConfigurationId};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Field, StepCondition, StepId};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let read: BTreeSet<StepId> =
        facts.plan.steps.iter().filter_map(|it| it.condition).map(|it| it.step).collect();
    each(read, |read| {
        let readers: Vec<&StepCondition> = readers(facts, read).collect();
        let first = readers.first()?;
        // Steps that all run after the same word are left out on purpose after the others.
        if readers.iter().all(|it| it.value.value == first.value.value) {
            return None;
        }
        let declared = facts.plan.results_of(read);
        let is_read = |value: &str| readers.iter().any(|it| it.value.value == value);
        let unread = declared.iter().find(|it| !is_read(it));
        let name = facts.name(read);
        let (values, help) = match unread {
            Some(value) => {
                let other = format!("add a step for `{value}`, or delete it from `results` of `{name}`");
                (format!("`{value}`"), other)
            }
            None if declared.is_empty() => {
                let help = format!("add `results = [\"…\"]` to `{name}`, with the words that it may report");
                ("another word".to_owned(), help)
            }
            None => return None,
        };
        let message = format!("if `{name}` reports {values}, none of the steps that read it runs");
        let finding = Diagnostic::new(&B09, first.span, message);
        let labelled = readers.iter().fold(finding, |finding, reader| {
            finding.label(reader.span, format!("runs after `{}`", reader.value.value))
        });
        let trace =
            facts.tell(unread_report(facts, read, is_read), format!("no step that reads `{name}` runs"));
        Some(labelled.trace_if(trace).help(help))
    })
}

/// First configuration in which the step has reported a word that no condition reads.
fn unread_report(
    facts: &StepFacts<'_>,
    read: StepId,
    is_read: impl Fn(&str) -> bool,
) -> Option<MissionConfigurationId> {
    let reports = |act: &MissionAct| match act {
        MissionAct::Complete(step, report) => {
            *step == read && report.result.as_deref().is_some_and(|it| !is_read(it))
        }
        MissionAct::Fail(..)
        | MissionAct::Lose(_)
        | MissionAct::Continue(_)
        | MissionAct::Retry(_)
        | MissionAct::Cancel => false,
    };
    facts.search.edges().iter().find(|edge| reports(&edge.act)).map(|edge| edge.to)
}

/// The conditions that read the result of this step.
fn readers<'f>(facts: &StepFacts<'f>, read: StepId) -> impl Iterator<Item = &'f StepCondition> {
    let conditions = facts.all().filter_map(|(_, step)| step.condition.as_ref());
    conditions.filter(move |it| it.step.value == read && it.field == Field::Result)
}
