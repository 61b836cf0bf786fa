//! Questions of steps that wait for the answer of a person.

use orange_core::mission::MissionStatus;
use orange_core::plan::{Ask, Step, StepId, StepValues};

use super::{Millis, StoredMission};

/// A question of a step that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub step: StepId,
    pub attempt: u32,
    pub text: String,
    /// Reports of the steps before it; `None` where the question does not show them.
    pub context: Option<String>,
    /// Time at which it was put.
    pub since: Millis,
    /// Time until which an answer counts; `None` of one that waits for ever.
    pub until: Option<Millis>,
    /// The commit of the mission's branch that it shows.
    pub commit: Option<String>,
}

impl StoredMission {
    /// The questions that wait for an answer, in the order of the plan's source.
    pub fn questions(&self) -> Vec<Question> {
        match self.mission.status {
            MissionStatus::Running | MissionStatus::Paused => {
                self.mission.open_asks().map(|(step, attempt)| self.question(step, attempt)).collect()
            }
            MissionStatus::Pending
            | MissionStatus::Completed
            | MissionStatus::Failed
            | MissionStatus::Cancelled => Vec::new(),
        }
    }

    fn question(&self, step: StepId, attempt: u32) -> Question {
        let (rule, mission) = (self.plan.step(step), &self.mission);
        let context = mission.context(self.plan, step);
        let text = rule.prompt.fill(&StepValues {
            mission_prompt: &self.prompt,
            worktree_path: "",
            item: "",
            context: &context,
            step: rule.id,
            attempt,
            branch: &self.row.branch,
            base: "",
            reads: &mission.reads(self.plan, &rule.prompt),
        });
        let run = self.runs.iter().find(|it| it.step == rule.id && it.attempt == attempt);
        let since = run.map_or(self.row.updated, |it| it.started.unwrap_or(it.queued));
        Question {
            step,
            attempt,
            text: text.trim().to_owned(),
            context: rule.ask.is_some_and(|it| it.shows_context).then_some(context),
            since,
            until: rule.timeout.map(|it| since + 1000 * Millis::from(it)),
            commit: mission.step(step).shown().cloned(),
        }
    }
}

/// Names of the persons who may answer the question of a step; empty if everybody may.
pub fn persons<'a>(step: &Step<'a>) -> &'a [&'a str] {
    step.ask.map_or(&[], |it: &Ask<'a>| it.who)
}

/// The answer that counts when the time for one is over, or `fail`; `None` of a question that waits for ever.
pub fn after_time<'a>(step: &Step<'a>) -> Option<&'a str> {
    step.timeout.map(|_| step.ask.and_then(|it| it.on_timeout).unwrap_or("fail"))
}
