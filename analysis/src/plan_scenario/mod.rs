//! Scenarios of step workflows: what a mission is expected to do, act by act, in a file beside the workflow.

mod read;
mod run;
#[cfg(test)]
mod tests;

pub use read::{ACTS, FILE, read};
pub use run::run;

use orange_codegen::span::{Span, Spanned};
use orange_core::plan::{Execution, Intervene};

use crate::missions::PauseReply;
use crate::plan_walk::Coverage;
use crate::scenario::FailedExpectation;

/// One mission's story.
#[derive(Clone, Debug)]
pub struct PlanScenario {
    /// Name, which says what the scenario shows.
    pub name: Spanned<String>,
    /// Setting for how far the mission goes by itself; the plan's by default.
    pub execution: Option<Execution>,
    /// Setting for when it pauses; the plan's by default.
    pub intervene: Option<Intervene>,
    /// Inputs of the mission, as `NAME=VALUE`; of a list, one for each item.
    pub inputs: Vec<String>,
    /// Acts, in order.
    pub acts: Vec<ScenarioAct>,
}

/// Something that happens, and what is expected of it.
#[derive(Clone, Debug)]
pub struct ScenarioAct {
    /// The whole item.
    pub span: Span,
    pub act: NamedAct,
    /// The role of the agent; by default it may be any.
    pub by: Option<Spanned<String>>,
    /// The attempt that reports; the current one by default.
    pub attempt: Option<u32>,
    /// Expectations after the act.
    pub expect: PlanExpectation,
}

/// An act on steps that are known by their names.
#[derive(Clone, Debug)]
pub enum NamedAct {
    /// An agent completes a step.
    Complete {
        step: Spanned<String>,
        /// The word that it reports.
        result: Option<String>,
        /// Summary of the work.
        summary: String,
        /// Note that a person should look at.
        warning: Option<String>,
        /// Its outputs, as `NAME=VALUE`; of a list, one for each item.
        outputs: Vec<String>,
    },
    /// An agent reports a failure.
    Fail { step: Spanned<String>, reason: String },
    /// An agent ends without a word.
    Lose(Spanned<String>),
    /// A person answers the question of a step.
    Answer { step: Spanned<String>, word: String, comment: String },
    /// Nobody answers the question of a step in time.
    Expire(Spanned<String>),
    /// A person answers an open pause.
    Continue(PauseReply),
    /// A person runs a failed mission again.
    Retry(Option<Spanned<String>>),
    /// A person ends the mission.
    Cancel,
}

/// Expectations after an act; what is not named may be anything.
#[derive(Clone, Debug, Default)]
pub struct PlanExpectation {
    /// The status of the mission.
    pub status: Option<Spanned<String>>,
    /// The statuses of steps.
    pub steps: Vec<(Spanned<String>, Spanned<String>)>,
    /// Texts that the contexts of steps contain.
    pub context: Vec<(Spanned<String>, Spanned<String>)>,
    /// Reason for the mission's oldest open pause, or `none`.
    pub pause: Option<Spanned<String>>,
    /// Reasons for its open pauses, the oldest first.
    pub pauses: Option<Spanned<Vec<String>>>,
    /// Reason for the refusal of the act.
    pub refusal: Option<Spanned<String>>,
}

/// Result of one scenario.
#[derive(Clone, Debug, Default)]
pub struct PlanScenarioResult {
    /// Expectations that were not met; the first act that fails ends the scenario.
    pub failed: Vec<FailedExpectation>,
    /// Parts of the plan that it has used.
    pub coverage: Coverage,
}
