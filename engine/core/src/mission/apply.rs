//! Consequences of every event.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{
    Attempt, AttemptEnd, Effect, Event, ItemStatus, LandingEnd, MOST_ABANDONED, Mission, MissionStatus,
    PauseReason, Refusal, Report, StepFailure, StepState, StepStatus,
};
use crate::plan::{Execution, Intervene, Plan, StepId, WorktreeUse, check_outputs};

/// End of a step, after which the mission may pause.
pub(super) enum Boundary {
    Completed { step: StepId, has_warning: bool },
    Failed(StepId),
}

impl Mission {
    /// Takes an event and says what a driver has to do.
    ///
    /// A refusal leaves the mission as it is.
    pub fn apply(&mut self, plan: &Plan<'_>, event: Event) -> Result<Vec<Effect>, Refusal> {
        let startable_before: Vec<(StepId, u32)> = self.startable(plan).collect();
        let working_before: Vec<(StepId, u32)> = self.working().collect();
        let mut effects = match event {
            Event::Begin => self.begin(plan)?,
            Event::Assign { step, attempt } => self.occupy(plan, step, attempt, ItemStatus::Assigned)?,
            Event::Start { step, attempt } => self.occupy(plan, step, attempt, ItemStatus::Running)?,
            Event::Complete { step, attempt, report } => self.complete(plan, step, attempt, report)?,
            Event::Fail { step, attempt, reason } => self.fail(plan, step, attempt, reason)?,
            Event::Lose { step, attempt } => self.lose(plan, step, attempt)?,
            Event::Abandon { step, attempt } => self.abandon(plan, step, attempt)?,
            Event::Ask { step, attempt, commit } => self.put(plan, step, attempt, commit)?,
            Event::Answer { step, attempt, answer } => self.answer_ask(plan, step, attempt, answer)?,
            Event::Expire { step, attempt } => self.expire(plan, step, attempt)?,
            Event::Landed { step, attempt } => self.end_landing(plan, step, attempt, LandingEnd::Landed)?,
            Event::Conflict { step, attempt, reason } => {
                self.end_landing(plan, step, attempt, LandingEnd::Conflict { reason })?
            }
            Event::WorktreeChanged { files } => self.worktree_changed(files)?,
            Event::Obstruct { reason } => self.obstruct(reason)?,
            Event::Continue { pause, accept_failure, execution, intervene } => {
                let answered = self.answer(plan, pause, accept_failure, execution, intervene)?;
                let mut effects = vec![Effect::Continued(answered)];
                effects.extend(self.go_on(plan, None));
                effects
            }
            Event::Retry { step } => {
                self.retry(plan, step)?;
                self.go_on(plan, None)
            }
            Event::Cancel => self.cancel()?,
        };
        if effects != [Effect::Repeated] {
            effects.splice(0..0, self.withdrawn(&working_before));
            effects.extend(self.begin_landing(plan));
            self.follow_up(plan, &startable_before, &mut effects);
        }
        Ok(effects)
    }

    /// The agents to end: the attempts for which they work were withdrawn.
    fn withdrawn(&self, working: &[(StepId, u32)]) -> Vec<Effect> {
        let is_withdrawn = |it: &&(StepId, u32)| self.end_of(it.0, it.1) == Some(&AttemptEnd::Withdrawn);
        let ended = working.iter().filter(is_withdrawn);
        ended.map(|(step, attempt)| Effect::EndAgent { step: *step, attempt: *attempt }).collect()
    }

    /// Adds what to do next, which the mission's state says.
    fn follow_up(&self, plan: &Plan<'_>, startable_before: &[(StepId, u32)], effects: &mut Vec<Effect>) {
        let news = self.startable(plan).filter(|it| !startable_before.contains(it));
        effects.extend(news.map(|(step, attempt)| match plan.step(step).is_ask() {
            true => Effect::Ask { step, attempt },
            false => Effect::Start { step, attempt },
        }));
        if self.status.is_terminal() {
            effects.push(Effect::Ended(self.status));
        }
    }

    /// End of an attempt.
    pub(super) fn end_of(&self, step: StepId, attempt: u32) -> Option<&AttemptEnd> {
        self.step(step).attempts.get((attempt as usize).checked_sub(1)?)?.end.as_ref()
    }

