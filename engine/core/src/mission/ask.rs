//! Asks: questions of steps to persons, and their answers.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::{
    AttemptEnd, Effect, Mission, MissionStatus, PauseReason, Refusal, Report, StepFailure, StepStatus,
};
use crate::plan::{APPROVE, Ask, Plan, REJECT, StepId};

/// Answer of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Answer {
    /// The answer in one word.
    pub word: String,
    /// Comment of the person; may be empty.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub comment: String,
    /// Name of the person.
    pub by: String,
    /// The commit that they mean; without one, the one that is shown.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub commit: Option<String>,
}

/// Origin of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Answered {
    /// Author of the answer.
    pub by: Answerer,
    /// The commit that was shown.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub commit: Option<String>,
}

/// Author of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Answerer {
    /// A person of this name.
    Person(String),
    /// Nobody: the time was over.
    Timeout,
}

impl Answerer {
    /// Name of the person, or `timeout`.
    pub fn as_str(&self) -> &str {
        match self {
            Answerer::Person(name) => name,
            Answerer::Timeout => "timeout",
        }
    }
}

impl Mission {
    /// The steps whose questions are open, with the numbers of their attempts, in source order.
    pub fn open_asks(&self) -> impl Iterator<Item = (StepId, u32)> {
        self.with(|it| it.status == StepStatus::Asked).map(|step| (step, self.step(step).attempt()))
    }

    /// The step whose question is to be put now, with the number of its attempt. One that needs the worktree waits for its turn, and
    /// another one waits for nothing.
    pub fn next_ask(&self, plan: &Plan<'_>) -> Option<(StepId, u32)> {
        let is_free = |step: StepId| plan.step(step).ask.is_some_and(|it| !it.shows_diff);
        let next = self.next(plan).filter(|(step, _)| plan.step(*step).is_ask());
        next.or_else(|| self.startable(plan).find(|(step, _)| is_free(*step)))
    }

    /// Puts the question of a step to its people, or shows another commit to them.
    pub(super) fn put(
        &mut self,
        plan: &Plan<'_>,
        step: StepId,
        attempt: u32,
        commit: Option<String>,
    ) -> Result<Vec<Effect>, Refusal> {
        self.is_open()?;
        self.known_ask(plan, step)?;
        let state = self.step(step);
        state.is_current(attempt)?;
        match state.status {
            StepStatus::Asked if state.shown() == commit.as_ref() => return Ok(vec![Effect::Repeated]),
            StepStatus::Asked => {}
            StepStatus::Queued if self.status == MissionStatus::Paused => return Err(Refusal::Paused),
            StepStatus::Queued => {
                if let Some(busy) = self.in_its_place(plan, step) {
                    return Err(Refusal::Busy(busy));
                }
            }
            StepStatus::Blocked
            | StepStatus::Assigned
            | StepStatus::Running
            | StepStatus::Completed
            | StepStatus::Failed
            | StepStatus::Skipped
            | StepStatus::Cancelled => return Err(Refusal::NotQueued(state.status)),
        }
        let state = self.step_mut(step);
        state.status = StepStatus::Asked;
        if let Some(attempt) = state.attempts.last_mut() {
            attempt.shown = commit;
        }
        Ok(Vec::new())
    }

    /// Takes the answer of a person: a completion, or the failure of a step that asks for an approval.
    pub(super) fn answer_ask(
        &mut self,
        plan: &Plan<'_>,
        step: StepId,
        attempt: u32,
        answer: Answer,
    ) -> Result<Vec<Effect>, Refusal> {
        let ask = self.known_ask(plan, step)?;
        let commit = self.shown_at(step, attempt);
        let origin = Answered { by: Answerer::Person(answer.by.clone()), commit: commit.clone() };
        let is_rejected = ask.is_approval && answer.word == REJECT;
        let end = match is_rejected {
            true => AttemptEnd::Rejected { reason: rejection(&answer), answer: origin },
            false => AttemptEnd::Completed(Report {
                result: Some(answer.word.clone()),
                summary: summary(&answer),
                answer: Some(origin),
                ..Report::default()
            }),
        };
        if self.is_answered(step, attempt, &end)? {
            return Ok(vec![Effect::Repeated]);
        }
        if !ask.admits(&answer.by) {
            return Err(Refusal::NotYours(step));
        }
        if !plan.step(step).answers().contains(&answer.word.as_str()) {
            return Err(Refusal::NoSuchAnswer(step));
        }
        if answer.commit.is_some() && answer.commit != commit {
            return Err(Refusal::OtherCommit { shown: commit });
        }
        Ok(self.take_answer(plan, step, end))
    }

