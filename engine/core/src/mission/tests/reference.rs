//! Behaviour of a mission, written a second time: from the design and not from the reducer. Every rule is a question about sets of
//! steps that is asked again whenever its answer is needed, so nothing here can be out of date.

mod again;
mod asks;
mod questions;
mod rules;
mod set;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use self::rules::{StepRule, rules};
use self::set::StepBits;
use super::conditions::{possible, truth};
use crate::mission::*;
use crate::plan::*;

/// Standing of a step. A failure that its handler has made good is a state of its own.
#[derive(Clone, PartialEq)]
pub enum Stand {
    Blocked,
    Queued,
    Assigned,
    Running,
    Asked,
    Completed,
    Failed(StepFailure),
    Handled(StepFailure),
    Skipped,
    Cancelled,
}

/// Facts about a step.
#[derive(Clone)]
pub struct KnownStep {
    pub stand: Stand,
    /// End of each attempt; the first attempt is the first.
    pub tries: Vec<Option<AttemptEnd>>,
    /// The commit that each attempt shows.
    pub shown: Vec<Option<String>>,
    pub lost: u16,
    /// Lost workers in a row.
    pub abandoned: u16,
    pub completions: u16,
    pub granted: u16,
    pub is_exhausted: bool,
    pub latest: Option<Report>,
    pub sent_back_by: Option<StepId>,
    /// The number of the question about its failure.
    pub asked_in: Option<u32>,
}

impl KnownStep {
    /// Reason for the failure of the step.
    fn why(&self) -> Option<&StepFailure> {
        let (Stand::Failed(why) | Stand::Handled(why)) = &self.stand else { return None };
        Some(why)
    }

    /// True if the step has failed, and its handler has not made that good.
    fn counts_as_failed(&self) -> bool {
        matches!(self.stand, Stand::Failed(_))
    }
}

/// A mission as the design describes it.
pub struct MissionReference<'p> {
    rules: Vec<StepRule<'p>>,
    inputs: Inputs,
    declared_inputs: &'p [Input<'p>],
    order: Vec<StepId>,
    pub known: Vec<KnownStep>,
    pub status: MissionStatus,
    pub policy: Policy,
    /// Number and reason of each open question.
    pub questions: Vec<(u32, PauseReason)>,
    pub pauses: u32,
    /// Most attempts of the plan, and number of those that are left; none once a person has decided so.
    most: Option<u32>,
    left: u32,
    is_final: bool,
    /// The steps that want an attempt and get none.
    waiting: Vec<StepId>,
    /// Every step that was skipped only because nothing else could be decided.
    pub standoffs: Vec<StepId>,
}

/// Kind of an accepted event.
#[derive(Debug, PartialEq)]
pub enum Accepted {
    New,
    Repeated,
}

/// Decision of the rules about a blocked step.
enum StepDecision {
    Waits,
    Fails(StepId),
    Runs,
    IsExhausted,
    IsSkipped,
}

/// Report about an attempt, from its agent or from the one who watches it.
enum AttemptWord {
    Completed(Report),
    Failed(String),
    Lost,
    Abandoned,
}

