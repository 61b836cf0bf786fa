//! The mission: one run of a plan. [`Mission::apply`] is the one place that decides what happens to it.

mod again;
mod apply;
mod ask;
mod cap;
mod cascade;
mod context;
mod event;
mod fan_out;
mod items;
mod landing;
mod program;
mod questions;
mod read;
mod refused;
mod room;
mod still;
#[cfg(test)]
pub(crate) mod tests;

use alloc::string::String;
use alloc::vec::Vec;

pub use self::ask::{Answer, Answered, Answerer};
pub use self::cap::Cap;
pub use self::event::{AnswerEffect, Effect, Event, Refusal};
pub use self::items::{ItemState, ItemStatus, ItemView};
pub use self::landing::LandingEnd;
pub use self::program::{ProgramOutcome, ProgramOutput, ProgramReport};
use crate::plan::{Inputs, Plan, Policy, StepId};

/// Number of lost workers of a step in a row after which the step has failed.
pub const MOST_ABANDONED: u16 = 5;

/// One run of a plan. It holds everything that decisions read, and no time, path or name of the world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mission {
    /// Status of the mission.
    pub status: MissionStatus,
    /// Policy of its pauses.
    pub policy: Policy,
    /// By [`StepId`].
    pub steps: Vec<StepState>,
    /// Open questions, the oldest first. There is one exactly while the mission is paused.
    #[cfg_attr(
        feature = "serde",
        serde(
            rename = "pause",
            default,
            skip_serializing_if = "crate::is_default",
            with = "self::questions::stored"
        )
    )]
    pub questions: Vec<Pause>,
    /// Number of pauses so far.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub pauses: u32,
    /// Values that it was started with.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub inputs: Inputs,
    /// Attempts that are left under the `max_attempts` of its plan; `None` of a plan without.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub cap: Option<Cap>,
}

/// Status of a mission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum MissionStatus {
    /// It waits for a free slot.
    Pending,
    /// Its steps run.
    Running,
    /// It waits for an answer.
    Paused,
    /// Every step has ended, none with a failure that nothing has handled.
    Completed,
    /// A step has failed and nothing has handled that, or a loop was exhausted.
    Failed,
    /// Somebody has ended it.
    Cancelled,
}

/// A step of a mission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StepState {
    /// Status of the step.
    pub status: StepStatus,
    /// Its attempts, the first one first; the number of an attempt is its place here plus one. The last one is the current.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub attempts: Vec<Attempt>,
    /// The ends without a word in a row.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub lost: u16,
    /// Number of times in a row that its worker was lost.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub abandoned: u16,
    /// Number of completions of a loop step, its handled failures included.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub completions: u16,
    /// Number of further completions that a person has granted to a loop step.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub granted: u16,
    /// Its loop was exhausted, and nobody has granted another round.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub is_exhausted: bool,
    /// Reason for its failure; `Some` exactly while it is failed.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub failure: Option<StepFailure>,
    /// Its handler has completed: its failure no longer counts.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub is_handled: bool,
    /// Report of its latest completion, or of its handler's. Conditions and contexts read it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub latest: Option<Report>,
    /// The loop step that sent it back last.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub sent_back_by: Option<StepId>,
    /// Its items, once the list is read: those of a fan-out, or the only one of a step with its own worktree.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub items: Vec<ItemState>,
    /// The items of the latest completion of a fan-out, unless its handler has reported since.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub latest_items: Vec<ItemState>,
    /// Number of completions of a step with items.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub rounds: u32,
}

/// Status of a step. One with open items is queued while all of them are, else running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum StepStatus {
    /// It waits for its dependencies or its condition, or a handler for the failure.
    Blocked,
    /// It may start.
    Queued,
    /// A worker has taken it, and its agent has not started.
    Assigned,
    /// Its agent runs.
    Running,
    /// A person is asked, and has not answered.
    Asked,
    /// Its current attempt has completed.
    Completed,
    /// It has failed.
    Failed,
    /// Its condition does not hold and cannot any more, or a handler was not needed.
    Skipped,
    /// The mission was cancelled before it ended.
    Cancelled,
}

