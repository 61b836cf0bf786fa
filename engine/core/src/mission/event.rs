//! Events of a mission, the effects for its driver, and the refusals.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Answer, Answerer, MissionStatus, Pause, Report, StepStatus};
use crate::plan::{Execution, Intervene, StepId, ValueFault};

/// Something that happens to a mission.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Event {
    /// It has a slot.
    Begin,
    /// A worker has taken a queued step.
    Assign {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of its current attempt.
        attempt: u32,
    },
    /// The agent of a queued or assigned step has started.
    Start {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of its current attempt.
        attempt: u32,
    },
    /// The agent of an attempt reports a completion.
    Complete {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt that the agent carries.
        attempt: u32,
        /// Report of the agent.
        report: Report,
    },
    /// The agent of an attempt reports a failure, or its time is over.
    Fail {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt that the agent carries.
        attempt: u32,
        /// Reason for the failure.
        reason: String,
    },
    /// The agent of an attempt has ended without a word.
    Lose {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The worker of an attempt is lost. That says nothing of its agent, and does not count as an end without a word.
    Abandon {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The question of a queued ask is put to its people, or the commit that it shows is another one now.
    Ask {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of its current attempt.
        attempt: u32,
        /// The commit of the mission's branch that they see; `None` where there is none.
        commit: Option<String>,
    },
    /// A person answers the question of a step.
    Answer {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt that they answer.
        attempt: u32,
        /// Answer of the person.
        answer: Answer,
    },
    /// The time for an answer is over.
    Expire {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The branch of an attempt in its own worktree is merged into that of the mission.
    Landed {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The branch of an attempt in its own worktree does not merge into that of the mission; nothing is merged.
    Conflict {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
        /// Description of the conflict, with the files and the branch.
        reason: String,
    },
    /// The worktree of the mission has changed while only readers worked there. A person looks at that, whatever the policy.
    WorktreeChanged {
        /// Paths of the files that differ.
        files: Vec<String>,
    },
    /// The mission cannot go on before a person has removed an obstacle.
    Obstruct {
        /// Description of the obstacle.
        reason: String,
    },
    /// A person answers a question.
    Continue {
        /// The number of the question that they mean; without one, the oldest open one.
        pause: Option<u32>,
        /// True if the failure is to be taken as it is.
        accept_failure: bool,
        /// The policy from now on.
        execution: Option<Execution>,
        /// The policy from now on.
        intervene: Option<Intervene>,
    },
    /// A person runs a failed mission again from its failed steps, or from this one.
    Retry {
        /// Number of the step in the plan.
        step: Option<StepId>,
    },
    /// A person ends the mission.
    Cancel,
}

/// Effect that a driver carries out after an event, in the given order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// End the agent of an attempt.
    EndAgent {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
    /// This report was accepted before: answer as then. Nothing has changed.
    Repeated,
    /// A person is asked.
    Paused(Pause),
    /// A question was answered. The mission goes on when none is open.
    Continued(AnswerEffect),
    /// Merge the branch of an attempt. [`Mission::next_landing`](super::Mission::next_landing) says so until it is merged.
    Land {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
    /// Start an agent. [`Mission::startable`](super::Mission::startable) says so until the attempt is started.
    Start {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
    /// Put the question of a step to its people. [`Mission::startable`](super::Mission::startable) says so until it is asked.
    Ask {
        /// Number of the step in the plan.
        step: StepId,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The mission has ended. One that has completed or is cancelled gives its worktree back.
    Ended(MissionStatus),
}

/// Effect of the answer to a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum AnswerEffect {
    /// The mission goes on.
    WentOn,
    /// The failed step is tried again.
    TriedAgain(StepId),
    /// The exhausted loop has one more round.
    Granted(StepId),
    /// The failure of the step counts.
    Accepted(StepId),
    /// The mission has as many attempts again.
    Extended,
    /// No attempt is given out any more.
    Capped,
}

/// Reason for which an event is refused. A refused event changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Refusal {
    /// The mission has ended.
    Closed(MissionStatus),
    /// The mission has begun.
    HasBegun,
    /// The mission has not begun.
    Pending,
    /// The mission is paused, so that nothing starts.
    Paused,
    /// The plan has no such step.
    NoSuchStep,
    /// The attempt is older than the current one.
    Stale {
        /// The number of the current one.
        current: u32,
    },
    /// There is no attempt of this number yet.
    NoSuchAttempt {
        /// The number of the current one; 0 when there is none.
        current: u32,
    },
    /// The attempt has ended, with another report.
    HasEnded,
    /// The step is not queued, or for a start neither queued nor assigned.
    NotQueued(StepStatus),
    /// This step works, and the other one does not fit beside it.
    Busy(StepId),
    /// The branch of the attempt is not being merged.
    NotLanding,
    /// The step asks persons, and this is none of them.
    NotYours(StepId),
    /// The step does not ask a person, or not yet.
    NotAsked(StepStatus),
    /// The question has been answered.
    Answered {
        /// The answer that counts.
        answer: String,
        /// The person who gave it, or the timeout.
        by: Answerer,
    },
    /// The answer is none of those that the step takes.
    NoSuchAnswer(StepId),
    /// The answer is about another commit than the one that is shown.
    OtherCommit {
        /// The one that is shown.
        shown: Option<String>,
    },
    /// A result is declared or read, and the report has none.
    ResultNeeded,
    /// The result is none of those that the step declares.
    ResultUndeclared,
    /// An output is missing, not declared or of another type.
    Output(ValueFault),
    /// The mission is not paused.
    NotPaused,
    /// The question has been answered, or was never asked.
    OtherPause {
        /// The number of the oldest open one.
        current: u32,
    },
    /// The question is not about a failure.
    NothingToAccept,
    /// Only a mission that has failed is retried.
    NotFailed(MissionStatus),
    /// The step has not failed, or only because of another one.
    NothingToRetry,
}
