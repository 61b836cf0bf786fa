//! Behaviour of a mission, written a second time: from the design and not from the reducer. Every rule is a question about sets of
//! steps that is asked again whenever its answer is needed, so nothing here can be out of date.

mod again;
mod asks;
mod compare;
mod items;
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
    /// Of each attempt: the number of its item in the list, and the end of its landing.
    pub places: Vec<(Option<u16>, Option<LandingEnd>)>,
    /// The items under way, or ended while the list stays.
    pub items: Vec<ItemState>,
    /// The items as they were at the latest completion, unless a handler has spoken since.
    pub reports: Vec<ItemState>,
    /// Completions of a step with items.
    pub rounds: u32,
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
    parallel: usize,
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
            places: Vec::new(),
            items: Vec::new(),
            reports: Vec::new(),
            rounds: 0,
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
            parallel: usize::from(plan.parallel),
            left: plan.max_attempts.unwrap_or_default(),
            is_final: false,
            waiting: Vec::new(),
            standoffs: Vec::new(),
        }
    }

    pub fn apply(&mut self, event: &Event) -> Result<Accepted, Refusal> {
        let accepted = self.takes(event)?;
        if accepted == Accepted::New {
            self.lets_one_land();
        }
        Ok(accepted)
    }

    fn takes(&mut self, event: &Event) -> Result<Accepted, Refusal> {
        match event.clone() {
            Event::Begin => self.begin()?,
            Event::Assign { step, attempt } => self.take(step, attempt, ItemStatus::Assigned)?,
            Event::Start { step, attempt } => self.take(step, attempt, ItemStatus::Running)?,
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
            Event::Landed { step, attempt } => return self.lands(step, attempt, LandingEnd::Landed),
            Event::Conflict { step, attempt, reason } => {
                return self.lands(step, attempt, LandingEnd::Conflict { reason });
            }
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
}

impl MissionReference<'_> {
    fn begin(&mut self) -> Result<(), Refusal> {
        match self.status {
            MissionStatus::Pending => {
                self.status = MissionStatus::Running;
                self.cascade();
                self.ends_if_over();
                Ok(())
            }
            MissionStatus::Running | MissionStatus::Paused => Err(Refusal::HasBegun),
            MissionStatus::Completed | MissionStatus::Failed | MissionStatus::Cancelled => {
                Err(Refusal::Closed(self.status))
            }
        }
    }

    fn take(&mut self, step: StepId, attempt: u32, to: ItemStatus) -> Result<(), Refusal> {
        self.must_be_open()?;
        self.must_be_work(step)?;
        self.must_be_current(step, attempt)?;
        if self.status == MissionStatus::Paused {
            return Err(Refusal::Paused);
        }
        let stands = self.jobs_of(step).into_iter().find(|it| it.0 == attempt).map(|it| it.1);
        let is_starting = to == ItemStatus::Running && stands == Some(ItemStatus::Assigned);
        if stands != Some(ItemStatus::Queued) && !is_starting {
            return Err(Refusal::NotQueued(self.as_mission().steps[step.index()].status));
        }
        match self.works_instead_of(step).filter(|_| !is_starting) {
            Some(other) => Err(Refusal::Busy(other)),
            None => {
                self.stands(step, attempt, to);
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
        if self.has_items(step) {
            self.item_hears(step, attempt, word);
            return Ok(Accepted::New);
        }
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
        self.completes(step, Some(report));
        self.after_an_end(step, has_warning);
    }

    /// The completion of a step, before anything follows from it for others than those that it sends back.
    fn completes(&mut self, step: StepId, report: Option<Report>) {
        let known = self.of(step);
        known.stand = Stand::Completed;
        (known.lost, known.abandoned) = (0, 0);
        known.latest = report.clone();
        let mut finished = step;
        if let Some(failed) = self.rule(step).handles {
            finished = failed;
            let known = self.of(failed);
            known.latest = report;
            known.reports.clear();
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
                if accept_failure { (0, true) } else { (self.as_many_again(), false) };
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
            known
                .items
                .iter_mut()
                .filter(|it| it.status.is_open())
                .for_each(|it| it.status = ItemStatus::Cancelled);
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
        if self.has_items(step) {
            return self.queue_items(step);
        }
        self.of(step).stand = Stand::Queued;
        self.of(step).begins_attempt(None);
    }

    fn block(&mut self, step: StepId) {
        let known = self.of(step);
        withdraw(known);
        known.stand = Stand::Blocked;
        known.asked_in = None;
        (known.lost, known.abandoned) = (0, 0);
        if !known.items.iter().any(|it| it.status == ItemStatus::Failed) {
            known.items.clear();
        }
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
            self.of(step).items.clear();
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
        let is_looked_at = self.questions.iter().any(|it| matches!(it.1, PauseReason::Changed(_)));
        if is_looked_at || !self.all().all(|it| self.is_satisfied(it) || self.has_finally_failed(it)) {
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
    for item in known.items.iter().filter(|it| matches!(it.status, ItemStatus::Landing | ItemStatus::Merging))
    {
        known.places[item.attempt as usize - 1].1 = Some(LandingEnd::Withdrawn);
    }
}
