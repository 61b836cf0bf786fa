//! B30: a test for another value, or a placeholder, reads a step that may have been skipped, and nothing says what is to happen then.

use super::B30;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Compared, ConditionTest, Expression, Field, StepId, StepPiece};
use orange_core::mission::StepStatus;
use orange_core::plan::{Operand, Relation};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let mut found = tests(facts);
    found.extend(each(facts.all(), |(id, step)| {
        step.texts().flatten().find_map(|it| placeholder(facts, id, it))
    }));
    found
}

/// A placeholder that is empty in some run, because its step was skipped.
fn placeholder(facts: &StepFacts<'_>, id: StepId, piece: &StepPiece) -> Option<Diagnostic> {
    let StepPiece::Read(Operand::Step(read, Field::Result | Field::Summary | Field::Output(_)), written) =
        piece
    else {
        return None;
    };
    if is_unknown(facts, *read) {
        return None;
    }
    let at = facts
        .search
        .find(|it| it.step(id).status == StepStatus::Completed && !it.step(*read).has_report())?;
    let (name, other) = (facts.name(id), facts.name(*read));
    let message = format!("`{{{{{}}}}}` is empty where `{other}` was skipped", written.value);
    let trace = facts.tell(Some(at), format!("`{name}` has run without a report of `{other}`"));
    let help = format!(
        "give `{name}` the condition `{other}.ran`, or write `{{{{context}}}}`, which has what was reported"
    );
    Some(Diagnostic::new(&B30, written.span, message).trace_if(trace).help(help))
}

/// True if the search does not say whether a step has run that the last round did not need.
fn is_unknown(facts: &StepFacts<'_>, id: StepId) -> bool {
    let rule = facts.plan.step(id);
    facts.search.is_coarse() && (rule.is_loop() || rule.handles.is_some())
}

fn tests(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let condition = step.condition.as_ref()?;
        let tests = condition.tests();
        let says = |of| tests.iter().any(|it| it.of == of);
        let mut negative = Vec::new();
        collect(&condition.expression, true, &mut negative);
        negative.into_iter().find_map(|test| {
            let Operand::Step(read, field) = test.of else { return None };
            let is_always_there = matches!(field, Field::Ran | Field::Rounds);
            let has_answer =
                says(Operand::Step(read, Field::Ran)) || says(Operand::Step(read, Field::Rounds));
            if is_always_there || has_answer || is_unknown(facts, read) {
                return None;
            }
            let at = facts.search.find(|it| {
                let state = it.step(read);
                it.step(id).status == StepStatus::Skipped
                    && state.status == StepStatus::Skipped
                    && !state.has_report()
            })?;
            let (name, other) = (&step.id.value, facts.name(read));
            let message =
                format!("`{name}` does not run where `{other}` was skipped: its value is not there");
            let trace = facts.tell(Some(at), format!("`{other}` and `{name}` were skipped"));
            let help = format!(
                "write `(!{other}.ran || …)` if `{name}` is to run then, or `{other}.ran && …` if not"
            );
            Some(Diagnostic::new(&B30, test.span, message).trace_if(trace).help(help))
        })
    })
}

/// The tests that hold for every value but some: `!=`, and others below `!`.
fn collect<'e>(expression: &'e Expression, is_positive: bool, found: &mut Vec<&'e ConditionTest>) {
    match expression {
        Expression::Or(parts) | Expression::And(parts) => {
            parts.iter().for_each(|it| collect(it, is_positive, found));
        }
        Expression::Not(part) => collect(part, !is_positive, found),
        Expression::Test(test) => {
            let is_unequal = matches!(test.is, Compared::Is(Relation::Unequal, _));
            if is_unequal == is_positive {
                found.push(test);
            }
        }
    }
}