    fn begin(&mut self, plan: &Plan<'_>) -> Result<Vec<Effect>, Refusal> {
        match self.status {
            MissionStatus::Pending => {
                self.status = MissionStatus::Running;
                Ok(self.go_on(plan, None))
            }
            MissionStatus::Running | MissionStatus::Paused => Err(Refusal::HasBegun),
            MissionStatus::Completed | MissionStatus::Failed | MissionStatus::Cancelled => {
                Err(Refusal::Closed(self.status))
            }
        }
    }

    fn occupy(
        &mut self,
        plan: &Plan<'_>,
        step: StepId,
        attempt: u32,
        status: ItemStatus,
    ) -> Result<Vec<Effect>, Refusal> {
        self.is_open()?;
        let state = self.known_work(plan, step)?;
        state.is_current(attempt)?;
        if self.status == MissionStatus::Paused {
            return Err(Refusal::Paused);
        }
        let is_queued = match state.job(attempt) {
            Some(ItemStatus::Queued) => true,
            Some(ItemStatus::Assigned) if status == ItemStatus::Running => false,
            Some(_) | None => return Err(Refusal::NotQueued(state.status)),
        };
        if let Some(busy) = self.in_its_place(plan, step).filter(|_| is_queued) {
            return Err(Refusal::Busy(busy));
        }
        self.step_mut(step).set_job(attempt, status);
        Ok(Vec::new())
    }

    fn complete(
        &mut self,
        plan: &Plan<'_>,
        step: StepId,
        attempt: u32,
        report: Report,
    ) -> Result<Vec<Effect>, Refusal> {
        let has_warning = report.warning.is_some();
        let declared = plan.steps.get(step.index()).map(|_| plan.results_of(step)).unwrap_or_default();
        self.known_work(plan, step)?;
        let end = AttemptEnd::Completed(report.clone());
        if self.is_repeated(step, attempt, &end)? {
            return Ok(vec![Effect::Repeated]);
        }
        match &report.result {
            None if plan.needs_result(step) => return Err(Refusal::ResultNeeded),
            Some(result) if !declared.is_empty() && !declared.contains(&result.as_str()) => {
                return Err(Refusal::ResultUndeclared);
            }
            Some(_) | None => {}
        }
        check_outputs(plan.outputs_of(step), &report.outputs).map_err(Refusal::Output)?;
        let state = self.step_mut(step);
        state.close(attempt, end);
        let Some(item) = state.item_of(attempt) else {
            state.latest = Some(report);
            self.completed(plan, step);
            return Ok(self.go_on(plan, Some(Boundary::Completed { step, has_warning })));
        };
        state.items[item].forget_losses();
        if plan.step(step).worktree == WorktreeUse::Own {
            state.set_job(attempt, ItemStatus::Landing);
            return Ok(Vec::new());
        }
        state.items[item].end(None);
        Ok(self.item_ended(plan, step))
    }

    /// The step has completed, with the report that is its latest now.
    pub(super) fn completed(&mut self, plan: &Plan<'_>, step: StepId) {
        let state = self.step_mut(step);
        state.status = StepStatus::Completed;
        state.forget_losses();
        self.after_completion(plan, step);
    }

    fn fail(
        &mut self,
        plan: &Plan<'_>,
        step: StepId,
        attempt: u32,
        reason: String,
    ) -> Result<Vec<Effect>, Refusal> {
        self.known_work(plan, step)?;
        let end = AttemptEnd::Failed { reason: reason.clone() };
        if self.is_repeated(step, attempt, &end)? {
            return Ok(vec![Effect::Repeated]);
        }
        let state = self.step_mut(step);
        state.close(attempt, end);
        let (lost, abandoned) = state.losses(attempt);
        (*lost, *abandoned) = (0, 0);
        Ok(self.job_failed(plan, step, attempt, StepFailure::Reported(reason)))
    }

    fn lose(&mut self, plan: &Plan<'_>, step: StepId, attempt: u32) -> Result<Vec<Effect>, Refusal> {
        self.known_work(plan, step)?;
        if self.is_repeated(step, attempt, &AttemptEnd::Lost)? {
            return Ok(vec![Effect::Repeated]);
        }
        let state = self.step_mut(step);
        state.close(attempt, AttemptEnd::Lost);
        let (lost, abandoned) = state.losses(attempt);
        (*lost, *abandoned) = (lost.saturating_add(1), 0);
        let lost = *lost;
        Ok(match lost < plan.step(step).stuck_after.max(1) {
            true => self.start_again(plan, step, attempt),
            false => self.job_failed(plan, step, attempt, StepFailure::Stuck(lost)),
        })
    }

