//! The resolved workflow: every name an id, every default filled in, a span on everything one can point at.
//!
//! These are the types of the stage and nothing else. Ids count in source order. Names are those of the engine's tables.

mod actors;
mod agents;
mod budget;
mod commands;
mod deadlines;
pub mod decoder;
mod different;
mod ending;
mod exit;
mod gate;
mod header;
mod hooks;
pub mod keys;
pub mod occurrences;
mod prompt_file;
mod prompts;
mod resolve;
pub mod reviewers;
mod sandbox;
mod scope;
mod shapes;
mod states;
mod step_ask;
mod step_condition;
mod step_expression;
mod step_fan_out;
mod step_gate;
mod step_number;
mod step_program;
mod step_prompt;
mod step_roles;
mod step_scope;
mod step_values;
mod steps;
mod transitions;
mod verdicts;
pub mod visit;
mod watch;

pub use agents::{AgentSettings, HarnessName};
pub use budget::{WrittenBudget, WrittenLimit};
pub use deadlines::Deadline;
pub use gate::{ChecksGate, ChildrenGate, CommandGate};
pub use resolve::{Draft, MachineDraft, no_workflow, resolve};
pub use reviewers::{AnySection, Verdicts};
pub use sandbox::WrittenSandbox;
pub use states::StateDelegates;
pub use step_ask::StepAsk;
pub use step_expression::{Compared, ConditionTest, Equality, Expression, StepCondition};
pub use step_fan_out::{StepFanOut, StepItemList};
pub use step_gate::StepGate;
pub use step_program::ProgramArgument;
pub use step_prompt::{StepPiece, StepPrompt, StepPromptFile};
pub use step_values::{DeclaredValue, ValueKind};
pub use steps::ANY;
pub use transitions::Ends;
pub use watch::{WatchRule, watched_fact};

use orange_core::wall::Demand;

pub use orange_core::plan::{
    Effort, Execution, Field, InputId, Intervene, Operand, OutputId, Policy, RoleId, StepId, StepValue,
    Value as TypedValue, WorktreeUse,
};
pub use orange_core::{
    Action, Actor, ActorId, Actors, CRASH_COUNT, Commands, CounterId, DEFAULT_STUCK_AFTER, DelegateInto,
    Fact, FactKind, MAX_ACTORS, MAX_RESUME_AFTER, OnFailure, OpenChildren, Permissions, PromptId,
    REVIEW_ROUND, Role, StateId, Value, Verdict, VerdictOf, Workspace,
};

pub use crate::guard::Counter;
use crate::guard::Guard;
use crate::included::Included;
use crate::span::{Span, Spanned};
use crate::syntax::Text;

/// The workflow that one file defines.
#[derive(Clone, Debug)]
pub enum Definition {
    /// A state machine workflow: states and transitions.
    Machine(Box<Workflow>),
    /// A step workflow: a graph of steps.
    Steps(Box<Steps>),
}

impl Definition {
    /// The workflow's name.
    pub fn name(&self) -> &Spanned<String> {
        match self {
            Self::Machine(workflow) => &workflow.name,
            Self::Steps(steps) => &steps.name,
        }
    }
}

/// A state machine workflow.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// Its name, `[a-z][a-z0-9-]*`.
    pub name: Spanned<String>,
    /// Its version, as the author counts: from 1, which is also the default. Without one the place is the whole file.
    pub version: Spanned<u32>,
    /// Purpose of the workflow, for people.
    pub description: Option<String>,
    /// State in which a new task starts.
    pub initial: StateId,
    /// `review_round`, `crash_count`, then `fields` in source order; a [`CounterId`] is an index here.
    pub counters: Vec<Counter>,
    /// The actors that it declares, in source order; an [`ActorId`] is an index here.
    pub actors: Vec<Spanned<String>>,
    /// The state that each command drives to.
    pub commands: Commands,
    /// True if work is meant to be merged without a person.
    pub unattended: bool,
    /// Limits of a task.
    pub budget: Option<WrittenBudget>,
    /// Demand on the confinement of every agent.
    pub sandbox: Option<WrittenSandbox>,
    /// In source order; a [`StateId`] is an index here.
    pub states: Vec<State>,
    /// In source order.
    pub gates: Vec<NamedGate>,
    /// In source order; `from: [a, b]` and `to: [c, d]` are one transition for each two states, by `to`, then `from`.
    pub transitions: Vec<Transition>,
    /// Rules that take a task out of a state when a fact outside of it holds, in source order.
    pub watch: Vec<WatchRule>,
    /// Limits for the time of a task within some states, in source order.
    pub deadlines: Vec<Deadline>,
    /// Rules for agents that have died, and for times that are over.
    pub exit_monitoring: ExitMonitoring,
    /// In source order; a [`PromptId`] is an index here.
    pub prompts: Vec<Prompt>,
    /// The files that prompts stand in.
    pub included: Included,
}

