//! Values of a mission that conditions and prompts read.

use alloc::string::String;
use alloc::vec::Vec;

use super::{AttemptEnd, Mission};
use crate::plan::{Field, Operand, Plan, StepCondition, StepId, StepPiece, StepPrompt, StepSet, ValueRef};

impl Mission {
    /// The value of an operand; `None` where it is not there: its step has not completed, or has not reported it.
    pub fn value(&self, plan: &Plan<'_>, of: Operand) -> Option<ValueRef<'_>> {
        match of {
            Operand::Input(input) => Some(self.inputs.get(plan.inputs.get(input.index())?.name)?.as_ref()),
            Operand::Step(step, Field::Ran) => Some(ValueRef::Bool(self.rounds(plan, step) > 0)),
            Operand::Step(step, Field::Rounds) => Some(ValueRef::Number(self.rounds(plan, step))),
            Operand::Step(step, Field::Result) => {
                self.step(step).latest.as_ref()?.result.as_deref().map(ValueRef::Text)
            }
            Operand::Step(step, Field::Summary) => {
                Some(ValueRef::Text(&self.step(step).latest.as_ref()?.summary))
            }
            Operand::Step(step, Field::Output(output)) => {
                let name = plan.outputs_of(step).get(output.index())?.name;
                Some(self.step(step).latest.as_ref()?.outputs.get(name)?.as_ref())
            }
        }
    }

    /// Number of completions of a step and of its handler. Nothing resets it.
    pub fn rounds(&self, plan: &Plan<'_>, step: StepId) -> i64 {
        let steps = [Some(step), plan.step(step).on_fail];
        let attempts = steps.into_iter().flatten().flat_map(|it| &self.step(it).attempts);
        attempts.filter(|it| matches!(it.end, Some(AttemptEnd::Completed(_)))).count() as i64
    }

    /// True if a condition holds; without one, nothing keeps a step from running.
    pub fn holds(&self, plan: &Plan<'_>, condition: Option<StepCondition<'_>>) -> bool {
        condition.is_none_or(|it| it.holds(&|of| self.value(plan, of)))
    }

    /// True if a condition may come to hold once these steps have run.
    pub(super) fn may_hold(
        &self,
        plan: &Plan<'_>,
        condition: Option<StepCondition<'_>>,
        steps: &StepSet,
    ) -> bool {
        condition.is_none_or(|it| it.may_hold(steps, &|of| self.value(plan, of)))
    }

    /// Values of the operands that a prompt has, as text.
    pub fn reads(&self, plan: &Plan<'_>, prompt: &StepPrompt<'_>) -> Vec<(Operand, String)> {
        let operands = prompt.pieces.iter().filter_map(|piece| match piece {
            StepPiece::Read(operand) => Some(*operand),
            StepPiece::Text(_) | StepPiece::Value(_) => None,
        });
        operands.filter_map(|it| Some((it, self.value(plan, it)?.text()))).collect()
    }
}
