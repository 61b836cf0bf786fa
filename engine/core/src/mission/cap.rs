//! The cap: `max_attempts` of a plan, the most attempts that a mission gives out without a person.

use super::{Mission, PauseReason};
use crate::plan::{Plan, Step, StepId};

/// Attempts that a mission may still give out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cap {
    /// Number of attempts that are left.
    pub left: u32,
    /// A person has decided that none is left.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub is_final: bool,
}

/// Decision about a step that needs an attempt.
pub(super) enum CapVerdict {
    /// It has one.
    Given,
    /// It waits until a person has answered.
    Waits,
    /// Its step fails.
    Fails,
}

impl Cap {
    /// The cap of a mission that has not begun.
    pub(super) fn of(plan: &Plan<'_>) -> Option<Cap> {
        plan.max_attempts.map(|left| Cap { left, is_final: false })
    }
}

impl Mission {
    /// Takes so many attempts of those that are left, or none. `false` if fewer are left.
    pub(super) fn take_attempts(&mut self, number: u32) -> bool {
        let Some(cap) = &mut self.cap else { return true };
        match cap.left.checked_sub(number) {
            Some(left) if !cap.is_final => {
                cap.left = left;
                true
            }
            Some(_) | None => false,
        }
    }

    /// Takes the attempts of a step that is to be queued: of a fan-out all of them. One that asks a person needs none.
    pub(super) fn take_attempts_or_ask(&mut self, plan: &Plan<'_>, step: StepId) -> CapVerdict {
        if plan.step(step).is_ask() {
            return CapVerdict::Given;
        }
        let is_final = self.cap.is_some_and(|it| it.is_final);
        match self.take_attempts(self.attempts_needed(plan, step)) {
            true => CapVerdict::Given,
            false if is_final || !self.pauses_at_errors() => CapVerdict::Fails,
            false => CapVerdict::Waits,
        }
    }

    /// Grants as many attempts again as the plan allows. Those that were too few for a fan-out stay.
    pub(super) fn extend_cap(&mut self, plan: &Plan<'_>) {
        let left = self.cap.filter(|_| plan.steps.iter().any(Step::is_fan_out)).map_or(0, |it| it.left);
        self.cap = Cap::of(plan).map(|it| Cap { left: it.left.saturating_add(left), ..it });
    }

    /// Lets no attempt be given out any more.
    pub(super) fn close_cap(&mut self) {
        if let Some(cap) = &mut self.cap {
            *cap = Cap { left: 0, is_final: true };
        }
    }

    /// The question about this step, which waits for an attempt, unless others are to be answered first.
    pub(super) fn question_of_cap(&self, waiting: Option<StepId>) -> Option<PauseReason> {
        waiting.filter(|_| !self.has_open_question()).map(PauseReason::Cap)
    }
}