/// One state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name, `[A-Za-z][A-Za-z0-9_-]*`, where it is declared.
    pub name: Spanned<String>,
    /// True if no transition leaves it.
    pub terminal: bool,
    /// The prompt of a respawned agent; without it the state cannot be respawned.
    pub respawn_prompt: Option<Spanned<PromptId>>,
    /// Purpose of the state, for people.
    pub description: Option<String>,
    /// The only actor that moves a task on from here: a claim, which the checks hold the workflow to.
    pub wait: Option<Spanned<Wait>>,
    /// True if a task may be created here: as marked; where nothing is marked, the initial state and whichever of `clarification`,
    /// `agent-review`, `reviewing` exist.
    pub entry: bool,
    /// Rule for a task that has been here for too long; it stands before the other exit rules.
    pub timeout: Option<ExitRule>,
    /// Limits of a stay in it.
    pub budget: Option<WrittenBudget>,
    /// Rule for a task whose stay has used its budget up.
    pub spent: Option<ExitRule>,
    /// Settings of the agents that are started for it, where their hooks do not say.
    pub agent: AgentSettings,
    /// Demand on the confinement of these agents.
    pub sandbox: Option<WrittenSandbox>,
    /// Its agent may create tasks.
    pub delegates: Option<StateDelegates>,
}

/// The only actor that moves a task on from a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing but a person.
    Human,
}

/// One declared `from → to`.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The whole declaration; transitions of one `from: [a, b]` or `to: [a, b]` share it.
    pub span: Span,
    /// Index of the entry of `transitions` that declares it, from 0.
    pub declaration: u32,
    /// The state it leaves, and the name that says so.
    pub from: Spanned<StateId>,
    /// The state it leads to.
    pub to: Spanned<StateId>,
    /// The actors that may ask for it.
    pub by: Actors,
    /// The kind of fact for which it is; a transition without one is for everything else.
    pub cause: Option<Spanned<FactKind>>,
    /// Under which counter values.
    pub when: Option<Guard>,
    /// Its requirements; each of them must hold.
    pub gates: Vec<Gate>,
    /// The side effects of the transition, in order.
    pub hooks: Vec<Hook>,
    /// State to which the task goes when one of the hooks fails and stops the others.
    pub on_hook_failure: Option<Spanned<StateId>>,
}

/// One requirement of a transition or of an exit rule.
#[derive(Clone, Debug)]
pub enum Gate {
    /// The body has this section.
    Section(SectionGate),
    /// One of several sections says something.
    AnySection(AnySection),
    /// This program succeeds in the worktree.
    Command(CommandGate),
    /// The checks of the pull request are green.
    Checks(ChecksGate),
    /// Some task that the task has created is open, or none is.
    Children(ChildrenGate),
}

/// A gate under `gates`.
#[derive(Clone, Debug)]
pub struct NamedGate {
    /// Its name, where it is declared.
    pub name: Spanned<String>,
    /// The gate, as far as it was understood.
    pub gate: Option<Gate>,
}