/// One try at a step. It gets its number when the step is queued.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Attempt {
    /// End of the attempt, once it has ended.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub end: Option<AttemptEnd>,
    /// Of an ask: the commit that is shown to the person.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub shown: Option<String>,
    /// Of a fan-out: the number of its item, its place in the list.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub item: Option<u16>,
    /// Of a step with its own worktree: the end of the landing of its branch.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub landing: Option<LandingEnd>,
}

/// End of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum AttemptEnd {
    /// Its agent has reported a completion.
    Completed(Report),
    /// Its agent has reported a failure, or its time was over.
    Failed {
        /// Reason for the failure.
        reason: String,
    },
    /// A person has rejected what they were asked to approve.
    Rejected {
        /// Reason for the failure.
        reason: String,
        /// Origin of the answer.
        answer: Answered,
    },
    /// Its agent has ended without a word.
    Lost,
    /// Its worker was lost, so that nobody hears of its agent any more.
    Abandoned,
    /// The step went back, or the mission ended, before it had ended.
    Withdrawn,
}

/// Report of a completion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// Result in one word, such as `PASS`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub result: Option<String>,
    /// Summary of the work.
    pub summary: String,
    /// Call for a person's attention.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub warning: Option<String>,
    /// The declared outputs of the step, or of the step that it handles.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub outputs: Inputs,
    /// Origin of the answer that it is; `None` of an agent's or a program's report.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub answer: Option<Answered>,
}

/// Reason for the failure of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum StepFailure {
    /// Its attempt has failed.
    Reported(String),
    /// Its agents have ended without a word this often in a row.
    Stuck(u16),
    /// Its workers were lost this often in a row.
    Abandoned(u16),
    /// Fewer of its items have completed than it needs.
    Items {
        /// Number of items that have failed.
        failed: u16,
        /// Number of its items.
        of: u16,
    },
    /// Its condition held once more after it had completed this often.
    Exhausted(u16),
    /// It needed an attempt, and the mission has none left.
    Cap,
    /// A step on which it depends has failed.
    Because(StepId),
}

/// Question of a paused mission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pause {
    /// Counted from 1 in each mission.
    pub number: u32,
    /// Reason for the pause.
    pub reason: PauseReason,
    /// A loop step has completed late and has sent the failed step back: any answer goes on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_default"))]
    pub is_pointless: bool,
}

/// Reason for a pause of a mission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum PauseReason {
    /// A step has ended; nothing is wrong.
    Boundary(StepId),
    /// A step has completed with a warning.
    Warning(StepId),
    /// A step has failed; nothing follows from that before the answer.
    Error(StepId),
    /// The loop of this step is exhausted; nothing follows from that before the answer.
    Exhausted(StepId),
    /// This step needs an attempt, and the mission has none left.
    Cap(StepId),
    /// The mission cannot go on, whatever its policy: no worktree, no harness, a damaged plan.
    Obstacle(String),
    /// These files of the worktree have changed while only readers worked.
    Changed(Vec<String>),
}

impl Mission {
    /// A mission that waits for a slot, without inputs.
    pub fn new(plan: &Plan<'_>, policy: Policy) -> Mission {
        Mission::with_inputs(plan, policy, Inputs::new())
    }

    /// A mission that waits for a slot. [`Plan::start_inputs`] has checked its inputs.
    pub fn with_inputs(plan: &Plan<'_>, policy: Policy, inputs: Inputs) -> Mission {
        let steps = plan.steps.iter().map(|_| StepState::default()).collect();
        let cap = Cap::of(plan);
        Mission {
            status: MissionStatus::Pending,
            policy,
            steps,
            questions: Vec::new(),
            pauses: 0,
            inputs,
            cap,
        }
    }

    /// State of a step.
    pub fn step(&self, id: StepId) -> &StepState {
        &self.steps[id.index()]
    }

    fn step_mut(&mut self, id: StepId) -> &mut StepState {
        &mut self.steps[id.index()]
    }

