//! Consequences of the end of a step for the others: each blocked step is queued, skipped, failed, or waits.

use super::cap::CapVerdict;
use super::{Mission, PauseReason, StepFailure, StepStatus};
use crate::plan::{Plan, StepId};

/// Decision about a blocked step.
enum StepVerdict {
    Waits,
    Fails(StepId),
    Runs,
    Skipped,
    Exhausted,
}

/// State of a dependency, as those that wait for it see it.
pub(super) enum DependencyState {
    Open,
    Satisfied,
    Failed,
}

impl Mission {
    /// Decides blocked steps until nothing changes. Stops at a loop step whose loop is exhausted, if a person is to be asked. Gives the
    /// question for a person, if there is one.
    pub(super) fn cascade(&mut self, plan: &Plan<'_>) -> Option<PauseReason> {
        let mut waits_for_attempt = None;
        // Handlers are taken first: what they report can turn a condition.
        plan.step_ids().for_each(|id| self.take_handler(plan, id, &mut waits_for_attempt));
        loop {
            let mut has_changed = false;
            for id in plan.order.iter().copied() {
                if self.step(id).status != StepStatus::Blocked {
                    continue;
                }
                match self.decide(plan, id) {
                    StepVerdict::Waits => continue,
                    StepVerdict::Fails(cause) => self.give_up(id, StepFailure::Because(cause)),
                    StepVerdict::Runs => match self.take_attempts_or_ask(plan, id) {
                        CapVerdict::Given => self.queue(plan, id),
                        CapVerdict::Fails => self.give_up(id, StepFailure::Cap),
                        CapVerdict::Waits => {
                            waits_for_attempt = waits_for_attempt.or(Some(id));
                            continue;
                        }
                    },
                    StepVerdict::Skipped => self.step_mut(id).status = StepStatus::Skipped,
                    StepVerdict::Exhausted if self.pauses_at_errors() && self.has_open_question() => {
                        return None;
                    }
                    StepVerdict::Exhausted => {
                        let completions = self.step(id).completions;
                        self.give_up(id, StepFailure::Exhausted(completions));
                        self.step_mut(id).is_exhausted = true;
                        if self.pauses_at_errors() {
                            return Some(PauseReason::Exhausted(id));
                        }
                        self.take_handler(plan, id, &mut waits_for_attempt);
                    }
                }
                has_changed = true;
            }
            if !has_changed && (waits_for_attempt.is_some() || !self.break_standoff(plan)) {
                return self.question_of_cap(waits_for_attempt);
            }
        }
    }

    fn decide(&self, plan: &Plan<'_>, id: StepId) -> StepVerdict {
        if let Some(failed) = plan.step(id).handles {
            return self.decide_handler(plan, id, failed);
        }
        let step = plan.step(id);
        let failed = |it: &&StepId| matches!(self.dependency(plan, **it), DependencyState::Failed);
        if let Some(cause) = step.depends_on.iter().find(failed) {
            return StepVerdict::Fails(*cause);
        }
        if !step.depends_on.iter().all(|it| matches!(self.dependency(plan, *it), DependencyState::Satisfied))
        {
            return StepVerdict::Waits;
        }
        match self.holds(plan, step.condition) && self.has_list(plan, id) {
            true if step.is_loop() && !self.has_rounds_left(plan, id) => StepVerdict::Exhausted,
            true => StepVerdict::Runs,
            false if self.can_still_run(plan, id) => StepVerdict::Waits,
            false => StepVerdict::Skipped,
        }
    }

    /// Queues the handler of a step that has failed, unless a person is asked about that.
    fn take_handler(&mut self, plan: &Plan<'_>, id: StepId, waits_for_attempt: &mut Option<StepId>) {
        let Some(handler) = plan.step(id).on_fail.filter(|_| !self.is_asked_about(id)) else { return };
        let state = self.step(id);
        let is_open = state.status == StepStatus::Failed && state.takes_handler() && !state.is_handled;
        if !is_open || !matches!(self.step(handler).status, StepStatus::Blocked | StepStatus::Skipped) {
            return;
        }
        match self.take_attempts_or_ask(plan, handler) {
            CapVerdict::Given => self.queue(plan, handler),
            CapVerdict::Fails => self.give_up(handler, StepFailure::Cap),
            CapVerdict::Waits => {
                self.step_mut(handler).status = StepStatus::Blocked;
                *waits_for_attempt = waits_for_attempt.or(Some(handler));
            }
        }
    }

    fn decide_handler(&self, plan: &Plan<'_>, id: StepId, handled: StepId) -> StepVerdict {
        let is_decided = self.step(handled).status.is_terminal() && !self.is_asked_about(handled);
        match !is_decided || self.can_still_run(plan, id) {
            true => StepVerdict::Waits,
            false => StepVerdict::Skipped,
        }
    }

    /// State of a step as a dependency, for those that wait for it.
    pub(super) fn dependency(&self, plan: &Plan<'_>, id: StepId) -> DependencyState {
        let state = self.step(id);
        match state.status {
            StepStatus::Completed | StepStatus::Skipped => DependencyState::Satisfied,
            StepStatus::Failed if state.is_handled => DependencyState::Satisfied,
            StepStatus::Failed if self.is_asked_about(id) || self.awaits_handler(plan, id) => {
                DependencyState::Open
            }
            StepStatus::Failed | StepStatus::Cancelled => DependencyState::Failed,
            StepStatus::Blocked
            | StepStatus::Queued
            | StepStatus::Assigned
            | StepStatus::Running
            | StepStatus::Asked => DependencyState::Open,
        }
    }

    /// True if a step has failed and its handler has not ended.
    pub(super) fn awaits_handler(&self, plan: &Plan<'_>, id: StepId) -> bool {
        let (state, handler) = (self.step(id), plan.step(id).on_fail);
        let is_open = |it: StepId| !self.step(it).status.is_terminal() || self.is_asked_about(it);
        state.status == StepStatus::Failed
            && state.takes_handler()
            && !state.is_handled
            && handler.is_some_and(is_open)
    }

    /// True if a person is being asked about the failure of this step.
    pub(super) fn is_asked_about(&self, id: StepId) -> bool {
        self.asked_steps().any(|step| step == id)
    }

    /// True if a loop step may complete once more.
    pub(super) fn has_rounds_left(&self, plan: &Plan<'_>, id: StepId) -> bool {
        let state = self.step(id);
        u32::from(state.completions) < u32::from(plan.step(id).max_retries) + u32::from(state.granted)
    }

    fn give_up(&mut self, id: StepId, failure: StepFailure) {
        let state = self.step_mut(id);
        state.status = StepStatus::Failed;
        state.failure = Some(failure);
    }

    /// Skips the first blocked step whose dependencies have ended, where steps wait for one another: two loops, each of which
    /// could send back what the other waits for. `false` if something can happen without that.
    fn break_standoff(&mut self, plan: &Plan<'_>) -> bool {
        if !self.questions.is_empty() || self.steps.iter().any(|it| it.status.is_active()) {
            return false;
        }
        let is_satisfied = |it: &StepId| matches!(self.dependency(plan, *it), DependencyState::Satisfied);
        let waits_for_a_loop = |id: &&StepId| {
            let step = plan.step(**id);
            self.step(**id).status == StepStatus::Blocked
                && step.handles.is_none()
                && step.depends_on.iter().all(is_satisfied)
        };
        let first = plan.order.iter().find(waits_for_a_loop).copied();
        if let Some(id) = first {
            self.step_mut(id).status = StepStatus::Skipped;
        }
        first.is_some()
    }
}
