//! Open questions of a paused mission, and their answers.

use alloc::format;
use alloc::string::String;

use super::{AnswerEffect, Effect, Mission, MissionStatus, Pause, PauseReason, Refusal, StepStatus};
use crate::plan::{Execution, Intervene, Plan, StepId, StepSet};

impl Mission {
    /// The oldest open question.
    pub fn pause(&self) -> Option<&Pause> {
        self.questions.first()
    }

    /// The step about whose failure the oldest open question asks.
    pub fn asked(&self) -> Option<StepId> {
        self.asks_about(self.pause()?)
    }

    /// The steps about whose failures a person is asked, in the order of the questions.
    pub fn asked_steps(&self) -> impl Iterator<Item = StepId> {
        self.questions.iter().filter_map(|it| self.asks_about(it))
    }

    /// The step about whose failure a question asks. A late completion of a loop step can send it back meanwhile; then
    /// nothing is left to ask.
    pub fn asks_about(&self, question: &Pause) -> Option<StepId> {
        let step = question.reason.failed_step().filter(|_| !question.is_pointless)?;
        let state = self.step(step);
        (state.status == StepStatus::Failed && !state.is_handled).then_some(step)
    }

    /// True if a person may take what a question is about as it is: a failure, or the end of the attempts.
    pub fn offers_acceptance(&self, question: &Pause) -> bool {
        matches!(question.reason, PauseReason::Cap(_)) || self.asks_about(question).is_some()
    }

    /// Closes the open questions before this one, except these. Journals of versions that kept the newest question alone
    /// have answers that closed them.
    pub fn close_before(&mut self, number: u32, except: &[u32]) {
        self.questions.retain(|it| it.number >= number || except.contains(&it.number));
    }

    /// True if a person is to look at the worktree before the mission ends.
    pub(super) fn is_worktree_in_question(&self) -> bool {
        self.questions.iter().any(|it| matches!(it.reason, PauseReason::Changed(_)))
    }

    /// Asks a question.
    pub(super) fn ask(&mut self, reason: PauseReason) -> Effect {
        self.pauses += 1;
        let question = Pause { number: self.pauses, reason, is_pointless: false };
        self.questions.push(question.clone());
        self.status = MissionStatus::Paused;
        Effect::Paused(question)
    }

    /// Answers the question with this number, or the oldest. The mission goes on when it was the last one.
    pub(super) fn answer(
        &mut self,
        plan: &Plan<'_>,
        number: Option<u32>,
        accepts: bool,
        execution: Option<Execution>,
        intervene: Option<Intervene>,
    ) -> Result<AnswerEffect, Refusal> {
        self.is_open()?;
        let current = self.pause().ok_or(Refusal::NotPaused)?.number;
        let number = number.unwrap_or(current);
        let place = self.questions.iter().position(|it| it.number == number);
        let place = place.ok_or(Refusal::OtherPause { current })?;
        let failed = self.asks_about(&self.questions[place]);
        let is_cap = matches!(self.questions[place].reason, PauseReason::Cap(_));
        if accepts && !self.offers_acceptance(&self.questions[place]) {
            return Err(Refusal::NothingToAccept);
        }
        self.policy.execution = execution.unwrap_or(self.policy.execution);
        self.policy.intervene = intervene.unwrap_or(self.policy.intervene);
        self.questions.remove(place);
        if self.questions.is_empty() {
            self.status = MissionStatus::Running;
        }
        let answered = match failed {
            None if is_cap && accepts => {
                self.close_cap();
                AnswerEffect::Capped
            }
            None if is_cap => {
                self.extend_cap(plan);
                AnswerEffect::Extended
            }
            None => AnswerEffect::WentOn,
            Some(step) if accepts => AnswerEffect::Accepted(step),
            Some(step) => match self.try_again(plan, step) {
                true => AnswerEffect::Granted(step),
                false => AnswerEffect::TriedAgain(step),
            },
        };
        Ok(answered)
    }

    /// Notes that these steps were sent back: nothing is left to ask about their failures.
    pub(super) fn make_pointless(&mut self, sent_back: &StepSet) {
        for question in &mut self.questions {
            question.is_pointless |= question.reason.failed_step().is_some_and(|it| sent_back.has(it));
        }
    }

    /// True if an obstacle, a changed worktree, the cap or a failure waits for an answer.
    pub(super) fn has_open_question(&self) -> bool {
        let stops = |it: &Pause| match it.reason {
            PauseReason::Obstacle(_) | PauseReason::Changed(_) | PauseReason::Cap(_) => true,
            PauseReason::Boundary(_)
            | PauseReason::Warning(_)
            | PauseReason::Error(_)
            | PauseReason::Exhausted(_) => false,
        };
        self.questions.iter().any(stops) || self.asked_steps().next().is_some()
    }
}

impl PauseReason {
    /// Description of what keeps the mission from going on, whatever its policy; `None` of a question about a step.
    pub fn obstacle(&self) -> Option<String> {
        match self {
            PauseReason::Obstacle(what) => Some(what.clone()),
            PauseReason::Changed(files) => {
                Some(format!("the worktree changed while only readers ran: {}", files.join(", ")))
            }
            PauseReason::Boundary(_)
            | PauseReason::Warning(_)
            | PauseReason::Error(_)
            | PauseReason::Exhausted(_)
            | PauseReason::Cap(_) => None,
        }
    }

    /// The step that the question is about; none for an obstacle.
    pub fn step(&self) -> Option<StepId> {
        match self {
            PauseReason::Boundary(step)
            | PauseReason::Warning(step)
            | PauseReason::Error(step)
            | PauseReason::Exhausted(step)
            | PauseReason::Cap(step) => Some(*step),
            PauseReason::Obstacle(_) | PauseReason::Changed(_) => None,
        }
    }

    /// The step whose failure makes the mission wait.
    fn failed_step(&self) -> Option<StepId> {
        match self {
            PauseReason::Error(step) | PauseReason::Exhausted(step) => Some(*step),
            PauseReason::Boundary(_)
            | PauseReason::Warning(_)
            | PauseReason::Cap(_)
            | PauseReason::Obstacle(_)
            | PauseReason::Changed(_) => None,
        }
    }
}

/// Stored form: one question as itself, as versions with a single question write it, and several as a list.
#[cfg(feature = "serde")]
pub(super) mod stored {
    use alloc::vec;
    use alloc::vec::Vec;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::mission::Pause;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(Pause),
        Many(Vec<Pause>),
    }

    pub(in crate::mission) fn serialize<S: Serializer>(
        questions: &[Pause],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match questions {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }

    pub(in crate::mission) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Pause>, D::Error> {
        Ok(match Option::deserialize(deserializer)? {
            None => Vec::new(),
            Some(OneOrMany::One(one)) => vec![one],
            Some(OneOrMany::Many(many)) => many,
        })
    }
}
