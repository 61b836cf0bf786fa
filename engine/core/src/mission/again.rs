//! Steps that run again: sent back by a loop step, tried again at a pause, retried by a person.

use super::{Mission, MissionStatus, Refusal, StepFailure, StepState, StepStatus};
use crate::plan::{Plan, StepId, StepSet};

impl Mission {
    /// Carries out the effects of the completion of a step, or of its handler, before anything else is decided.
    pub(super) fn after_completion(&mut self, plan: &Plan<'_>, step: StepId) {
        let Some(failed) = plan.step(step).handles else {
            return self.send_back(plan, step);
        };
        let report = self.step(step).latest.clone();
        let state = self.step_mut(failed);
        state.is_handled = true;
        state.latest = report;
        state.latest_items.clear();
        if !state.is_exhausted {
            self.send_back(plan, failed);
        }
    }

    /// Counts the completion of a loop step, and sends back what is to run again.
    fn send_back(&mut self, plan: &Plan<'_>, step: StepId) {
        if !plan.step(step).is_loop() {
            return;
        }
        let reset = self.reset_by(plan, step);
        let state = self.step_mut(step);
        state.completions = state.completions.saturating_add(1);
        for id in reset.iter() {
            let sent_back_by = plan.step(step).requeue.contains(&id).then_some(step);
            let state = self.step_mut(id);
            state.block();
            state.items.clear();
            state.sent_back_by = sent_back_by;
        }
        self.make_pointless(&reset);
    }

    /// The steps that this loop step sends back to be decided again.
    ///
    /// They are those that it re-queues, itself, those between, those whose condition or list reads one of them, everything
    /// downstream that has not completed, and the handlers of all of these.
    pub(super) fn reset_by(&self, plan: &Plan<'_>, step: StepId) -> StepSet {
        let requeued = StepSet::of(plan, plan.step(step).requeue);
        let (after, before) = (plan.downstream(&requeued), plan.upstream(step));
        let mut reset = requeued;
        reset.add(step);
        plan.step_ids().filter(|it| after.has(*it) && before.has(*it)).for_each(|it| reset.add(it));
        let rerun = reset.clone();
        for id in plan.step_ids() {
            let list = plan.step(id).fan_out.and_then(|it| it.list.step());
            let reads_list = list.is_some_and(|it| rerun.has(it));
            if reads_list || plan.step(id).condition.is_some_and(|it| it.reads_one_of(&rerun)) {
                reset.add(id);
            }
        }
        for id in plan.downstream(&reset).iter().filter(|it| !self.step(*it).has_completed()) {
            reset.add(id);
        }
        with_handlers(plan, reset)
    }

    /// Queues a step about whose failure a person was asked. `true` if that grants another round to its loop.
    pub(super) fn try_again(&mut self, plan: &Plan<'_>, step: StepId) -> bool {
        let state = self.step_mut(step);
        let is_granted = state.grant();
        state.forget_losses();
        self.queue(plan, step);
        is_granted
    }