impl<'p> MissionReference<'p> {
    pub fn new(plan: &Plan<'p>, policy: Policy, inputs: Inputs) -> MissionReference<'p> {
        let known = KnownStep {
            stand: Stand::Blocked,
            tries: Vec::new(),
            shown: Vec::new(),
            lost: 0,
            abandoned: 0,
            completions: 0,
            granted: 0,
            is_exhausted: false,
            latest: None,
            sent_back_by: None,
            asked_in: None,
        };
        MissionReference {
            rules: rules(plan),
            inputs,
            declared_inputs: plan.inputs,
            order: plan.order.to_vec(),
            known: plan.steps.iter().map(|_| known.clone()).collect(),
            status: MissionStatus::Pending,
            policy,
            questions: Vec::new(),
            pauses: 0,
            most: plan.max_attempts,
            left: plan.max_attempts.unwrap_or_default(),
            is_final: false,
            waiting: Vec::new(),
            standoffs: Vec::new(),
        }
    }

    pub fn apply(&mut self, event: &Event) -> Result<Accepted, Refusal> {
        match event.clone() {
            Event::Begin => self.begin()?,
            Event::Assign { step, attempt } => self.take(step, attempt, Stand::Assigned)?,
            Event::Start { step, attempt } => self.take(step, attempt, Stand::Running)?,
            Event::Complete { step, attempt, report } => {
                return self.hear(step, attempt, AttemptWord::Completed(report));
            }
            Event::Fail { step, attempt, reason } => {
                return self.hear(step, attempt, AttemptWord::Failed(reason));
            }
            Event::Lose { step, attempt } => return self.hear(step, attempt, AttemptWord::Lost),
            Event::Abandon { step, attempt } => return self.hear(step, attempt, AttemptWord::Abandoned),
            Event::Ask { step, attempt, commit } => return self.put(step, attempt, commit),
            Event::Answer { step, attempt, answer } => return self.answered(step, attempt, &answer),
            Event::Expire { step, attempt } => return self.expires(step, attempt),
            Event::Landed { .. } | Event::Conflict { .. } => return Err(Refusal::NotLanding),
            Event::WorktreeChanged { files } => {
                self.must_be_open()?;
                self.pause(PauseReason::Changed(files));
            }
            Event::Obstruct { reason } => self.obstruct(reason)?,
            Event::Continue { pause, accept_failure, execution, intervene } => {
                self.go_on(pause, accept_failure, execution, intervene)?;
            }
            Event::Retry { step } => self.retry(step)?,
            Event::Cancel => self.cancel()?,
        }
        Ok(Accepted::New)
    }

    /// The first thing in which the mission differs from this.
    pub fn differs_from(&self, mission: &Mission) -> Option<String> {
        let differ = |what: &str, expected: &dyn core::fmt::Debug, found: &dyn core::fmt::Debug| {
            let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
            (expected != found).then(|| format!("{what}: expected {expected}, found {found}"))
        };
        let expected = self.as_mission();
        if expected == *mission {
            return None;
        }
        let steps = expected.steps.iter().zip(&mission.steps).zip(&self.rules);
        differ("mission", &expected.status, &mission.status)
            .or_else(|| differ("policy", &expected.policy, &mission.policy))
            .or_else(|| differ("questions", &expected.questions, &mission.questions))
            .or_else(|| differ("cap", &expected.cap, &mission.cap))
            .or_else(|| differ("number of pauses", &expected.pauses, &mission.pauses))
            .or_else(|| {
                steps.into_iter().find_map(|((expected, found), rule)| {
                    let of = |what: &str| format!("{} of step {}", what, rule.name);
                    differ(&of("status"), &expected.status, &found.status)
                        .or_else(|| differ(&of("number of attempts"), &expected.attempt(), &found.attempt()))
                        .or_else(|| differ(&of("attempts"), &expected.attempts, &found.attempts))
                        .or_else(|| differ(&of("completions"), &expected.completions, &found.completions))
                        .or_else(|| differ(&of("granted"), &expected.granted, &found.granted))
                        .or_else(|| differ(&of("is_exhausted"), &expected.is_exhausted, &found.is_exhausted))
                        .or_else(|| differ(&of("is_handled"), &expected.is_handled, &found.is_handled))
                        .or_else(|| differ(&of("failure"), &expected.failure, &found.failure))
                        .or_else(|| differ(&of("latest"), &expected.latest, &found.latest))
                        .or_else(|| differ(&of("lost"), &expected.lost, &found.lost))
                        .or_else(|| differ(&of("abandoned"), &expected.abandoned, &found.abandoned))
                        .or_else(|| differ(&of("sent_back_by"), &expected.sent_back_by, &found.sent_back_by))
                })
            })
    }

    /// The state of the mission in the reducer's types.
    pub fn as_mission(&self) -> Mission {
        let steps = self.known.iter().map(|it| StepState {
            status: match it.stand {
                Stand::Blocked => StepStatus::Blocked,
                Stand::Queued => StepStatus::Queued,
                Stand::Assigned => StepStatus::Assigned,
                Stand::Running => StepStatus::Running,
                Stand::Asked => StepStatus::Asked,
                Stand::Completed => StepStatus::Completed,
                Stand::Failed(_) | Stand::Handled(_) => StepStatus::Failed,
                Stand::Skipped => StepStatus::Skipped,
                Stand::Cancelled => StepStatus::Cancelled,
            },
            attempts: it
                .tries
                .iter()
                .zip(&it.shown)
                .map(|(end, shown)| Attempt { end: end.clone(), shown: shown.clone(), ..Attempt::default() })
                .collect(),
            lost: it.lost,
            abandoned: it.abandoned,
            completions: it.completions,
            granted: it.granted,
            is_exhausted: it.is_exhausted,
            failure: it.why().cloned(),
            is_handled: matches!(it.stand, Stand::Handled(_)),
            latest: it.latest.clone(),
            sent_back_by: it.sent_back_by,
            ..StepState::default()
        });
        let questions = self.questions.iter().map(|(number, reason)| {
            let is_pointless = match reason {
                PauseReason::Error(step) | PauseReason::Exhausted(step) => {
                    self.known(*step).asked_in != Some(*number)
                }
                PauseReason::Boundary(_)
                | PauseReason::Warning(_)
                | PauseReason::Cap(_)
                | PauseReason::Obstacle(_)
                | PauseReason::Changed(_) => false,
            };
            Pause { number: *number, reason: reason.clone(), is_pointless }
        });
        Mission {
            status: self.status,
            policy: self.policy,
            steps: steps.collect(),
            questions: questions.collect(),
            pauses: self.pauses,
            inputs: self.inputs.clone(),
            cap: self.most.map(|_| Cap { left: self.left, is_final: self.is_final }),
        }
    }
}

impl MissionReference<'_> {
    fn begin(&mut self) -> Result<(), Refusal> {
        match self.status {
            MissionStatus::Pending => {
                self.status = MissionStatus::Running;
                self.cascade();
                Ok(())
            }
            MissionStatus::Running | MissionStatus::Paused => Err(Refusal::HasBegun),
            MissionStatus::Completed | MissionStatus::Failed | MissionStatus::Cancelled => {
                Err(Refusal::Closed(self.status))
            }
        }
    }

