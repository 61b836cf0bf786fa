//! `orange workflow`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use orange_core::plan::{Execution, Intervene};
use serde::{Deserialize, Serialize};

use crate::DeclaredValue;
use crate::error::Failure;

/// A workflow that tasks or missions can follow, or that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ListedWorkflow<'l> {
    /// Tasks can follow it.
    Compiled {
        /// Its name and figures.
        #[serde(flatten)]
        workflow: Workflow,
        /// Its file; null when it is compiled in.
        file: Option<String>,
    },
    /// Missions can follow it.
    Plan {
        /// Its name and figures.
        #[serde(flatten)]
        plan: Plan,
        /// Its file; null when it is compiled in.
        file: Option<String>,
    },
    /// Its file has errors.
    Broken {
        /// Name of the workflow.
        name: Cow<'l, str>,
        /// Path of its file; null if it has none.
        file: Option<String>,
        /// The errors of the file.
        error: Cow<'l, Failure>,
    },
}

/// A workflow in a few figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Workflow {
    /// Name of the workflow.
    pub name: String,
    /// Its version, as its source says.
    pub version: u32,
    /// Its purpose; empty if its source does not say.
    pub description: String,
    /// The number of states.
    pub states: usize,
    /// The number of transitions.
    pub transitions: usize,
    /// The number of transitions with a guard.
    pub guards: usize,
    /// The hash of its source.
    pub source_hash: String,
    /// The hash of its prompts.
    pub prompts_hash: String,
}

/// A step workflow in a few figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Name of the workflow.
    pub name: String,
    /// Its version, as its source says; empty if it does not.
    pub version: String,
    /// Its purpose; empty if its source does not say.
    pub description: String,
    /// The number of steps.
    pub steps: usize,
    /// The hash of its source and its prompts.
    pub source_hash: String,
}

/// A workflow with its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ShownWorkflow {
    /// One that tasks follow.
    Machine(ShownMachine),
    /// One that missions follow.
    Plan(ShownPlan),
}

/// A step workflow with its steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownPlan {
    /// Its name and figures.
    #[serde(flatten)]
    pub plan: Plan,
    /// Execution: `step` pauses after every step, `auto` continues.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub execution: Execution,
    /// At which ends of steps a mission pauses.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub intervene: Intervene,
    /// True if the person or agent that starts a mission gets messages.
    pub notices: bool,
    /// Names of its roles.
    pub roles: Vec<String>,
    /// Values that a mission is started with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<DeclaredValue>,
    /// Its steps, in the order in which they can run.
    pub step_list: Vec<PlanStep>,
}

/// A step of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlanStep {
    /// Name of the workflow.
    pub id: String,
    /// A line about it.
    pub title: String,
    /// Role of the crab or agent that may take it.
    pub role: String,
    /// The steps that end before it is decided.
    pub depends_on: Vec<String>,
    /// Condition of its run; null when it always runs.
    pub condition: Option<String>,
    /// The words that an attempt may report; empty when any word may be.
    pub results: Vec<String>,
    /// Values that a completion reports besides result and summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<DeclaredValue>,
    /// Limit of completions that send steps back; 0 for a step without a loop.
    pub max_retries: u16,
    /// The steps that it sends back.
    pub requeue: Vec<String>,
    /// The step that handles its failure.
    pub on_fail: Option<String>,
}

/// A state machine workflow with its states and transitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownMachine {
    /// Its name and figures.
    #[serde(flatten)]
    pub workflow: Workflow,
    /// States, in the order of the file.
    pub state_list: Vec<State>,
    /// Its transitions.
    pub transition_list: Vec<Transition>,
    /// Its watch rules, by state and then in the order of the file.
    pub watch_list: Vec<WatchRule>,
    /// The state that each command leads to, by the name of the command.
    pub commands: BTreeMap<String, String>,
}

