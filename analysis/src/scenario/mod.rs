//! Scenarios: what a workflow is expected to do with a task, step by step, in a file beside it.

mod read;
mod run;
mod write;

use orange_core::Actor;

pub use read::{ACTS, FILE, is_workflow, read, workflow};
pub use run::{FailedExpectation, ScenarioResult, run};
pub use write::of_trace;

use crate::search::task::Agent;
use crate::walk::Act;
use orange_codegen::span::{Span, Spanned};

/// One file of scenarios.
#[derive(Clone, Debug)]
pub struct Scenarios {
    /// The workflow's file, relative to this one; without it, the file of the same stem.
    pub workflow: Option<Spanned<String>>,
    /// In source order.
    pub all: Vec<Scenario>,
}

/// One task's story.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name, which says what the scenario shows.
    pub name: Spanned<String>,
    /// Condition of the task before the first step.
    pub given: GivenTask,
    /// Steps, in order.
    pub steps: Vec<ScenarioStep>,
}

/// Condition of a task before the first step; what is not given is as in a new task.
#[derive(Clone, Debug, Default)]
pub struct GivenTask {
    pub status: Option<Spanned<String>>,
    pub body: Option<String>,
    /// Values of counters.
    pub counters: Vec<(Spanned<String>, u32)>,
    /// The agents that are alive.
    pub agents: Vec<Actor>,
    /// The names of reviewers that are alive.
    pub reviewers: Vec<String>,
    /// True if it has a worktree; a task with an agent has one.
    pub workspace: Option<bool>,
}

/// Something that somebody does, and what is expected of it.
#[derive(Clone, Debug)]
pub struct ScenarioStep {
    /// The whole step.
    pub span: Span,
    pub act: Act,
    /// Expectations after the act.
    pub expect: Expect,
}

/// Expectations after a step; what is not named may be anything.
#[derive(Clone, Debug, Default)]
pub struct Expect {
    /// State of the task.
    pub status: Option<Spanned<String>>,
    /// Code of the refusal: `gate_failed`.
    pub rejection: Option<Spanned<String>>,
    /// The names of the hooks that ran, in order.
    pub hooks: Option<Spanned<Vec<String>>>,
    /// Values of counters.
    pub counters: Vec<(Spanned<String>, Spanned<u32>)>,
    /// The agents that are alive, and no other.
    pub agents: Option<Spanned<Vec<Actor>>>,
    /// The names of the reviewers with names that are alive, and no other.
    pub reviewers: Option<Spanned<Vec<String>>>,
    /// True if a worktree is bound to it.
    pub workspace: Option<Spanned<bool>>,
}

impl GivenTask {
    fn agent(&self, actor: Actor) -> Agent {
        if self.agents.contains(&actor) { Agent::Live } else { Agent::None }
    }
}