    /// The step that runs, or would run next if the mission went on.
    pub fn upcoming(&self) -> Option<StepId> {
        let queued = || self.with(|it| it.status == StepStatus::Queued).next();
        let asked = || self.with(|it| it.status == StepStatus::Asked).next();
        let landing = || self.landings().next().map(|it| it.step);
        self.busy().or_else(landing).or_else(|| self.asked_steps().next()).or_else(queued).or_else(asked)
    }

    /// The steps for which this holds, in source order.
    fn with(&self, holds: impl Fn(&StepState) -> bool) -> impl Iterator<Item = StepId> {
        let steps = self.steps.iter().enumerate();
        steps.filter(move |(_, it)| holds(it)).map(|(index, _)| StepId(index as u16))
    }
}

impl StepState {
    /// Status of the step over all rounds: one that has completed, and that the last round did not need, is completed.
    pub fn standing(&self) -> StepStatus {
        let has_completed = self.own_rounds() > 0;
        if self.status == StepStatus::Skipped && has_completed { StepStatus::Completed } else { self.status }
    }
}

impl MissionStatus {
    /// Every status.
    pub const ALL: [MissionStatus; 6] = [
        MissionStatus::Pending,
        MissionStatus::Running,
        MissionStatus::Paused,
        MissionStatus::Completed,
        MissionStatus::Failed,
        MissionStatus::Cancelled,
    ];

    /// Word in stores and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            MissionStatus::Pending => "pending",
            MissionStatus::Running => "running",
            MissionStatus::Paused => "paused",
            MissionStatus::Completed => "completed",
            MissionStatus::Failed => "failed",
            MissionStatus::Cancelled => "cancelled",
        }
    }

    /// The status of this name.
    pub fn from_name(name: &str) -> Option<MissionStatus> {
        MissionStatus::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// True if the mission has ended.
    pub fn is_terminal(self) -> bool {
        match self {
            MissionStatus::Completed | MissionStatus::Failed | MissionStatus::Cancelled => true,
            MissionStatus::Pending | MissionStatus::Running | MissionStatus::Paused => false,
        }
    }
}

impl StepStatus {
    /// Every status.
    pub const ALL: [StepStatus; 9] = [
        StepStatus::Blocked,
        StepStatus::Queued,
        StepStatus::Assigned,
        StepStatus::Running,
        StepStatus::Asked,
        StepStatus::Completed,
        StepStatus::Failed,
        StepStatus::Skipped,
        StepStatus::Cancelled,
    ];

    /// Its word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            StepStatus::Blocked => "blocked",
            StepStatus::Queued => "queued",
            StepStatus::Assigned => "assigned",
            StepStatus::Running => "running",
            StepStatus::Asked => "asked",
            StepStatus::Completed => "completed",
            StepStatus::Failed => "failed",
            StepStatus::Skipped => "skipped",
            StepStatus::Cancelled => "cancelled",
        }
    }

    /// True if the step has ended.
    pub fn is_terminal(self) -> bool {
        match self {
            StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped | StepStatus::Cancelled => true,
            StepStatus::Blocked
            | StepStatus::Queued
            | StepStatus::Assigned
            | StepStatus::Running
            | StepStatus::Asked => false,
        }
    }

    /// True if an attempt of the step is open.
    pub fn is_active(self) -> bool {
        match self {
            StepStatus::Queued | StepStatus::Assigned | StepStatus::Running | StepStatus::Asked => true,
            StepStatus::Blocked
            | StepStatus::Completed
            | StepStatus::Failed
            | StepStatus::Skipped
            | StepStatus::Cancelled => false,
        }
    }
}

impl Default for StepState {
    /// A step on which nothing has been tried.
    fn default() -> StepState {
        StepState {
            status: StepStatus::Blocked,
            attempts: Vec::new(),
            lost: 0,
            abandoned: 0,
            completions: 0,
            granted: 0,
            is_exhausted: false,
            failure: None,
            is_handled: false,
            latest: None,
            sent_back_by: None,
            items: Vec::new(),
            latest_items: Vec::new(),
            rounds: 0,
        }
    }
}

impl StepState {
    /// The number of the current attempt; 0 before the first.
    pub fn attempt(&self) -> u32 {
        self.attempts.len() as u32
    }
}
