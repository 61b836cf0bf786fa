//! The plan: the compiled, immutable tables of one step workflow.

mod ask;
mod condition;
mod fan_out;
mod gate;
mod prompt;
mod start;
mod text;
mod value;

use alloc::vec;
use alloc::vec::Vec;

pub use self::ask::{APPROVE, Ask, REJECT};
pub use self::condition::{Comparison, Field, Items, Operand, Relation, StepCondition, StepTest};
pub use self::fan_out::{DEFAULT_PARALLEL, FanOut, ItemList, MOST_PARALLEL, WorktreeUse};
pub use self::gate::{FileFault, StepGate};
pub use self::prompt::{StepPiece, StepPrompt, StepValue, StepValues};
pub use self::start::{Inputs, ValueFault, check_outputs, given, output};
pub use self::value::{
    FromValue, Input, InputId, LARGEST_NUMBER, Literal, MOST_ITEMS, Output, OutputId, Value, ValueRef,
    ValueType,
};
use crate::wall::Demand;
use crate::{Budget, Permissions};

/// The number of a step, in source order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StepId(pub u16);

/// The number of a role, in the order of the workflow's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleId(pub u16);

/// One step workflow, compiled. All references are into the same plan; the compiler has checked them.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The workflow's name.
    pub name: &'a str,
    /// Its version, as the author writes it; may be empty.
    pub version: &'a str,
    /// Purpose of the workflow, in its author's words; may be empty.
    pub description: &'a str,
    /// The hash of its source and of its prompts; a mission records the plan that it follows.
    pub source_hash: &'a str,
    /// Policy of a mission's pauses, unless its start says otherwise.
    pub policy: Policy,
    /// True if the person or agent that starts a mission gets messages at the boundaries of steps.
    pub notices: bool,
    /// By [`RoleId`].
    pub roles: &'a [&'a str],
    /// By [`StepId`].
    pub steps: &'a [Step<'a>],
    /// Every step once: a step after its dependencies and after the step that it handles, ties in source order.
    pub order: &'a [StepId],
    /// Limits of a mission for all its agents.
    pub budget: Budget,
    /// By [`InputId`]: what a mission is started with.
    pub inputs: &'a [Input<'a>],
    /// The most attempts of a mission, beside those that persons ask for.
    pub max_attempts: Option<u32>,
    /// Number of agents and programs that may work at once, in 1..=[`MOST_PARALLEL`].
    pub parallel: u8,
}

/// One step: a job for an agent or a program, or a question to a person.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Its name in workflows, conditions and messages.
    pub id: &'a str,
    /// A line for people; the id if the author gives none.
    pub title: &'a str,
    /// Role of the crab or agent that may take it.
    pub role: RoleId,
    /// Prompt of its agent, or question of an ask; empty of a program.
    pub prompt: StepPrompt<'a>,
    /// The program that does its work, and its arguments, with placeholders; empty of an agent.
    pub run: &'a [StepPrompt<'a>],
    /// Question to a person, whose answer is the end of the step; `None` of an agent or a program.
    pub ask: Option<&'a Ask<'a>>,
    /// The steps that end before it is decided, in source order.
    pub depends_on: &'a [StepId],
    /// Use of the mission's worktree.
    pub worktree: WorktreeUse,
    /// One item for each element of a list; a step without is one job.
    pub fan_out: Option<FanOut<'a>>,
    /// Conditions that must hold before the report of its agent counts; none of a program.
    pub gates: &'a [StepGate<'a>],
    /// Without one, it runs when its dependencies have ended.
    pub condition: Option<StepCondition<'a>>,
    /// Results that an attempt may report; empty when any word may be.
    pub results: &'a [&'a str],
    /// By [`OutputId`]: the values that a completion reports besides result and summary.
    pub outputs: &'a [Output<'a>],
    /// Limit of completions before its loop is exhausted, in 1..=1000; 0 for a step that is not a loop step.
    pub max_retries: u16,
    /// The steps that run again when it completes; empty when it is not a loop step.
    pub requeue: &'a [StepId],
    /// The step that handles its failure.
    pub on_fail: Option<StepId>,
    /// The step whose failure this one handles.
    pub handles: Option<StepId>,
    /// The harness of its agent, where it is not the project's.
    pub harness: Option<&'a str>,
    /// The model of its agent, in the harness's own words, where it is not the mission's.
    pub model: Option<&'a str>,
    /// The effort of its agent, where it is not the mission's.
    pub effort: Option<Effort>,
    /// The permissions of its agent.
    pub permissions: Permissions,
    /// Demand on the confinement of its agent, from the workflow, the role and the step.
    pub sandbox: Demand,
    /// The seconds that an attempt may take; of an ask, those in which somebody is to answer.
    pub timeout: Option<u32>,
    /// Number of ends without a word in a row that fail it; at least 1.
    pub stuck_after: u16,
}