    fn take(&mut self, step: StepId, attempt: u32, to: Stand) -> Result<(), Refusal> {
        self.must_be_open()?;
        self.must_be_work(step)?;
        self.must_be_current(step, attempt)?;
        if self.status == MissionStatus::Paused {
            return Err(Refusal::Paused);
        }
        let stand = &self.known(step).stand;
        let is_starting = to == Stand::Running && *stand == Stand::Assigned;
        if *stand != Stand::Queued && !is_starting {
            return Err(Refusal::NotQueued(self.as_mission().steps[step.index()].status));
        }
        match self.works_instead_of(step) {
            Some(other) => Err(Refusal::Busy(other)),
            None => {
                self.of(step).stand = to;
                Ok(())
            }
        }
    }

    fn hear(&mut self, step: StepId, attempt: u32, word: AttemptWord) -> Result<Accepted, Refusal> {
        self.must_be_work(step)?;
        let known = self.known(step);
        let end = match &word {
            AttemptWord::Completed(report) => AttemptEnd::Completed(report.clone()),
            AttemptWord::Failed(reason) => AttemptEnd::Failed { reason: reason.clone() },
            AttemptWord::Lost => AttemptEnd::Lost,
            AttemptWord::Abandoned => AttemptEnd::Abandoned,
        };
        let index = (attempt as usize).wrapping_sub(1);
        if known.tries.get(index) == Some(&Some(end.clone())) {
            return Ok(Accepted::Repeated);
        }
        self.must_be_open()?;
        self.must_be_current(step, attempt)?;
        if known.tries[index].is_some() {
            return Err(Refusal::HasEnded);
        }
        if let AttemptWord::Completed(report) = &word {
            let rule = &self.rule(step);
            match &report.result {
                None if rule.needs_result => return Err(Refusal::ResultNeeded),
                Some(it) if !rule.declared.is_empty() && !rule.declared.contains(it) => {
                    return Err(Refusal::ResultUndeclared);
                }
                None | Some(_) => {}
            }
            self.output_fault(step, report).map_or(Ok(()), |it| Err(Refusal::Output(it)))?;
        }
        self.of(step).tries[index] = Some(end);
        match word {
            AttemptWord::Completed(report) => self.complete(step, report),
            AttemptWord::Failed(reason) => {
                (self.of(step).lost, self.of(step).abandoned) = (0, 0);
                self.fail(step, StepFailure::Reported(reason));
            }
            AttemptWord::Lost => {
                self.of(step).lost += 1;
                self.of(step).abandoned = 0;
                let lost = self.known(step).lost;
                if lost >= self.rule(step).stuck_after {
                    self.fail(step, StepFailure::Stuck(lost));
                } else {
                    self.start_again(step);
                }
            }
            AttemptWord::Abandoned => {
                self.of(step).abandoned += 1;
                match self.known(step).abandoned {
                    5.. => self.fail(step, StepFailure::Abandoned(5)),
                    0..5 => self.start_again(step),
                }
            }
        }
        Ok(Accepted::New)
    }