/// Requirements on one section of the body. All parts that are asked for must hold.
#[derive(Clone, Debug)]
pub struct SectionGate {
    /// Place in a transition or a rule: the whole mapping, or the name of a gate under `gates`.
    pub place: Span,
    /// The whole mapping.
    pub span: Span,
    /// The heading, `#`s included: `## Review`.
    pub section: Spanned<String>,
    /// It must have a line that is not blank.
    pub required: bool,
    /// It must carry this verdict.
    pub verdict: Option<Spanned<String>>,
    /// The verdict must be the first line that is not blank, as `Verdict: …`.
    pub strict: bool,
    /// Its content must be new.
    pub fresh: bool,
    /// Part of the work that must be as it was when a gate accepted the verdict.
    pub of: Option<Spanned<VerdictOf>>,
    /// The authors of the section, as the workflow declares; the checks of authority read this.
    pub written_by: Option<Actors>,
    /// The verdicts that the section may have, where they are not `PASS` and `FAIL`, of a gate that asks for one. Without a `verdict`,
    /// the gate takes each of them.
    pub words: Vec<String>,
    /// The reviewers whose verdicts it asks for, where reviewers with names write a section each.
    pub verdicts: Option<Spanned<Verdicts>>,
    /// The reviewer with a name that writes the section.
    pub reviewer: Option<String>,
    /// The lines `NAME: something` that it must have.
    pub fields: RequiredFields,
}

/// The names for which a section must have a line.
#[derive(Clone, Debug)]
pub enum RequiredFields {
    /// One of these; there is at least one.
    Any(Vec<Spanned<String>>),
    /// Each of these; empty when none is asked for.
    All(Vec<Spanned<String>>),
}

impl Gate {
    /// Its requirements on sections: on the one that it reads, or on those of which one is enough.
    pub fn sections(&self) -> &[SectionGate] {
        match self {
            Self::Section(gate) => std::slice::from_ref(gate),
            Self::AnySection(gate) => &gate.sections,
            Self::Command(_) | Self::Checks(_) | Self::Children(_) => &[],
        }
    }

    /// Its place in a transition or a rule.
    pub fn place(&self) -> Span {
        match self {
            Self::Section(gate) => gate.place,
            Self::AnySection(gate) => gate.place,
            Self::Command(gate) => gate.place,
            Self::Checks(gate) => gate.place,
            Self::Children(gate) => gate.place,
        }
    }

    /// Place of its requirements.
    pub fn span(&self) -> Span {
        match self {
            Self::Section(gate) => gate.span,
            Self::AnySection(gate) => gate.sections.first().map_or(gate.place, |it| it.span),
            Self::Command(gate) => gate.span,
            Self::Checks(gate) => gate.span,
            Self::Children(gate) => gate.span,
        }
    }

    /// The verdict that it asks for.
    pub fn verdict(&self) -> Option<&Spanned<String>> {
        self.sections().first()?.verdict.as_ref()
    }

    /// A copy of the gate that stands in another place.
    fn at(&self, place: Span) -> Self {
        match self {
            Self::Section(gate) => Self::Section(SectionGate { place, ..gate.clone() }),
            Self::AnySection(gate) => Self::AnySection(AnySection { place, ..gate.clone() }),
            Self::Command(gate) => Self::Command(CommandGate { place, ..gate.clone() }),
            Self::Checks(gate) => Self::Checks(ChecksGate { place, ..*gate }),
            Self::Children(gate) => Self::Children(ChildrenGate { place, ..*gate }),
        }
    }
}

impl RequiredFields {
    /// The names.
    pub fn names(&self) -> &[Spanned<String>] {
        match self {
            Self::Any(names) | Self::All(names) => names,
        }
    }

    /// True if a line is missing, where `has` returns which names have one.
    pub fn is_lacking(&self, has: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Any(names) => !names.iter().any(|name| has(&name.value)),
            Self::All(names) => !names.iter().all(|name| has(&name.value)),
        }
    }
}