/// Effort of an agent, from the least on. Harnesses have words of their own for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Effort {
    /// As little as the work allows.
    Low,
    /// The usual effort.
    Medium,
    /// More than usual.
    High,
    /// As much as the harness has.
    Max,
}

/// Policy of a mission's pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Policy {
    /// Mode of execution: with or without a wait for a person after every step.
    pub execution: Execution,
    /// Other ends of steps after which it waits.
    pub intervene: Intervene,
}

/// Mode of execution: a mission waits after every step, or goes on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Execution {
    /// It pauses after every step.
    Step,
    /// The mission goes on by itself.
    Auto,
}

/// At which ends of steps a mission pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Intervene {
    /// It pauses at no end of a step.
    Never,
    /// After a step with a warning or an error.
    OnWarning,
    /// After an error.
    OnError,
    /// After every step.
    Always,
}

impl Execution {
    /// Both values, in the order of their declaration.
    pub const ALL: [Execution; 2] = [Execution::Step, Execution::Auto];

    /// Its name in workflows and commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Execution::Step => "step",
            Execution::Auto => "auto",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Execution> {
        Execution::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

impl Effort {
    /// Every value, from the least on.
    pub const ALL: [Effort; 4] = [Effort::Low, Effort::Medium, Effort::High, Effort::Max];

    /// Its name in workflows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Max => "max",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Effort> {
        Effort::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

impl Intervene {
    /// Every value, from never to always.
    pub const ALL: [Intervene; 4] =
        [Intervene::Never, Intervene::OnWarning, Intervene::OnError, Intervene::Always];

    /// Its name in workflows and commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Intervene::Never => "never",
            Intervene::OnWarning => "on-warning",
            Intervene::OnError => "on-error",
            Intervene::Always => "always",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Intervene> {
        Intervene::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

impl Policy {
    /// The policy of a plan that names none.
    pub const DEFAULT: Policy = Policy { execution: Execution::Auto, intervene: Intervene::OnError };
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::DEFAULT
    }
}

impl Plan<'_> {
    /// A plan without steps, from which others take what they do not name.
    pub const EMPTY: Plan<'static> = Plan {
        name: "",
        version: "",
        description: "",
        source_hash: "",
        policy: Policy::DEFAULT,
        notices: true,
        roles: &["any"],
        steps: &[],
        order: &[],
        budget: Budget::NONE,
        inputs: &[],
        max_attempts: None,
        parallel: DEFAULT_PARALLEL,
    };
}

impl<'a> Plan<'a> {
    /// The number of every step, in source order.
    pub fn step_ids(&self) -> impl Iterator<Item = StepId> + use<> {
        (0..self.steps.len()).map(|index| StepId(index as u16))
    }

    /// The step with this number.
    pub fn step(&self, id: StepId) -> &'a Step<'a> {
        &self.steps[id.index()]
    }

    /// The step with this name.
    pub fn step_named(&self, name: &str) -> Option<StepId> {
        self.step_ids().find(|id| self.step(*id).id == name)
    }

    /// The demand on programs that run in a worktree of its missions whatever step it is: they run what all its agents write.
    pub fn demand_on_programs(&self) -> Demand {
        Demand::on_programs(self.steps.iter().map(|it| it.sandbox))
    }

    /// The demand on what a step runs: that on its agent, or on its program, which runs what the agents of other steps write.
    pub fn demand_on(&self, id: StepId) -> Demand {
        let step = self.step(id);
        if step.is_program() { step.sandbox.and(self.demand_on_programs()) } else { step.sandbox }
    }

    /// The name of a role.
    pub fn role(&self, id: RoleId) -> &'a str {
        self.roles[usize::from(id.0)]
    }

    /// The words that an attempt may report: the step's own, or those of the step that it handles. Empty when any word may be.
    pub fn results_of(&self, id: StepId) -> &'a [&'a str] {
        match (self.step(id).results, self.step(id).handles) {
            ([], Some(failed)) => self.step(failed).results,
            (results, _) => results,
        }
    }