/// A state of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct State {
    /// Name of the workflow.
    pub name: String,
    /// True if new tasks begin in it.
    #[serde(skip)]
    pub initial: bool,
    /// True if a task in it is over.
    pub terminal: bool,
    /// True if a task may be created in it.
    pub entry: bool,
    /// True if it waits for a person.
    pub waits_for_human: bool,
    /// Whom it waits for, in words.
    #[serde(skip)]
    pub waits_for: Option<String>,
    /// True if its agent can be started again.
    pub respawnable: bool,
}

/// A transition of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Transition {
    /// The state that it leaves.
    pub from: String,
    /// The state that it reaches.
    pub to: String,
    /// Actors that may ask for it.
    pub by: Vec<String>,
    /// The kind of fact for which it is alone: `pr.checks`, `pr.review`, `pr.threads`, `pr.mergeable`, `base` or `children`; null for another one.
    pub cause: Option<String>,
    /// Text of the guard; null without one.
    pub guard: Option<String>,
    /// Requirements of its gates, in words.
    pub gate: Option<String>,
    /// Its hooks, in order.
    pub hooks: Vec<String>,
}

/// A watch rule of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WatchRule {
    /// The state that has it.
    pub status: String,
    /// The fact for which it waits, as the workflow writes it: `pr: {checks: red}`.
    pub fact: String,
    /// Text of its guard; null without one.
    pub guard: Option<String>,
    /// The most requests to run the failed checks of one commit again before it applies.
    pub rerun: u8,
    /// The states to which it leads.
    pub then: Vec<String>,
}

/// Contract of a workflow with agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Contract<'m> {
    /// The workflow.
    pub workflow: Cow<'m, str>,
    /// The statuses in which an agent can ask for something.
    pub statuses: Vec<StatusContract<'m>>,
}

/// Contract with agents in a status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct StatusContract<'m> {
    /// Name of the state.
    pub status: Cow<'m, str>,
    /// The transitions that an agent can ask for.
    pub transitions: Vec<Duty<'m>>,
    /// The statuses that only a person may ask for, in words.
    #[serde(skip)]
    pub for_persons: Vec<Cow<'m, str>>,
    /// The statuses that declared actors may ask for and agents may not, with those who may.
    #[serde(skip)]
    pub for_programs: Vec<(Cow<'m, str>, Vec<Cow<'m, str>>)>,
}

/// A transition that an agent can ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Duty<'m> {
    /// The status that it leads to.
    pub to: Cow<'m, str>,
    /// Actors that may ask for it.
    pub by: Vec<Cow<'m, str>>,
    /// Text of the guard; null without one.
    pub guard: Option<Cow<'m, str>>,
    /// Requirements of its gates, in words.
    pub gate: Option<String>,
    /// An example of the sections that pass the gates, if none of these refuses it as old.
    pub write: Option<String>,
    /// The command that asks for it.
    pub run: String,
    /// Every reason for a refusal, in words.
    pub refused: Vec<String>,
}

impl ListedWorkflow<'_> {
    /// Name of the workflow.
    pub fn name(&self) -> &str {
        match self {
            ListedWorkflow::Compiled { workflow, .. } => &workflow.name,
            ListedWorkflow::Plan { plan, .. } => &plan.name,
            ListedWorkflow::Broken { name, .. } => name,
        }
    }
}

impl ShownWorkflow {
    /// The states of a state machine; none of a step workflow.
    pub fn states(&self) -> &[State] {
        match self {
            ShownWorkflow::Machine(machine) => &machine.state_list,
            ShownWorkflow::Plan(_) => &[],
        }
    }

    /// The steps of a step workflow; none of a state machine.
    pub fn steps(&self) -> &[PlanStep] {
        match self {
            ShownWorkflow::Machine(_) => &[],
            ShownWorkflow::Plan(plan) => &plan.step_list,
        }
    }

    /// The state to which a command such as `merge` leads.
    pub fn target_of(&self, command: &str) -> Option<&str> {
        match self {
            ShownWorkflow::Machine(machine) => machine.commands.get(command).map(String::as_str),
            ShownWorkflow::Plan(_) => None,
        }
    }
}