/// One side effect of a transition: an action, and what the file says of its parameters.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The whole mapping.
    pub span: Span,
    /// Place of the name of the action.
    pub named: Span,
    /// The action.
    pub action: Action,
    /// The start of an agent: always, or if none is alive.
    pub spawn: Option<Spawn>,
    /// The counter that changes before it acts: `reset` sets it back, every other action raises it by one.
    pub counter: Option<Spanned<CounterId>>,
    /// Text of the message that it sends.
    pub message: Option<Text>,
    /// The key of the frontmatter that it writes.
    pub field: String,
    /// The value that is written there.
    pub value: String,
    /// The program that it runs, and its arguments.
    pub argv: Vec<String>,
    /// Seconds after which the program is ended.
    pub timeout: u32,
    /// Effect of its failure on the transition.
    pub on_failure: OnFailure,
}

impl Hook {
    /// A hook without parameters.
    pub(crate) fn new(action: Action, span: Span, named: Span) -> Self {
        Self {
            span,
            named,
            action,
            spawn: None,
            counter: None,
            message: None,
            field: String::new(),
            value: String::new(),
            argv: Vec::new(),
            timeout: 0,
            on_failure: action.traits().on_failure,
        }
    }
}

/// The agent that a hook starts.
#[derive(Clone, Debug)]
pub struct Spawn {
    /// The prompt of the agent.
    pub prompt: Spanned<PromptId>,
    /// Role of the agent in its task.
    pub role: Role,
    /// Settings of the agent, as far as the hook says.
    pub agent: AgentSettings,
    /// Permissions that it has without asking.
    pub permissions: Permissions,
    /// The name of a reviewer beside which others can be alive.
    pub reviewer: Option<Spanned<String>>,
    /// Demand on its confinement, as far as the hook says.
    pub sandbox: Option<WrittenSandbox>,
}

/// Rules for agents that have died.
#[derive(Clone, Debug)]
pub struct ExitMonitoring {
    /// Seconds between two looks, at least 1.
    pub poll_interval: u32,
    /// In source order, which is the order they are tried in.
    pub rules: Vec<ExitRule>,
}

/// Rule for a dead agent in one state.
#[derive(Clone, Debug)]
pub struct ExitRule {
    /// The whole mapping.
    pub span: Span,
    /// The state it is for.
    pub status: Spanned<StateId>,
    /// The condition under which it applies.
    pub condition: Condition,
    /// Reaction to the end of the agent.
    pub outcome: Outcome,
}

/// The condition under which an exit rule applies.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Each of these gates holds; there is at least one.
    HasArtifact(Vec<Gate>),
    /// No `has_artifact` rule of the same state holds.
    NoArtifact,
    /// The agent ended like this.
    Ended(Ending),
    /// The time of this entry of `deadlines` is over.
    Overdue(usize),
    /// The budget of the state is used up.
    Spent,
    /// Every end of the agent.
    Always,
}

/// `exit` and `on_output`: how an agent ended. A part that is empty is for every end.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The text in the source, from the first of the two keys on.
    pub span: Span,
    /// Exit statuses, 0 to 255.
    pub codes: Vec<i32>,
    /// Signals that end it, 1 to 64; one of these or one of `codes`.
    pub signals: Vec<i32>,
    /// Text in its last lines; not blank.
    pub output: Option<Spanned<String>>,
    /// For how many seconds its task had been in its state; 1 to a week.
    pub after: Option<u32>,
}

/// Effect of an exit rule.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// `then`: takes the transition to this state.
    Then(Spanned<StateId>),
    /// `then_when`: takes the transition of the one clause that holds.
    ThenWhen(Vec<Clause>),
    /// `action: crash`
    Crash {
        /// Place of `crash`.
        named: Span,
        /// The number of crashes that escalates, at least 1.
        stuck_after: u32,
        /// True if an agent is started again before that.
        respawn: bool,
    },
    /// `action: mark_dead`
    MarkDead,
    /// `action: wait`
    Wait {
        /// Place of `wait`.
        named: Span,
        /// Seconds until the agent is started again, 1 to [`MAX_RESUME_AFTER`].
        resume_after: u32,
    },
}

/// One clause of a `then_when`.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The condition.
    pub when: Guard,
    /// The state it leads to.
    pub then: Spanned<StateId>,
}

