//! B09: a report with which none of the steps runs that read it, and the mission goes on without them.

use std::collections::BTreeSet;

use super::B09;
use super::facts::{StepFacts, each};
use crate::missions::{MissionAct, MissionConfigurationId};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Field, StepCondition, StepId};
use orange_core::mission::Report;
use orange_core::plan::{self, Operand, Value, ValueType};

/// A step that reads a value, and which of the values it runs after.
struct ValueReader<'f> {
    condition: &'f StepCondition,
    accepts: Vec<bool>,
}

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let conditions = facts.plan.steps.iter().filter_map(|it| it.condition);
    let read: BTreeSet<Operand> = conditions.flat_map(|it| it.tests()).map(|it| it.of).collect();
    each(read, |of| {
        let Operand::Step(step, field) = of else { return None };
        let values = values(facts, step, field)?;
        let readers: Vec<ValueReader<'_>> = readers(facts, of, &values).collect();
        let first = readers.first()?;
        // Steps that all run after the same values are left out on purpose after the others.
        if readers.iter().all(|it| it.accepts == first.accepts) {
            return None;
        }
        let unread = (0..values.len()).find(|at| readers.iter().all(|it| !it.accepts[*at]))?;
        let name = facts.name(step);
        let declared = facts.plan.results_of(step);
        let is_other = field == Field::Result && declared.is_empty();
        let value = values[unread].text();
        let key = if facts.step(step).is_ask() { "answers" } else { "results" };
        let (shown, help) = match field {
            Field::Result if is_other => (
                "another word".to_owned(),
                format!("add `results = [\"…\"]` to `{name}`, with the words that it may report"),
            ),
            Field::Result => (
                format!("`{value}`"),
                format!("add a step for `{value}`, or delete it from `{key}` of `{name}`"),
            ),
            Field::Output(_) | Field::Summary | Field::Ran | Field::Rounds => (
                format!("`{value}` as `{}`", facts.plan.field_name(step, field)),
                format!("add a step for `{value}`, or let a condition accept it"),
            ),
        };
        let message = format!("if `{name}` reports {shown}, none of the steps that read it runs");
        let finding = Diagnostic::new(&B09, first.condition.span, message);
        let labelled = readers.iter().fold(finding, |finding, reader| {
            let accepted = values.iter().zip(&reader.accepts).filter(|it| *it.1).map(|it| it.0.text());
            let accepted: Vec<String> = accepted.map(|it| format!("`{it}`")).collect();
            finding.label(reader.condition.span, format!("runs after {}", accepted.join(", ")))
        });
        let reported = |report: &Report| match field {
            Field::Result if is_other => {
                report.result.as_deref().is_some_and(|it| values.iter().all(|known| known.text() != it))
            }
            Field::Result => report.result.as_deref() == Some(value.as_str()),
            Field::Output(_) | Field::Summary | Field::Ran | Field::Rounds => {
                report.outputs.get(facts.plan.field_name(step, field)) == Some(&values[unread])
            }
        };
        let trace =
            facts.tell(unread_report(facts, step, reported), format!("no step that reads `{name}` runs"));
        Some(labelled.trace_if(trace).help(help))
    })
}

/// The values that a step may report there; the empty word stands for those of an open result that no condition names.
fn values(facts: &StepFacts<'_>, step: StepId, field: Field) -> Option<Vec<Value>> {
    let texts = |words: &[&str]| words.iter().map(|it| Value::Text((*it).to_owned())).collect();
    match field {
        Field::Result => Some(match facts.plan.results_of(step) {
            [] => {
                let tests = facts.all().filter_map(|(_, it)| it.condition.as_ref()).flat_map(|it| it.tests());
                let of_it = tests.filter(|it| it.of == Operand::Step(step, field));
                let named: BTreeSet<&str> =
                    of_it.flat_map(|it| it.words()).map(|it| it.value).filter(|it| !it.is_empty()).collect();
                named.into_iter().chain([""]).map(|it| Value::Text(it.to_owned())).collect()
            }
            declared => texts(declared),
        }),
        Field::Output(output) => match facts.plan.outputs_of(step).get(output.index())?.kind {
            ValueType::Words(words) => Some(texts(words)),
            ValueType::Bool => Some(vec![Value::Bool(true), Value::Bool(false)]),
            ValueType::Text | ValueType::Number { .. } | ValueType::List { .. } => None,
        },
        Field::Summary | Field::Ran | Field::Rounds => None,
    }
}

/// First configuration in which the step has reported what no condition accepts.
fn unread_report(
    facts: &StepFacts<'_>,
    read: StepId,
    is_unread: impl Fn(&Report) -> bool,
) -> Option<MissionConfigurationId> {
    let reports = |act: &MissionAct| match act {
        MissionAct::Complete(step, report) => *step == read && is_unread(report),
        MissionAct::Answer(step, answer) => {
            let report = Report { result: Some(answer.word.clone()), ..Report::default() };
            *step == read && is_unread(&report)
        }
        MissionAct::Fail(..)
        | MissionAct::Conflict(..)
        | MissionAct::Lose(_)
        | MissionAct::Expire(_)
        | MissionAct::Continue(_)
        | MissionAct::Retry(_)
        | MissionAct::Cancel => false,
    };
    facts.search.edges().iter().find(|edge| reports(&edge.act)).map(|edge| edge.to)
}

/// The conditions that read this value, with those of its values with which they may hold.
fn readers<'f>(
    facts: &StepFacts<'f>,
    of: Operand,
    values: &[Value],
) -> impl Iterator<Item = ValueReader<'f>> {
    let accepts = move |condition: &plan::StepCondition<'_>| -> Vec<bool> {
        let holds = |value: &Value| condition.is_possible(&|it| it != of, &|_| Some(value.as_ref()));
        values.iter().map(holds).collect()
    };
    facts.all().filter_map(move |(id, step)| {
        let condition = step.condition.as_ref().filter(|it| it.tests().iter().any(|test| test.of == of))?;
        Some(ValueReader { condition, accepts: accepts(&facts.plan.step(id).condition?) })
    })
}