    /// Runs a failed mission again, from this step or from every step that has failed itself.
    pub(super) fn retry(&mut self, plan: &Plan<'_>, step: Option<StepId>) -> Result<(), Refusal> {
        if self.status != MissionStatus::Failed {
            return Err(Refusal::NotFailed(self.status));
        }
        let again: alloc::vec::Vec<StepId> = match step {
            Some(step) => {
                let state = self.known(step)?;
                [step].into_iter().filter(|_| state.may_be_retried()).collect()
            }
            None => plan
                .step_ids()
                .filter(|id| self.step(*id).may_be_retried())
                .filter(|id| !plan.step(*id).handles.is_some_and(|it| self.step(it).has_failed_itself()))
                .collect(),
        };
        if again.is_empty() {
            return Err(Refusal::NothingToRetry);
        }
        if self.steps.iter().any(|it| it.failure == Some(StepFailure::Cap)) {
            self.extend_cap(plan);
        }
        // Those that were only lost with another one, or that the cap has stopped, take an attempt like any other.
        let by_hand = |id: StepId| {
            let state = self.step(id);
            state.has_failed_itself() && state.failure != Some(StepFailure::Cap)
        };
        let by_hand = StepSet::of(
            plan,
            &again.iter().copied().filter(|id| by_hand(*id)).collect::<alloc::vec::Vec<_>>(),
        );
        self.block_what_followed(plan, &again);
        let below = plan.downstream(&StepSet::of(plan, &again));
        for id in again {
            match below.has(id) || !by_hand.has(id) {
                // It waits for another one that runs again, or failed because of one, or takes one of the granted attempts.
                true => {
                    self.step_mut(id).grant();
                    self.step_mut(id).block();
                }
                false => _ = self.try_again(plan, id),
            }
        }
        self.status = MissionStatus::Running;
        Ok(())
    }

    /// Blocks what failed or was skipped because these had failed.
    fn block_what_followed(&mut self, plan: &Plan<'_>, failed: &[StepId]) {
        let mut origins = StepSet::of(plan, failed);
        failed.iter().filter_map(|id| plan.step(*id).handles).for_each(|id| origins.add(id));
        let mut victims = StepSet::none(plan);
        for id in plan.order {
            if let Some(StepFailure::Because(cause)) = self.step(*id).failure
                && (origins.has(cause) || victims.has(cause))
            {
                victims.add(*id);
            }
        }
        let mut followed = origins.clone();
        victims.iter().for_each(|id| followed.add(id));
        let after = plan.downstream(&followed);
        for id in plan.step_ids() {
            let state = self.step(id);
            let is_skipped = after.has(id) && state.status == StepStatus::Skipped;
            let handles_one =
                plan.step(id).handles.is_some_and(|it| followed.has(it)) && state.status.is_terminal();
            if victims.has(id) || is_skipped || handles_one {
                self.step_mut(id).block();
            }
        }
    }
}

/// The steps with their handlers, which are taken again each round.
fn with_handlers(plan: &Plan<'_>, mut steps: StepSet) -> StepSet {
    let handlers: alloc::vec::Vec<StepId> = steps.iter().filter_map(|id| plan.step(id).on_fail).collect();
    handlers.into_iter().for_each(|id| steps.add(id));
    steps
}

impl StepState {
    /// Allows one more round of an exhausted loop. `false` if it is not exhausted.
    fn grant(&mut self) -> bool {
        let is_exhausted = self.is_exhausted;
        if is_exhausted {
            self.is_exhausted = false;
            self.granted = self.granted.saturating_add(1);
        }
        is_exhausted
    }

    /// Lets it be decided again. A list of which items have failed stays for another try.
    fn block(&mut self) {
        self.withdraw();
        self.status = StepStatus::Blocked;
        self.forget_losses();
        self.failure = None;
        self.is_handled = false;
        if self.failed_items() == 0 {
            self.items.clear();
        }
    }

    /// An attempt has ended with a word, or another beginning is made: no losses in a row are counted.
    pub(super) fn forget_losses(&mut self) {
        (self.lost, self.abandoned) = (0, 0);
    }

    /// True if its work counts: its attempt has completed, or its handler's.
    pub(super) fn has_completed(&self) -> bool {
        self.status == StepStatus::Completed || self.is_handled
    }

    /// True if it has failed, and not because of another step.
    pub(super) fn has_failed_itself(&self) -> bool {
        self.failure.as_ref().is_some_and(StepFailure::is_own)
    }

    /// True if it has failed, and its handler takes that.
    pub(super) fn takes_handler(&self) -> bool {
        self.failure.as_ref().is_some_and(StepFailure::takes_handler)
    }

    fn may_be_retried(&self) -> bool {
        self.is_exhausted || (self.has_failed_itself() && !self.is_handled)
    }
}
