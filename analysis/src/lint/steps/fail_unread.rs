//! B31: a program may complete with `FAIL`, and no condition reads its result.

use super::B31;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_core::Verdict;
use orange_core::plan::{Field, Operand};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all().filter(|(_, step)| step.is_program()), |(id, step)| {
        let fail = step.results.iter().find(|it| it.value == Verdict::FAIL.as_str())?;
        let tests = facts.plan.steps.iter().filter_map(|it| it.condition.as_ref()).flat_map(|it| it.tests());
        if tests.into_iter().any(|it| it.of == Operand::Step(id, Field::Result)) {
            return None;
        }
        let name = &step.id.value;
        let message =
            format!("`{name}` completes with `FAIL` where its program says no, and no step reads that");
        let finding = Diagnostic::new(&B31, fail.span, message);
        Some(finding.help(format!(
            "give a step the condition `{name}.result == 'FAIL'`, or delete `FAIL` here: then `{name}` fails"
        )))
    })
}
