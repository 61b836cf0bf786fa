//! What `orange … --json` answers, as far as the dashboard reads it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A row of a list that may be about a task or mission that cannot be read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Listed<T> {
    /// It cannot be read.
    Broken(Broken),
    /// It can be read.
    Readable(Box<T>),
}

/// A task or mission that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Broken {
    /// Its id.
    pub id: String,
    /// Its project.
    pub project: String,
    /// Why.
    pub error: Failure,
}

/// Why a command has failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Failure {
    /// What has failed.
    pub message: String,
    /// What to do about it.
    #[serde(default)]
    pub help: Option<String>,
}

impl Failure {
    /// What has failed, and what to do about it.
    pub fn sentence(&self) -> String {
        let help = self.help.iter().filter(|help| !help.is_empty()).map(|help| format!(": {help}"));
        format!("{}{}", self.message, help.collect::<String>())
    }
}

/// The answer of a command that has failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Refusal {
    /// Why.
    pub error: Failure,
}

/// A task in a list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TaskRow {
    /// Its id.
    pub id: String,
    /// Its project.
    pub project: String,
    /// Its branch.
    pub branch: String,
    /// Its status.
    pub status: String,
    /// The workflow it follows.
    pub workflow: String,
    /// The rounds of review.
    pub review_round: u32,
    /// What is to be done.
    pub summary: String,
    /// The harness of its workers.
    pub harness: String,
    /// Its worktree.
    pub workspace: Option<String>,
    /// `active`, `stopped`, `crashed`, `inactive` or `unknown`.
    pub session: String,
    /// What its living agents do.
    pub agents: Vec<Agent>,
    /// The tokens of its agents.
    pub spent: Option<Spending>,
    /// What a person should look at.
    pub attention: Option<String>,
    /// What has to happen before it can start.
    pub waits_for: Option<String>,
    /// When it last changed.
    pub updated_at: String,
    /// What it needs; null when it is over.
    pub need: Option<Need>,
    /// Its commits and changed lines.
    pub changes: Option<Change>,
    /// Its pull request.
    pub pr: Option<PullRequest>,
    /// The branch that is checked out in its worktree instead of its own.
    pub other_branch: Option<String>,
}

/// A mission in a list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MissionRow {
    /// Its id.
    pub id: String,
    /// Its project.
    pub project: String,
    /// Its branch.
    pub branch: String,
    /// The step workflow that it follows.
    pub workflow: String,
    /// Its status.
    pub status: String,
    /// The step that runs, comes next or is asked about.
    pub step: Option<String>,
    /// The first line of its prompt.
    pub summary: String,
    /// What a person should look at.
    pub attention: Option<String>,
    /// When it last changed.
    pub updated_at: String,
    /// What it needs; null when it is over.
    pub need: Option<Need>,
}

/// What a task or mission needs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Need {
    /// Its kind, in a word.
    pub kind: String,
    /// Whether it needs a person.
    pub person: bool,
    /// Since when, RFC 3339 UTC.
    pub since: Option<String>,
    /// A sentence about it.
    pub why: String,
    /// The number of the agent that it is about.
    pub agent: Option<u32>,
    /// The tool that an agent wants to use.
    pub tool: Option<String>,
    /// The argument of that tool, or the question.
    pub argument: Option<String>,
    /// The name of the request; none where it can be answered on the agent's screen alone.
    pub request: Option<String>,
    /// When a limit ends.
    pub until: Option<String>,
    /// The verdict of a review.
    pub verdict: Option<String>,
    /// The round of that review.
    pub round: Option<u32>,
    /// The size of the work.
    pub change: Option<Change>,
    /// What a person may do about it now, the most likely first.
    pub actions: Vec<Offer>,
}

/// Something that a person may do now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Offer {
    /// Its name.
    pub name: String,
    /// The words behind `orange`.
    pub command: Vec<String>,
    /// Whether it takes a text of the person as its last word.
    pub text: bool,
    /// The status that it leads to.
    pub to: Option<String>,
    /// Whether it gives judged work back to the worker.
    pub returns: bool,
}

/// The size of some work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Change {
    /// Its commits.
    pub commits: u32,
    /// Its files.
    pub files: u32,
    /// The lines that it adds.
    pub added: u32,
    /// The lines that it removes.
    pub removed: u32,
}

/// A pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PullRequest {
    /// Its address.
    pub url: String,
    /// Its number.
    pub number: Option<u64>,
    /// `open`, `merged` or `closed`, if it is known.
    pub state: Option<String>,
    /// The state of its checks, if it is known.
    pub checks: Option<String>,
}

/// A living agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// Its number.
    pub spawn: u32,
    /// `worker` or `reviewer`.
    pub actor: String,
    /// Its name, if it is one of several reviewers.
    pub name: Option<String>,
    /// What it does, in a word.
    pub state: String,
    /// What it does, in a sentence.
    pub reason: String,
}

/// What agents have used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Spending {
    /// Tokens.
    pub tokens: Option<u64>,
    /// What each has used.
    pub agents: Vec<AgentSpending>,
}

