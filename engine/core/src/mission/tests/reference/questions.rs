//! Questions that the reference asks of a mission before it decides.

use super::*;

impl MissionReference<'_> {
    pub(super) fn all(&self) -> impl Iterator<Item = StepId> + use<> {
        (0..self.known.len() as u16).map(StepId)
    }

    pub(super) fn known(&self, step: StepId) -> &KnownStep {
        &self.known[step.index()]
    }

    pub(super) fn rule(&self, step: StepId) -> &StepRule<'_> {
        &self.rules[step.index()]
    }

    pub(super) fn must_be_open(&self) -> Result<(), Refusal> {
        match self.status {
            MissionStatus::Pending => Err(Refusal::Pending),
            MissionStatus::Running | MissionStatus::Paused => Ok(()),
            MissionStatus::Completed | MissionStatus::Failed | MissionStatus::Cancelled => {
                Err(Refusal::Closed(self.status))
            }
        }
    }

    pub(super) fn must_be_current(&self, step: StepId, attempt: u32) -> Result<(), Refusal> {
        let last = self.known.get(step.index()).ok_or(Refusal::NoSuchStep)?.tries.len() as u32;
        let current = if attempt > last { last } else { self.current(step, attempt) };
        match attempt {
            0 => Err(Refusal::NoSuchAttempt { current }),
            older if older < current => Err(Refusal::Stale { current }),
            newer if newer > current => Err(Refusal::NoSuchAttempt { current }),
            _ => Ok(()),
        }
    }

    pub(super) fn pauses_at_errors(&self) -> bool {
        self.policy.intervene != Intervene::Never
    }

    /// True if the mission is paused for more than a boundary or a warning.
    pub(super) fn has_a_question(&self) -> bool {
        self.questions.iter().any(|it| {
            matches!(it.1, PauseReason::Obstacle(_) | PauseReason::Changed(_) | PauseReason::Cap(_))
        }) || self.all().any(|it| self.is_asked(it))
    }

    /// True if a person is asked about the failure of this step. A late completion of a loop step can send it back
    /// meanwhile; then nothing is left to ask, and the answer goes on.
    pub(super) fn is_asked(&self, step: StepId) -> bool {
        self.known(step).asked_in.is_some()
    }

    pub(super) fn is_blocked(&self, step: StepId) -> bool {
        self.known(step).stand == Stand::Blocked
    }

    pub(super) fn is_active(&self, step: StepId) -> bool {
        matches!(self.known(step).stand, Stand::Queued | Stand::Assigned | Stand::Running | Stand::Asked)
    }

    pub(super) fn is_satisfied(&self, step: StepId) -> bool {
        matches!(self.known(step).stand, Stand::Completed | Stand::Skipped | Stand::Handled(_))
    }

    /// True if the step has failed by itself, and nothing has made that good.
    pub(super) fn has_own(&self, step: StepId) -> bool {
        let known = self.known(step);
        known.counts_as_failed() && !matches!(known.why(), Some(StepFailure::Because(_)))
    }

    /// True if its own failure is one that a handler takes.
    pub(super) fn takes_handler(&self, step: StepId) -> bool {
        self.has_own(step) && self.known(step).why() != Some(&StepFailure::Cap)
    }

    /// True if the mission has so many attempts for a step.
    pub(super) fn has_attempts(&self, number: u32) -> bool {
        self.most.is_none() || (self.left >= number && !self.is_final)
    }

    /// True if the step has failed, no person is asked about that, and no handler can make it good any more.
    pub(super) fn has_finally_failed(&self, step: StepId) -> bool {
        let has_no_other_hope = || self.rule(step).handler.is_none_or(|it| self.has_finally_failed(it));
        self.known(step).counts_as_failed()
            && !self.is_asked(step)
            && (!self.takes_handler(step) || has_no_other_hope())
    }

    pub(super) fn condition_holds(&self, step: StepId) -> bool {
        self.rule(step).condition.is_none_or(|it| truth(&it, &|of| self.values(of)) == 2)
    }

    /// The value that a condition reads, if it is there.
    pub(super) fn value(&self, of: Operand) -> Option<Value> {
        let (step, field) = match of {
            Operand::Step(step, field) => (step, field),
            Operand::Input(input) => {
                return self.inputs.get(self.declared_inputs[usize::from(input.0)].name).cloned();
            }
        };
        self.reported(step, field, self.known(step).latest.as_ref())
    }

    /// The values that a test reads: of a fan-out those of its completed items, or of its handler.
    fn values(&self, of: Operand) -> Vec<Option<Value>> {
        let Operand::Step(step, field) = of else { return Vec::from([self.value(of)]) };
        let known = self.known(step);
        if matches!(field, Field::Ran | Field::Rounds) || self.rule(step).fan_out.is_none() {
            return Vec::from([self.value(of)]);
        }
        let reports = known.reports_of(&known.reports).into_iter().chain(known.latest.clone());
        reports.map(|it| self.reported(step, field, Some(&it))).collect()
    }

    fn reported(&self, step: StepId, field: Field, latest: Option<&Report>) -> Option<Value> {
        let is_completion = |it: &&Option<AttemptEnd>| matches!(it, Some(AttemptEnd::Completed(_)));
        let completions = |it: StepId| match self.has_items(it) {
            true => i64::from(self.known(it).rounds),
            false => self.known(it).tries.iter().filter(is_completion).count() as i64,
        };
        let rounds = || completions(step) + self.rule(step).handler.map_or(0, completions);
        match field {
            Field::Ran => Some(Value::Bool(rounds() != 0)),
            Field::Rounds => Some(Value::Number(rounds())),
            Field::Result => latest?.result.clone().map(Value::Text),
            Field::Summary => Some(Value::Text(latest?.summary.clone())),
            Field::Output(output) => {
                latest?.outputs.get(self.rule(step).outputs[usize::from(output.0)].name).cloned()
            }
        }
    }

    /// The first thing that is wrong with the outputs of a report.
    pub(super) fn output_fault(&self, step: StepId, report: &Report) -> Option<ValueFault> {
        let declared = self.rule(step).outputs;
        let of = |name: &str| declared.iter().find(|it| it.name == name);
        let is_wrong = |(name, value): &(&String, &Value)| !of(name).is_some_and(|it| it.kind.has(value));
        if let Some((name, _)) = report.outputs.iter().find(is_wrong) {
            let known = declared.iter().map(|it| it.name.to_owned()).collect();
            return Some(match of(name) {
                None => ValueFault::Unknown { name: name.clone(), known },
                Some(it) => ValueFault::Mistyped { name: name.clone(), takes: it.kind.values() },
            });
        }
        let missing = declared.iter().find(|it| !report.outputs.contains_key(it.name))?;
        Some(ValueFault::Missing { name: missing.name.to_owned(), takes: missing.kind.values() })
    }

    pub(super) fn decide(&self, step: StepId) -> StepDecision {
        let rule = &self.rule(step);
        let known = &self.known(step);
        if let Some(failed) = rule.handles {
            let may_be_needed = || {
                !self.is_satisfied(failed) && !self.has_finally_failed(failed) || self.can_run(step, failed)
            };
            return if known.stand == Stand::Blocked && !may_be_needed() {
                StepDecision::IsSkipped
            } else {
                StepDecision::Waits
            };
        }
        if known.stand != Stand::Blocked {
            return StepDecision::Waits;
        }
        if let Some(failed) = rule.depends_on.iter().find(|it| self.has_finally_failed(**it)) {
            return StepDecision::Fails(*failed);
        }
        if !rule.depends_on.iter().all(|it| self.is_satisfied(*it)) {
            return StepDecision::Waits;
        }
        if self.condition_holds(step) && self.has_work(step) {
            let has_rounds = rule.max_retries == 0 || self.has_rounds_left(step);
            return if has_rounds { StepDecision::Runs } else { StepDecision::IsExhausted };
        }
        if self.can_run(step, step) { StepDecision::Waits } else { StepDecision::IsSkipped }
    }

    pub(super) fn has_rounds_left(&self, step: StepId) -> bool {
        let known = &self.known(step);
        u32::from(known.completions) < self.rule(step).max_retries + u32::from(known.granted)
    }

    /// True if a step can still run, as seen from a step.
    pub(super) fn can_run(&self, seen_from: StepId, step: StepId) -> bool {
        self.all_that_can_run(seen_from).has(step)
    }

    /// The least set that the design describes: what belongs to it is added until nothing more does.
    pub(super) fn all_that_can_run(&self, seen_from: StepId) -> StepBits {
        let mut set = StepBits::default();
        loop {
            let sends_back = |it: &StepId| {
                self.rule(*it).max_retries > 0
                    && self.has_rounds_left(*it)
                    && !self.known(*it).is_exhausted
                    && !self.rule(*it).upstream.has(seen_from)
            };
            let sent_back = set.all().filter(sends_back).map(|it| self.sent_back_with(it));
            let sent_back = sent_back.fold(StepBits::default(), StepBits::and);
            let belonging = StepBits::of(self.all().filter(|it| self.belongs(*it, set)));
            let more = set.and(sent_back).and(belonging);
            if more == set {
                return set;
            }
            set = more;
        }
    }

    pub(super) fn belongs(&self, step: StepId, set: StepBits) -> bool {
        let rule = self.rule(step);
        let is_in = |it: Option<StepId>| it.is_some_and(|it| set.has(it));
        let may_hold =
            || rule.condition.is_none_or(|it| possible(&it, &|read| set.has(read), &|of| self.values(of))[0]);
        let list = || match rule.fan_out.map(|it| it.list) {
            Some(ItemList::Output(from, _)) => Some(from),
            Some(ItemList::Input(_) | ItemList::Fixed(_)) | None => None,
        };
        let may_work = || self.has_work(step) || is_in(list());
        let no_dependency_has_failed = || !rule.depends_on.iter().any(|it| self.has_finally_failed(*it));
        self.is_active(step)
            || self.waiting.contains(&step)
            || self.is_asked(step)
            || is_in(rule.handles)
            || self.known(step).counts_as_failed() && is_in(rule.handler)
            || self.is_blocked(step)
                && rule.handles.is_none()
                && no_dependency_has_failed()
                && may_hold()
                && may_work()
    }

    /// Everything that goes back to blocked when this loop step completes now.
    pub(super) fn sent_back_with(&self, by: StepId) -> StepBits {
        let has_completed =
            |it: &StepId| matches!(self.known(*it).stand, Stand::Completed | Stand::Handled(_));
        let rule = self.rule(by);
        let steps = rule.again.and(StepBits::of(rule.after.all().filter(|it| !has_completed(it))));
        steps.and(StepBits::of(steps.all().filter_map(|it| self.rule(it).handler)))
    }

    pub(super) fn may_be_retried(&self, step: StepId) -> bool {
        self.has_own(step) || self.known(step).is_exhausted
    }

    /// True if the step has failed because of another one, and that in the end because of one of these.
    pub(super) fn has_failed_because_of(&self, step: StepId, roots: StepBits) -> bool {
        let Stand::Failed(StepFailure::Because(of)) = self.known(step).stand else { return false };
        roots.has(of) || self.has_failed_because_of(of, roots)
    }
}