    fn complete(&mut self, step: StepId, report: Report) {
        let has_warning = report.warning.is_some();
        self.completes(step, report);
        self.after_an_end(step, has_warning);
    }

    /// The completion of a step, before anything follows from it for others than those that it sends back.
    fn completes(&mut self, step: StepId, report: Report) {
        let known = self.of(step);
        known.stand = Stand::Completed;
        (known.lost, known.abandoned) = (0, 0);
        known.latest = Some(report.clone());
        let mut finished = step;
        if let Some(failed) = self.rule(step).handles {
            finished = failed;
            let known = self.of(failed);
            known.latest = Some(report);
            if let Stand::Failed(why) = known.stand.clone() {
                known.stand = Stand::Handled(why);
            }
        }
        if self.rule(finished).max_retries > 0 && !self.known(finished).is_exhausted {
            self.of(finished).completions += 1;
            self.send_back(finished);
        }
    }

    fn fail(&mut self, step: StepId, why: StepFailure) {
        self.of(step).stand = Stand::Failed(why);
        if self.pauses_at_errors() {
            self.pause(PauseReason::Error(step));
        } else {
            self.after_an_end(step, false);
        }
    }

    fn after_an_end(&mut self, step: StepId, has_warning: bool) {
        let before = self.pauses;
        self.cascade();
        if self.pauses > before || self.ends_if_over() || self.status == MissionStatus::Paused {
            return;
        }
        let by_step = self.policy.execution == Execution::Step;
        let heeds_warnings = matches!(self.policy.intervene, Intervene::OnWarning | Intervene::Always);
        if has_warning && (by_step || heeds_warnings) {
            self.pause(PauseReason::Warning(step));
        } else if by_step || self.policy.intervene == Intervene::Always {
            self.pause(PauseReason::Boundary(step));
        }
    }

    fn obstruct(&mut self, reason: String) -> Result<(), Refusal> {
        self.must_be_open()?;
        if !self.has_a_question() {
            self.pause(PauseReason::Obstacle(reason));
        }
        Ok(())
    }

    fn go_on(
        &mut self,
        number: Option<u32>,
        accept_failure: bool,
        execution: Option<Execution>,
        intervene: Option<Intervene>,
    ) -> Result<(), Refusal> {
        self.must_be_open()?;
        let oldest = self.questions.iter().map(|it| it.0).min().ok_or(Refusal::NotPaused)?;
        let meant = number.unwrap_or(oldest);
        let (_, reason) = self
            .questions
            .iter()
            .find(|it| it.0 == meant)
            .cloned()
            .ok_or(Refusal::OtherPause { current: oldest })?;
        let asked = self.all().find(|it| self.known(*it).asked_in == Some(meant));
        let is_cap = matches!(reason, PauseReason::Cap(_));
        if accept_failure && asked.is_none() && !is_cap {
            return Err(Refusal::NothingToAccept);
        }
        self.policy.execution = execution.unwrap_or(self.policy.execution);
        self.policy.intervene = intervene.unwrap_or(self.policy.intervene);
        self.questions.retain(|it| it.0 != meant);
        if is_cap {
            (self.left, self.is_final) =
                if accept_failure { (0, true) } else { (self.most.unwrap_or(0), false) };
        }
        if let Some(step) = asked {
            self.of(step).asked_in = None;
        }
        if let Some(step) = asked.filter(|_| !accept_failure) {
            self.try_again(step, matches!(reason, PauseReason::Exhausted(_)));
        }
        self.run();
        Ok(())
    }

