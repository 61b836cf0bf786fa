//! B38: where nobody answers an ask, an answer counts that lets steps start.

use super::B38;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_core::plan::{Field, Operand, StepId, ValueRef};

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let word = step.ask.as_ref()?.on_timeout.as_ref()?;
        let of = Operand::Step(id, Field::Result);
        let starts = |other: &StepId| {
            let rule = facts.plan.step(*other);
            let may_hold = |condition: &orange_core::plan::StepCondition<'_>| {
                condition.is_possible(&|it| it != of, &|_| Some(ValueRef::Text(&word.value)))
            };
            rule.depends_on.contains(&id) && rule.condition.as_ref().is_none_or(may_hold)
        };
        let started = facts.plan.step_ids().find(starts)?;
        let (name, started) = (&step.id.value, facts.name(started));
        let message =
            format!("if nobody answers `{name}` in time, `{}` counts, and `{started}` may start", word.value);
        let help = "write `on_timeout = \"fail\"`, or an answer after which nothing starts";
        Some(Diagnostic::new(&B38, word.span, message).help(help))
    })
}