/// The first message of an agent, parsed once.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Its key under `prompts`.
    pub name: Spanned<String>,
    /// Its value there: the text, or what names the file.
    pub span: Span,
    /// The text as written, placeholders included.
    pub text: Text,
    /// The file that the text stands in; absent where the workflow has it.
    pub file: Option<String>,
    /// The text in pieces; joined in order they are the prompt.
    pub pieces: Vec<PromptPiece>,
}

/// A piece of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptPiece {
    /// Literal text, `{{` and `}}` already made `{` and `}`.
    Text(String),
    /// A placeholder: put in once and never looked at again.
    Value(Value),
}

/// A step workflow.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Its name, `[a-z][a-z0-9-]*`.
    pub name: Spanned<String>,
    /// The author's own version of it.
    pub version: Option<String>,
    /// Purpose of the step workflow, for people.
    pub description: Option<String>,
    /// Policy for the pauses of a mission.
    pub policy: Policy,
    /// True if the person or agent that starts a mission gets messages.
    pub notices: bool,
    /// Limits of a mission.
    pub budget: Option<WrittenBudget>,
    /// Values that a mission is started with.
    pub inputs: Vec<DeclaredValue>,
    /// The most attempts of a mission.
    pub max_attempts: Option<Spanned<u32>>,
    /// Number of agents and programs that may work at once.
    pub parallel: Option<Spanned<u8>>,
    /// Demand on the confinement of every agent.
    pub sandbox: Option<WrittenSandbox>,
    /// The declared roles, or those that steps name, and `any`; a [`RoleId`] is an index here.
    pub roles: Vec<Spanned<String>>,
    /// In source order; a [`StepId`] is an index here.
    pub steps: Vec<Step>,
}

/// One step of a step workflow.
#[derive(Clone, Debug)]
pub struct Step {
    /// The whole table.
    pub span: Span,
    /// Its name, `[A-Za-z][A-Za-z0-9_-]*`.
    pub id: Spanned<String>,
    /// A line for people.
    pub title: Option<String>,
    /// Role of the agents that may take it.
    pub role: Spanned<RoleId>,
    /// Prompt of its agent, or question of an ask; empty of a program.
    pub prompt: StepPrompt,
    /// The program that does its work, and its arguments; empty of an agent.
    pub run: Vec<ProgramArgument>,
    /// Question to a person, whose answer is its end; `None` of an agent or a program.
    pub ask: Option<StepAsk>,
    /// Conditions that must hold before the report of its agent counts.
    pub gates: Vec<StepGate>,
    /// The steps that end before it is decided.
    pub depends_on: Vec<Spanned<StepId>>,
    /// Use of the mission's worktree, with the key that says so.
    pub worktree: Spanned<WorktreeUse>,
    /// One item for each element of a list; a step without is one job.
    pub fan_out: Option<StepFanOut>,
    /// Condition under which it runs; without one it runs always.
    pub condition: Option<StepCondition>,
    /// Results that an attempt may report; empty when any word may be.
    pub results: Vec<Spanned<String>>,
    /// Values that a completion reports besides result and summary.
    pub outputs: Vec<DeclaredValue>,
    /// Largest number of times that it may complete and send steps back, in 0..=1000.
    pub max_retries: Option<Spanned<u16>>,
    /// The steps that it sends back; where it names none, those that its condition reads.
    pub requeue: Vec<Spanned<StepId>>,
    /// The step that handles its failure.
    pub on_fail: Option<Spanned<StepId>>,
    /// The harness of its agent.
    pub harness: Option<Spanned<String>>,
    /// The model of its agent.
    pub model: Option<Spanned<String>>,
    /// The effort of its agent.
    pub effort: Option<Spanned<Effort>>,
    /// Permissions that its agent has without asking.
    pub permissions: Permissions,
    /// Demand on the confinement of its agent that it makes itself.
    pub sandbox: Option<WrittenSandbox>,
    /// The whole demand on the confinement of its agent, with those of its role and of the workflow.
    pub demand: Demand,
    /// The seconds that an attempt may take.
    pub timeout: Option<u32>,
    /// Number of ends without a word in a row that fail it, in 1..=1000.
    pub stuck_after: u16,
    /// True if it is meant to have no edges.
    pub independent: bool,
}