    /// The time for an answer is over: the step fails, or the answer counts that the plan names.
    pub(super) fn expire(
        &mut self,
        plan: &Plan<'_>,
        step: StepId,
        attempt: u32,
    ) -> Result<Vec<Effect>, Refusal> {
        let ask = self.known_ask(plan, step)?;
        let end = match ask.on_timeout {
            None => AttemptEnd::Failed { reason: "nobody answered in time".to_owned() },
            Some(word) => AttemptEnd::Completed(Report {
                result: Some(word.to_string()),
                summary: format!("nobody answered in time, so that `{word}` counts"),
                answer: Some(Answered { by: Answerer::Timeout, commit: self.shown_at(step, attempt) }),
                ..Report::default()
            }),
        };
        if self.is_answered(step, attempt, &end)? {
            return Ok(vec![Effect::Repeated]);
        }
        Ok(self.take_answer(plan, step, end))
    }

    /// Consequences of the end of an ask. A person has just decided, so that the mission does not pause there; it does where nobody has.
    fn take_answer(&mut self, plan: &Plan<'_>, step: StepId, end: AttemptEnd) -> Vec<Effect> {
        let state = self.step_mut(step);
        state.close(state.attempt(), end.clone());
        let reason = match end {
            AttemptEnd::Completed(report) => {
                state.status = StepStatus::Completed;
                state.latest = Some(report);
                self.after_completion(plan, step);
                return self.go_on(plan, None);
            }
            AttemptEnd::Failed { reason } if self.pauses_at_errors() => {
                self.fail_for(step, reason);
                return vec![self.ask(PauseReason::Error(step))];
            }
            AttemptEnd::Failed { reason } | AttemptEnd::Rejected { reason, .. } => reason,
            AttemptEnd::Lost | AttemptEnd::Abandoned | AttemptEnd::Withdrawn => return Vec::new(),
        };
        self.fail_for(step, reason);
        self.go_on(plan, None)
    }

    fn fail_for(&mut self, step: StepId, reason: String) {
        let state = self.step_mut(step);
        state.status = StepStatus::Failed;
        state.failure = Some(StepFailure::Reported(reason));
    }

    /// True if this attempt has ended in this manner before. Refuses an end that cannot be accepted now.
    fn is_answered(&self, step: StepId, attempt: u32, end: &AttemptEnd) -> Result<bool, Refusal> {
        let refused = match self.is_repeated(step, attempt, end) {
            Ok(false) if self.step(step).status != StepStatus::Asked => {
                return Err(Refusal::NotAsked(self.step(step).status));
            }
            Ok(is_repeated) => return Ok(is_repeated),
            Err(refused) => refused,
        };
        let before = self.step(step).attempts.get((attempt as usize).wrapping_sub(1));
        match before.and_then(|it| it.end.as_ref()).and_then(AttemptEnd::answered) {
            Some((answer, origin)) if matches!(refused, Refusal::HasEnded | Refusal::Closed(_)) => {
                Err(Refusal::Answered { answer, by: origin.by.clone() })
            }
            Some(_) | None => Err(refused),
        }
    }

    fn known_ask<'p>(&self, plan: &Plan<'p>, step: StepId) -> Result<&'p Ask<'p>, Refusal> {
        let status = self.known(step)?.status;
        plan.step(step).ask.ok_or(Refusal::NotAsked(status))
    }

    /// The commit that is or was shown in an attempt.
    fn shown_at(&self, step: StepId, attempt: u32) -> Option<String> {
        self.step(step).attempts.get((attempt as usize).checked_sub(1)?)?.shown.clone()
    }
}

impl AttemptEnd {
    /// The answer that has ended an attempt, and its origin.
    pub fn answered(&self) -> Option<(String, &Answered)> {
        match self {
            AttemptEnd::Completed(report) => {
                Some((report.result.clone().unwrap_or_else(|| APPROVE.to_owned()), report.answer.as_ref()?))
            }
            AttemptEnd::Rejected { answer, .. } => Some((REJECT.to_owned(), answer)),
            AttemptEnd::Failed { .. } | AttemptEnd::Lost | AttemptEnd::Abandoned | AttemptEnd::Withdrawn => {
                None
            }
        }
    }
}

impl super::StepState {
    /// The commit that its current attempt shows.
    pub fn shown(&self) -> Option<&String> {
        self.attempts.last()?.shown.as_ref()
    }
}

/// Summary of a completion by an answer: the comment of the person.
fn summary(answer: &Answer) -> String {
    match answer.comment.trim() {
        "" => format!("{} answered `{}`", answer.by, answer.word),
        comment => comment.to_owned(),
    }
}

/// Reason for the failure of a step that a person has rejected.
fn rejection(answer: &Answer) -> String {
    match answer.comment.trim() {
        "" => format!("{} rejected it", answer.by),
        comment => format!("{} rejected it: {comment}", answer.by),
    }
}