/// What one agent has used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct AgentSpending {
    /// Its number.
    pub spawn: u32,
    /// Tokens.
    pub tokens: Option<u64>,
}

/// A status that a task can go to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Next {
    /// The status.
    pub to: String,
    /// Who may ask for it.
    pub by: Vec<String>,
    /// Whether it can be asked for now.
    pub allowed: bool,
    /// Whether it gives judged work back to the worker.
    pub returns: bool,
    /// Its guard.
    pub guard: Option<String>,
    /// What its gates ask for.
    pub gate: Option<String>,
    /// What is missing.
    pub missing: Option<String>,
    /// Its hooks.
    pub hooks: Vec<String>,
}

/// A task in full.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ShownTask {
    /// What is to be done.
    pub summary: String,
    /// The harness of its workers.
    pub harness: String,
    /// The harness of its reviewers.
    pub review_harness: String,
    /// Its counters.
    pub counters: BTreeMap<String, u32>,
    /// What a person should look at.
    pub attention: Option<String>,
    /// Its pull request.
    pub pr_url: Option<String>,
    /// Its file.
    pub path: String,
    /// The sections of its body.
    pub sections: BTreeMap<String, String>,
    /// Its events, oldest first.
    pub history: Vec<Line>,
}

/// A line of a journal.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Line {
    /// When it was written.
    pub timestamp: String,
    /// What has happened.
    pub r#type: String,
    /// The rest of it.
    #[serde(flatten)]
    pub fields: serde_json::Map<String, serde_json::Value>,
}

/// A mission in full.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ShownMission {
    /// Its workflow.
    pub workflow_id: String,
    /// What it is asked to do.
    pub prompt: String,
    /// The folder of its worktree.
    pub worktree: Option<String>,
    /// `active`, `stopped`, `crashed`, `inactive` or `unknown`.
    pub session: String,
    /// What it asks a person.
    pub pause: Option<MissionPause>,
    /// What its living agents do.
    pub agents: Vec<Agent>,
    /// Its steps.
    pub steps: Vec<MissionStep>,
    /// What a person should look at.
    pub attention: Option<String>,
    /// Its file.
    pub path: String,
    /// Its events, oldest first.
    pub history: Vec<Line>,
}

/// What a mission asks a person.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MissionPause {
    /// The step that it is about.
    pub step: Option<String>,
    /// What has happened.
    pub what: String,
    /// The commands that answer it.
    pub offers: Vec<String>,
}

/// A step of a mission.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MissionStep {
    /// Its name.
    pub id: String,
    /// Its role.
    pub role: String,
    /// Its status.
    pub status: String,
    /// The result of its latest completion.
    pub result: Option<String>,
    /// The summary of the same.
    pub summary: Option<String>,
    /// Why it has failed.
    pub failure: Option<String>,
    /// Its attempts.
    pub attempts: Vec<Attempt>,
}

/// One try at a step.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Attempt {
    /// Its number.
    pub attempt: u32,
}

/// A workflow with its parts; of a step workflow, the steps.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ShownWorkflow {
    /// Its states.
    pub state_list: Vec<WorkflowState>,
    /// Its steps, in the order in which they can run.
    pub step_list: Vec<PlanStep>,
    /// The state that each command drives to, by the command.
    pub commands: BTreeMap<String, String>,
}

/// A state of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct WorkflowState {
    /// Its name.
    pub name: String,
    /// Whether a task in it is over.
    pub terminal: bool,
    /// Whether a task may be created in it.
    pub entry: bool,
}

/// A step of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PlanStep {
    /// Its name.
    pub id: String,
    /// The steps that end before it is decided.
    pub depends_on: Vec<String>,
}

/// A workflow in a list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ListedWorkflow {
    /// Its name.
    pub name: String,
    /// The number of states; null for a step workflow and for one that does not compile.
    pub states: Option<u32>,
    /// The number of steps; null for a workflow of tasks and for one that does not compile.
    pub steps: Option<u32>,
}

/// A project.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// Its repository.
    pub path: String,
    /// How many worktrees its tasks may hold.
    pub pool_size: u32,
    /// The workflow of its new tasks.
    pub workflow: String,
}

/// A harness.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Harness {
    /// Its name.
    pub name: String,
    /// Whether its program is there.
    pub installed: bool,
    /// Whether new tasks get it.
    pub default: bool,
}

/// What an agent shows.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Pane {
    /// The task.
    pub id: String,
    /// The number of the agent.
    pub spawn: u32,
    /// The size of its window.
    pub columns: u16,
    /// The size of its window.
    pub rows: u16,
    /// Where the cursor is.
    pub cursor: Option<Cursor>,
    /// Whether the agent is alive.
    pub alive: bool,
    /// Its lines, with colours.
    pub lines: Vec<String>,
}

/// A place on a screen, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Cursor {
    /// From the left.
    pub column: u16,
    /// From the top.
    pub row: u16,
}

/// A task or mission that has been created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Created {
    /// Its id.
    pub id: String,
    /// Its branch.
    pub branch: String,
    /// What it waits for, if its agent was not started.
    pub waiting: Option<String>,
}
