//! Steps that run again, within the cap or by hand.

use super::*;

impl MissionReference<'_> {
    pub(super) fn retry(&mut self, named: Option<StepId>) -> Result<(), Refusal> {
        if self.status != MissionStatus::Failed {
            return Err(Refusal::NotFailed(self.status));
        }
        let again = match named {
            Some(step) if step.index() >= self.known.len() => return Err(Refusal::NoSuchStep),
            Some(step) if self.may_be_retried(step) => StepBits::of([step]),
            Some(_) => return Err(Refusal::NothingToRetry),
            None => {
                let owner_has_failed = |it: StepId| self.rule(it).handles.is_some_and(|it| self.has_own(it));
                StepBits::of(self.all().filter(|it| self.may_be_retried(*it) && !owner_has_failed(*it)))
            }
        };
        let has_reached_cap = |it: &KnownStep| matches!(it.stand, Stand::Failed(StepFailure::Cap));
        if self.known.iter().any(has_reached_cap) {
            (self.left, self.is_final) = (self.as_many_again(), false);
        }
        let roots = again.and(StepBits::of(named.and_then(|it| self.rule(it).handles)));
        let victims = StepBits::of(self.all().filter(|it| self.has_failed_because_of(*it, roots)));
        let tried = again.and(victims);
        let handlers = StepBits::of(tried.all().filter_map(|it| self.rule(it).handler));
        let is_skipped = |it: &StepId| self.known(*it).stand == Stand::Skipped;
        let is_after = |it: &StepId| self.rule(*it).upstream.meets(tried);
        let skipped = StepBits::of(self.all().filter(|it| is_skipped(it) && is_after(it)));
        for step in victims.and(handlers).and(skipped).without(again).all() {
            self.block(step);
        }
        let has_failed = |it: &KnownStep| it.why().is_some_and(StepFailure::is_own);
        let is_later = |it: &StepId| {
            self.rule(*it).upstream.meets(again)
                || !has_failed(self.known(*it))
                || has_reached_cap(self.known(*it))
        };
        let later = StepBits::of(again.all().filter(is_later));
        for step in later.all() {
            let known = self.of(step);
            known.granted += u16::from(known.is_exhausted);
            known.is_exhausted = false;
            self.block(step);
        }
        for step in again.without(later).all() {
            self.try_again(step, self.known(step).is_exhausted);
        }
        self.run();
        Ok(())
    }

    pub(super) fn start_again(&mut self, step: StepId) {
        match self.has_attempts(1) {
            true => {
                self.left -= u32::from(self.most.is_some());
                self.queue(step);
            }
            false => self.fail(step, StepFailure::Cap),
        }
    }

    /// Queues a step if the mission has an attempt for it; else it fails or waits. `true` if something has changed.
    pub(super) fn queue_within_cap(&mut self, step: StepId) -> bool {
        if self.rule(step).ask.is_some() {
            self.queue(step);
            return true;
        }
        let number = self.attempts_at_once(step);
        if self.has_attempts(number) {
            self.left -= if self.most.is_some() { number } else { 0 };
            self.queue(step);
            return true;
        }
        if self.pauses_at_errors() && !self.is_final {
            self.of(step).stand = Stand::Blocked;
            self.waiting.push(step);
            return false;
        }
        self.of(step).stand = Stand::Failed(StepFailure::Cap);
        true
    }

    /// Queues the handler of every failure that counts and has none at work: before anything else is decided.
    pub(super) fn take_handlers(&mut self) {
        for failed in self.all() {
            let Some(handler) = self.rule(failed).handler else { continue };
            let is_untaken = matches!(self.known(handler).stand, Stand::Blocked | Stand::Skipped);
            if is_untaken && self.takes_handler(failed) && !self.is_asked(failed) {
                self.queue_within_cap(handler);
            }
        }
    }

    /// Skips something if blocked steps wait for each other and for nobody else.
    pub(super) fn ends_a_standoff(&mut self) -> bool {
        let blocked: Vec<StepId> = self.order.iter().copied().filter(|it| self.is_blocked(*it)).collect();
        if self.status != MissionStatus::Running
            || self.all().any(|it| self.is_active(it))
            || blocked.is_empty()
        {
            return false;
        }
        let may_go = |it: &StepId| {
            self.rule(*it).handles.is_none()
                && self.rule(*it).depends_on.iter().all(|it| self.is_satisfied(*it))
        };
        let Some(skipped) = blocked.into_iter().find(may_go) else { return false };
        self.of(skipped).stand = Stand::Skipped;
        self.standoffs.push(skipped);
        true
    }
}