    fn cancel(&mut self) -> Result<(), Refusal> {
        if matches!(self.status, MissionStatus::Completed | MissionStatus::Cancelled) {
            return Err(Refusal::Closed(self.status));
        }
        for known in &mut self.known {
            withdraw(known);
            let is_open =
                matches!(known.stand, Stand::Blocked | Stand::Queued | Stand::Assigned | Stand::Running);
            if is_open || known.stand == Stand::Asked {
                known.stand = Stand::Cancelled;
            }
        }
        self.end(MissionStatus::Cancelled);
        Ok(())
    }
}

impl MissionReference<'_> {
    fn of(&mut self, step: StepId) -> &mut KnownStep {
        &mut self.known[step.index()]
    }

    fn queue(&mut self, step: StepId) {
        let known = self.of(step);
        known.stand = Stand::Queued;
        known.tries.push(None);
        known.shown.push(None);
    }

    fn block(&mut self, step: StepId) {
        let known = self.of(step);
        withdraw(known);
        known.stand = Stand::Blocked;
        known.asked_in = None;
        (known.lost, known.abandoned) = (0, 0);
    }

    fn try_again(&mut self, step: StepId, grants: bool) {
        let known = self.of(step);
        (known.lost, known.abandoned) = (0, 0);
        if grants {
            known.granted += 1;
            known.is_exhausted = false;
        }
        self.queue(step);
    }

    fn send_back(&mut self, by: StepId) {
        for step in self.sent_back_with(by).all() {
            let sender = self.rule(by).requeue.has(step).then_some(by);
            self.block(step);
            self.of(step).sent_back_by = sender;
        }
    }

    fn pause(&mut self, reason: PauseReason) {
        self.pauses += 1;
        if let PauseReason::Error(step) | PauseReason::Exhausted(step) = reason {
            self.of(step).asked_in = Some(self.pauses);
        }
        self.questions.push((self.pauses, reason));
        self.status = MissionStatus::Paused;
    }

    fn run(&mut self) {
        if self.questions.is_empty() {
            self.status = MissionStatus::Running;
        }
        self.cascade();
        self.ends_if_over();
    }

    fn end(&mut self, status: MissionStatus) {
        self.status = status;
        self.questions.clear();
        self.known.iter_mut().for_each(|it| it.asked_in = None);
    }

    fn ends_if_over(&mut self) -> bool {
        if !self.all().all(|it| self.is_satisfied(it) || self.has_finally_failed(it)) {
            return false;
        }
        let fails = |it: &KnownStep| it.is_exhausted || it.counts_as_failed();
        let has_failed = self.known.iter().any(fails);
        self.end(if has_failed { MissionStatus::Failed } else { MissionStatus::Completed });
        true
    }

    /// Decides blocked steps, in the order of the plan, again and again, until none can be decided.
    fn cascade(&mut self) {
        self.waiting.clear();
        loop {
            let mut has_changed = false;
            for step in self.order.clone() {
                self.take_handlers();
                match self.decide(step) {
                    StepDecision::Waits => continue,
                    StepDecision::Fails(of) => self.of(step).stand = Stand::Failed(StepFailure::Because(of)),
                    StepDecision::Runs => {
                        if !self.queue_within_cap(step) {
                            continue;
                        }
                    }
                    StepDecision::IsSkipped => self.of(step).stand = Stand::Skipped,
                    StepDecision::IsExhausted => {
                        if self.pauses_at_errors() && self.has_a_question() {
                            return;
                        }
                        let known = self.of(step);
                        known.is_exhausted = true;
                        known.stand = Stand::Failed(StepFailure::Exhausted(known.completions));
                        if self.pauses_at_errors() {
                            return self.pause(PauseReason::Exhausted(step));
                        }
                    }
                }
                has_changed = true;
            }
            if has_changed {
                continue;
            }
            if let Some(waiting) = self.waiting.first().copied() {
                if !self.has_a_question() {
                    self.pause(PauseReason::Cap(waiting));
                }
                return;
            }
            if !self.ends_a_standoff() {
                return;
            }
        }
    }
}

fn withdraw(known: &mut KnownStep) {
    for end in known.tries.iter_mut().filter(|it| it.is_none()) {
        *end = Some(AttemptEnd::Withdrawn);
    }
}