    fn abandon(&mut self, plan: &Plan<'_>, step: StepId, attempt: u32) -> Result<Vec<Effect>, Refusal> {
        self.known_work(plan, step)?;
        if self.is_repeated(step, attempt, &AttemptEnd::Abandoned)? {
            return Ok(vec![Effect::Repeated]);
        }
        let state = self.step_mut(step);
        state.close(attempt, AttemptEnd::Abandoned);
        let (_, abandoned) = state.losses(attempt);
        *abandoned = abandoned.saturating_add(1);
        let abandoned = *abandoned;
        Ok(match abandoned < MOST_ABANDONED {
            true => self.start_again(plan, step, attempt),
            false => self.job_failed(plan, step, attempt, StepFailure::Abandoned(abandoned)),
        })
    }

    /// Queues a job whose agent or worker was lost; without an attempt for it, it has failed.
    fn start_again(&mut self, plan: &Plan<'_>, step: StepId, attempt: u32) -> Vec<Effect> {
        match self.take_attempts(1) {
            true => {
                self.step_mut(step).queue_again(plan.step(step), attempt);
                Vec::new()
            }
            false => self.job_failed(plan, step, attempt, StepFailure::Cap),
        }
    }

    /// Consequences of the failure of a job: an item, or the step itself.
    fn job_failed(
        &mut self,
        plan: &Plan<'_>,
        step: StepId,
        attempt: u32,
        failure: StepFailure,
    ) -> Vec<Effect> {
        let state = self.step_mut(step);
        let Some(item) = state.item_of(attempt) else { return self.failed(plan, step, failure) };
        state.items[item].end(Some(failure));
        self.item_ended(plan, step)
    }

    /// Consequences of the failure of a step itself.
    pub(super) fn failed(&mut self, plan: &Plan<'_>, step: StepId, failure: StepFailure) -> Vec<Effect> {
        let state = self.step_mut(step);
        state.status = StepStatus::Failed;
        state.failure = Some(failure);
        if self.pauses_at_errors() {
            return vec![self.ask(PauseReason::Error(step))];
        }
        self.go_on(plan, Some(Boundary::Failed(step)))
    }

    fn obstruct(&mut self, reason: String) -> Result<Vec<Effect>, Refusal> {
        self.is_open()?;
        match self.has_open_question() {
            true => Ok(Vec::new()),
            false => Ok(vec![self.ask(PauseReason::Obstacle(reason))]),
        }
    }

    fn worktree_changed(&mut self, files: Vec<String>) -> Result<Vec<Effect>, Refusal> {
        self.is_open()?;
        Ok(vec![self.ask(PauseReason::Changed(files))])
    }

    fn cancel(&mut self) -> Result<Vec<Effect>, Refusal> {
        if matches!(self.status, MissionStatus::Completed | MissionStatus::Cancelled) {
            return Err(Refusal::Closed(self.status));
        }
        for step in self.steps.iter_mut().filter(|step| !step.status.is_terminal()) {
            step.withdraw();
            step.status = StepStatus::Cancelled;
        }
        self.status = MissionStatus::Cancelled;
        self.questions.clear();
        Ok(Vec::new())
    }

    /// Decides every step that can be decided, then whether the mission pauses or ends.
    pub(super) fn go_on(&mut self, plan: &Plan<'_>, boundary: Option<Boundary>) -> Vec<Effect> {
        if let Some(reason) = self.cascade(plan) {
            return vec![self.ask(reason)];
        }
        let is_over = self.steps.iter().all(|step| step.status.is_terminal());
        if is_over && self.asked_steps().next().is_none() && !self.is_worktree_in_question() {
            self.end();
            return Vec::new();
        }
        let is_open = !self.questions.is_empty();
        boundary
            .and_then(|it| self.reason(it))
            .filter(|_| !is_open)
            .map(|it| self.ask(it))
            .into_iter()
            .collect()
    }

