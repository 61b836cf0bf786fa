//! Values of a mission that conditions and prompts read.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Mission, Report};
use crate::plan::{
    Field, Operand, Plan, StepCondition, StepId, StepPiece, StepPrompt, StepSet, StepTest, ValueRef,
};

impl Mission {
    /// The value of an operand; `None` where it is not there: its step has not completed, or has not reported it.
    pub fn value(&self, plan: &Plan<'_>, of: Operand) -> Option<ValueRef<'_>> {
        match of {
            Operand::Input(input) => Some(self.inputs.get(plan.inputs.get(input.index())?.name)?.as_ref()),
            Operand::Step(step, Field::Ran) => Some(ValueRef::Bool(self.rounds(plan, step) > 0)),
            Operand::Step(step, Field::Rounds) => Some(ValueRef::Number(self.rounds(plan, step))),
            Operand::Step(step, Field::Result | Field::Summary | Field::Output(_)) => {
                self.reported(plan, of, self.step(step).latest.as_ref()?)
            }
        }
    }

    /// The value of an operand in a report of its step.
    fn reported<'m>(&self, plan: &Plan<'_>, of: Operand, report: &'m Report) -> Option<ValueRef<'m>> {
        match of {
            Operand::Step(_, Field::Result) => report.result.as_deref().map(ValueRef::Text),
            Operand::Step(_, Field::Summary) => Some(ValueRef::Text(&report.summary)),
            Operand::Step(step, Field::Output(output)) => {
                let name = plan.outputs_of(step).get(output.index())?.name;
                Some(report.outputs.get(name)?.as_ref())
            }
            Operand::Step(_, Field::Ran | Field::Rounds) | Operand::Input(_) => None,
        }
    }

    /// Answer of a test: for one value, or for those of the completed items of a fan-out.
    pub fn answer_of(&self, plan: &Plan<'_>, test: &StepTest<'_>) -> Option<bool> {
        match (test.items, test.of) {
            (Some(_), Operand::Step(step, _)) => {
                let reports = self.step(step).latest_reports();
                test.answer_of_items(reports.map(|it| self.reported(plan, test.of, it)))
            }
            (Some(_), Operand::Input(_)) | (None, _) => test.answer(self.value(plan, test.of)),
        }
    }

    /// Number of completions of a step and of its handler. Nothing resets it.
    pub fn rounds(&self, plan: &Plan<'_>, step: StepId) -> i64 {
        let steps = [Some(step), plan.step(step).on_fail];
        steps.into_iter().flatten().map(|it| i64::from(self.step(it).own_rounds())).sum()
    }

    /// True if a condition holds; without one, nothing keeps a step from running.
    pub fn holds(&self, plan: &Plan<'_>, condition: Option<StepCondition<'_>>) -> bool {
        condition.is_none_or(|it| it.holds_by(&|test| self.answer_of(plan, test)))
    }

    /// True if a condition may come to hold once these steps have run.
    pub(super) fn may_hold(
        &self,
        plan: &Plan<'_>,
        condition: Option<StepCondition<'_>>,
        steps: &StepSet,
    ) -> bool {
        condition.is_none_or(|it| {
            let is_open = |of: Operand| of.step().is_some_and(|it| steps.has(it));
            it.is_possible_by(&is_open, &|test| self.answer_of(plan, test))
        })
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