    /// The values that a completion reports besides result and summary: the step's own outputs, or those of the step that it handles.
    pub fn outputs_of(&self, id: StepId) -> &'a [Output<'a>] {
        self.step(self.step(id).handles.unwrap_or(id)).outputs
    }

    /// The input with this name.
    pub fn input_named(&self, name: &str) -> Option<InputId> {
        (0..).map(InputId).zip(self.inputs).find(|(_, it)| it.name == name).map(|(id, _)| id)
    }

    /// True if an attempt must report a result: it is declared, or a condition or a text reads it.
    pub fn needs_result(&self, id: StepId) -> bool {
        let is_read = |id: StepId| {
            let of = Operand::Step(id, Field::Result);
            let mut tests = self.steps.iter().filter_map(|step| step.condition).flat_map(|it| it.tests());
            let mut texts = self.steps.iter().flat_map(|step| step.texts());
            tests.any(|it| it.of == of) || texts.any(|it| it.pieces.contains(&StepPiece::Read(of)))
        };
        !self.results_of(id).is_empty() || is_read(id) || self.step(id).handles.is_some_and(is_read)
    }

    /// Everything that waits for one of these steps, directly or not; without themselves unless one waits for another.
    pub fn downstream(&self, of: &StepSet) -> StepSet {
        let mut found = StepSet::none(self);
        for id in self.order {
            if self.step(*id).depends_on.iter().any(|it| of.has(*it) || found.has(*it)) {
                found.add(*id);
            }
        }
        found
    }

    /// Everything that this step waits for, directly or not.
    pub fn upstream(&self, of: StepId) -> StepSet {
        let mut found = StepSet::none(self);
        for id in self.order.iter().rev() {
            if *id == of || found.has(*id) {
                self.step(*id).depends_on.iter().for_each(|it| found.add(*it));
            }
        }
        found
    }
}

impl Step<'_> {
    /// A step without a name, from which others take what they do not name.
    pub const EMPTY: Step<'static> = Step {
        id: "",
        title: "",
        role: RoleId(0),
        prompt: StepPrompt { pieces: &[] },
        run: &[],
        ask: None,
        depends_on: &[],
        worktree: WorktreeUse::Write,
        fan_out: None,
        gates: &[],
        condition: None,
        results: &[],
        outputs: &[],
        max_retries: 0,
        requeue: &[],
        on_fail: None,
        handles: None,
        harness: None,
        model: None,
        effort: None,
        permissions: Permissions::Full,
        sandbox: Demand::NONE,
        timeout: None,
        stuck_after: crate::DEFAULT_STUCK_AFTER as u16,
    };

    /// True if a program does its work, and no agent.
    pub fn is_program(&self) -> bool {
        !self.run.is_empty()
    }

    /// Its texts with placeholders: the arguments of its program and of its gates, and the prompt.
    pub fn texts(&self) -> impl Iterator<Item = &StepPrompt<'_>> {
        let of_gates = self.gates.iter().flat_map(|it| it.run());
        self.run.iter().chain(of_gates).chain([&self.prompt])
    }

    /// True if it sends others back when it completes.
    pub fn is_loop(&self) -> bool {
        self.max_retries > 0
    }
}

impl StepId {
    /// Its place in tables by step.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A set of steps of one plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepSet(Vec<bool>);

impl StepSet {
    /// The empty set.
    pub fn none(plan: &Plan<'_>) -> StepSet {
        StepSet(vec![false; plan.steps.len()])
    }

    /// The set of these.
    pub fn of(plan: &Plan<'_>, steps: &[StepId]) -> StepSet {
        let mut set = StepSet::none(plan);
        steps.iter().for_each(|it| set.add(*it));
        set
    }

    /// True if a step is in it.
    pub fn has(&self, id: StepId) -> bool {
        self.0[id.index()]
    }

    /// Adds a step to the set.
    pub fn add(&mut self, id: StepId) {
        self.0[id.index()] = true;
    }

    /// Its steps, in source order.
    pub fn iter(&self) -> impl Iterator<Item = StepId> + '_ {
        (0..self.0.len()).filter(|index| self.0[*index]).map(|index| StepId(index as u16))
    }
}