    /// Reason for a pause of the mission at this boundary, if it pauses.
    fn reason(&self, boundary: Boundary) -> Option<PauseReason> {
        let waits_always =
            self.policy.execution == Execution::Step || self.policy.intervene == Intervene::Always;
        match boundary {
            Boundary::Completed { step, has_warning: true }
                if waits_always || self.policy.intervene == Intervene::OnWarning =>
            {
                Some(PauseReason::Warning(step))
            }
            Boundary::Completed { step, .. } | Boundary::Failed(step) => {
                waits_always.then_some(PauseReason::Boundary(step))
            }
        }
    }

    fn end(&mut self) {
        let has_failed =
            |it: &StepState| it.is_exhausted || (it.status == StepStatus::Failed && !it.is_handled);
        self.questions.clear();
        self.status = match self.steps.iter().any(has_failed) {
            true => MissionStatus::Failed,
            false => MissionStatus::Completed,
        };
    }

    /// True if the mission waits for a person when a step fails or a loop is exhausted.
    pub(super) fn pauses_at_errors(&self) -> bool {
        self.policy.intervene != Intervene::Never
    }

    /// Refuses what comes before the mission has begun or after it has ended.
    pub(super) fn is_open(&self) -> Result<(), Refusal> {
        match self.status {
            MissionStatus::Pending => Err(Refusal::Pending),
            MissionStatus::Running | MissionStatus::Paused => Ok(()),
            MissionStatus::Completed | MissionStatus::Failed | MissionStatus::Cancelled => {
                Err(Refusal::Closed(self.status))
            }
        }
    }

    /// A step that an agent or a program does. Persons answer the others.
    pub(super) fn known_work(&self, plan: &Plan<'_>, step: StepId) -> Result<&StepState, Refusal> {
        let state = self.known(step)?;
        if plan.step(step).is_ask() { Err(Refusal::NotYours(step)) } else { Ok(state) }
    }

    pub(super) fn known(&self, step: StepId) -> Result<&StepState, Refusal> {
        self.steps.get(step.index()).ok_or(Refusal::NoSuchStep)
    }

    /// True if this end of an attempt was accepted before. Refuses one that cannot be accepted now.
    pub(super) fn is_repeated(&self, step: StepId, attempt: u32, end: &AttemptEnd) -> Result<bool, Refusal> {
        let state = self.known(step)?;
        let before = attempt.checked_sub(1).and_then(|index| state.attempts.get(index as usize));
        if before.is_some_and(|it| it.end.as_ref() == Some(end)) {
            return Ok(true);
        }
        self.is_open()?;
        state.is_current(attempt)?;
        match state.awaits_report(attempt) {
            true => Ok(false),
            false => Err(Refusal::HasEnded),
        }
    }
}

impl StepState {
    /// Refuses every attempt but the current one.
    pub(super) fn is_current(&self, attempt: u32) -> Result<(), Refusal> {
        let current = self.current_of(attempt);
        match attempt {
            0 => Err(Refusal::NoSuchAttempt { current }),
            _ if attempt < current => Err(Refusal::Stale { current }),
            _ if attempt > current => Err(Refusal::NoSuchAttempt { current }),
            _ => Ok(()),
        }
    }

    /// Makes a new attempt.
    pub(super) fn queue(&mut self) {
        self.attempts.push(Attempt::default());
        self.status = StepStatus::Queued;
        self.failure = None;
        self.is_handled = false;
    }

    /// True if the current attempt, which this is, has not ended.
    fn awaits_report(&self, attempt: u32) -> bool {
        let is_asked = self.status == StepStatus::Asked && self.attempt() == attempt;
        is_asked || self.job(attempt).is_some_and(ItemStatus::awaits_report)
    }

    /// Ends an attempt.
    pub(super) fn close(&mut self, attempt: u32, end: AttemptEnd) {
        if let Some(attempt) = self.attempts.get_mut((attempt as usize).wrapping_sub(1)) {
            attempt.end = Some(end);
        }
    }

    /// Number of ends without a word, and of lost workers, in a row, of the job of an attempt.
    fn losses(&mut self, attempt: u32) -> (&mut u16, &mut u16) {
        match self.item_of(attempt) {
            Some(item) => {
                let item = &mut self.items[item];
                (&mut item.lost, &mut item.abandoned)
            }
            None => (&mut self.lost, &mut self.abandoned),
        }
    }

    /// Ends what has not ended.
    pub(super) fn withdraw(&mut self) {
        if !self.items.is_empty() {
            return self.withdraw_items();
        }
        if self.status.is_active() {
            self.close(self.attempt(), AttemptEnd::Withdrawn);
        }
    }
}
