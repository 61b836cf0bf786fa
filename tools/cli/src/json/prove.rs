//! `orange-workflow prove`.

use orange_analysis::plan_proof::PlanFigures;
use orange_analysis::prove::{self, Judged, Proof};
use orange_codegen::{LineIndex, Source, Trace};
use serde::Serialize;

use super::{Finding, VERSION};

/// Answer of `orange-workflow prove`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ProveAnswer<'l> {
    /// The version of this form: 1.
    pub version: u32,
    /// The file.
    pub file: &'l str,
    /// The name of the workflow.
    pub workflow: &'l str,
    /// Every property, with its verdict.
    pub properties: Vec<ShownProperty<'l>>,
    /// The claims of `--require`, with their verdicts; absent without that option.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<ShownRequirement>,
    /// Size of the workflow, and its longest runs without a person; those of a step workflow have other keys.
    pub figures: ShownFigures<'l>,
    /// Assumptions of the verdicts, and facts that they leave out.
    pub rests_on: &'static [&'static str],
}

/// A property of the workflow.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Property"))]
pub(crate) struct ShownProperty<'l> {
    /// Its name.
    pub name: &'static str,
    /// The claim, in a sentence.
    pub claim: &'static str,
    /// The verdict.
    pub verdict: ShownVerdict,
    /// Argument for it; null unless it is proved.
    pub argument: Option<&'l str>,
    /// The bound that cut the search, or what the workflow does not say; null unless it is undecided.
    pub cut: Option<&'l str>,
    /// The states of the shortest run that breaks it, where no finding has one.
    pub trace: Vec<&'l str>,
    /// That run.
    #[serde(skip)]
    pub run: Option<&'l Trace>,
    /// The findings that refute it.
    pub findings: Vec<Finding<'l>>,
}

/// A claim that a step starts only after the answer of a person.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Requirement"))]
pub(crate) struct ShownRequirement {
    /// The step that starts.
    pub step: String,
    /// The step that asks.
    pub after: String,
    /// True if the claim is proved.
    pub holds: bool,
    /// The answers after which the step starts, or the reason why the claim is not proved.
    pub why: String,
}

/// Verdict on a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Verdict"))]
#[serde(rename_all = "snake_case")]
pub(crate) enum ShownVerdict {
    /// It holds, whatever happens.
    Proved,
    /// A finding or a run breaks it.
    Refuted,
    /// Nothing that breaks it was found, and it is not proved.
    Undecided,
}

/// The figures of a workflow.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Figures"))]
#[serde(untagged)]
pub(crate) enum ShownFigures<'l> {
    /// Those of a state machine.
    Machine(MachineFigures<'l>),
    /// Those of a step workflow.
    Steps(StepFigures<'l>),
}

/// Numbers of attempts at the steps of a workflow, and the ends of its missions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct StepFigures<'l> {
    /// Number of configurations that a mission can come to.
    pub configurations: usize,
    /// Number of acts that lead from one to another.
    pub acts: usize,
    /// The most attempts of one mission, beside retries by hand; null when there is no bound or the search was cut.
    pub attempts: Option<u32>,
    /// The most questions of one mission to persons, beside retries by hand; absent of a workflow that asks nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<u32>,
    /// The most attempts that follow from the workflow without a search, restarted agents included, beside those that persons ask for.
    pub bound: u64,
    /// The most attempts at each step, and the most agents of one attempt.
    pub by_step: Vec<ShownAttempts<'l>>,
    /// Every end, beside retries by hand.
    pub ends: Vec<ShownEnd<'l>>,
    /// True if the search was cut, so that there may be more than was found.
    pub is_cut: bool,
}

/// Number of attempts at one step.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Attempts"))]
pub(crate) struct ShownAttempts<'l> {
    /// The step.
    pub step: &'l str,
    /// The most attempts; null when there is no bound or the search was cut.
    pub most: Option<u32>,
    /// The most agents of one attempt.
    pub agents: u32,
}

/// A possible end of a mission.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "End"))]
pub(crate) struct ShownEnd<'l> {
    /// `completed` or `failed`.
    pub status: &'static str,
    /// The steps that have run.
    pub ran: &'l [String],
    /// The steps that have failed themselves.
    pub failed: &'l [String],
    /// The steps whose loop is exhausted.
    pub exhausted: &'l [String],
    /// The lines of a script for `simulate` that ends so.
    pub script: Vec<&'l str>,
}

/// Size of a workflow, and its longest runs without a person.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct MachineFigures<'l> {
    /// Number of configurations that a task can come to.
    pub configurations: usize,
    /// Number of steps that lead from one to another.
    pub steps: usize,
    /// The longest run without a person; null when it has no end or the search was cut.
    pub longest_run: Option<ShownCountedRun<'l>>,
    /// The most agents that start after one step of a person; null when there is no bound or the search was cut.
    pub agents: Option<ShownCountedRun<'l>>,
    /// The most agents after one step of a person, with those that start again after a crash; null as `agents` is.
    pub agents_with_restarts: Option<ShownCountedRun<'l>>,
    /// The states in which a crash leaves the task to a person.
    pub waits_after_crash: &'l [String],
    /// The most rounds by facts that the workflow watches, by kind of fact.
    pub rounds: Vec<ShownRounds>,
    /// The most that agents use, by kind of limit in the workflow's budgets.
    pub spending: Vec<ShownSpending<'l>>,
    /// True if the search was cut, so that there may be more than was found.
    pub is_cut: bool,
}

/// The most of one kind that agents use, beside the turns in which limits are reached.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Spending"))]
pub(crate) struct ShownSpending<'l> {
    /// `cost`, `tokens`, `fresh_tokens`, `time` or `starts`.
    pub kind: &'static str,
    /// The most after one step of a person, in millionths of a dollar, tokens, seconds or starts; null when there is no bound.
    pub most: Option<u64>,
    /// The limits on which this rests, or the reason why there is no bound.
    pub rests_on: &'l str,
}

/// The rounds by facts of one kind.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Rounds"))]
pub(crate) struct ShownRounds {
    /// `pr.checks`, `pr.review`, `pr.threads`, `pr.mergeable`, `base` or `children`.
    pub cause: &'static str,
    /// The most transitions of such watch rules after one step of a person; null when there is no bound or the search was cut.
    pub most: Option<u64>,
    /// The most requests to run failed checks of one commit again before such a rule applies.
    pub reruns: u8,
}

/// A run and what it counts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "CountedRun"))]
pub(crate) struct ShownCountedRun<'l> {
    /// Transitions, or agents.
    pub count: u64,
    /// The states of the run.
    pub states: &'l [String],
}

impl<'l> ProveAnswer<'l> {
    /// The whole proof.
    pub(crate) fn new<F>(proof: &'l Proof<F>, rests_on: &'static [&'static str], source: &'l Source) -> Self
    where
        ShownFigures<'l>: From<&'l F>,
    {
        let index = LineIndex::new(&source.text);
        Self {
            version: VERSION,
            file: &source.path,
            workflow: &proof.workflow,
            properties: proof
                .properties
                .iter()
                .map(|it| ShownProperty::new(it, &source.path, &index))
                .collect(),
            requirements: Vec::new(),
            figures: ShownFigures::from(&proof.figures),
            rests_on,
        }
    }
}

impl<'l> ShownProperty<'l> {
    fn new(judged: &'l Judged, path: &'l str, index: &LineIndex<'_>) -> Self {
        let of = |verdict| Self {
            name: judged.name,
            claim: judged.claim,
            verdict,
            argument: None,
            cut: None,
            trace: Vec::new(),
            run: None,
            findings: Vec::new(),
        };
        match &judged.verdict {
            prove::ProofVerdict::Proved { argument } => {
                Self { argument: Some(argument), ..of(ShownVerdict::Proved) }
            }
            prove::ProofVerdict::Refuted { findings, trace } => Self {
                trace: trace.as_ref().map(Trace::states).unwrap_or_default(),
                run: trace.as_ref(),
                findings: findings.iter().map(|it| Finding::new(it, path, index)).collect(),
                ..of(ShownVerdict::Refuted)
            },
            prove::ProofVerdict::Undecided { cut } => Self { cut: Some(cut), ..of(ShownVerdict::Undecided) },
        }
    }
}

impl ShownRounds {
    fn new(rounds: &prove::WatchRounds) -> Self {
        Self { cause: rounds.cause.as_str(), most: rounds.most, reruns: rounds.reruns }
    }
}

impl<'l> ShownSpending<'l> {
    fn new(worst: &'l prove::WorstCase) -> Self {
        Self { kind: worst.kind.as_str(), most: worst.most, rests_on: &worst.rests_on }
    }
}

impl ShownVerdict {
    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        }
    }
}

impl<'l> From<&'l prove::Figures> for ShownFigures<'l> {
    fn from(figures: &'l prove::Figures) -> Self {
        Self::Machine(MachineFigures {
            configurations: figures.configurations,
            steps: figures.steps,
            longest_run: figures.longest_run.as_ref().map(ShownCountedRun::new),
            agents: figures.agents.as_ref().map(ShownCountedRun::new),
            agents_with_restarts: figures.agents_with_restarts.as_ref().map(ShownCountedRun::new),
            waits_after_crash: &figures.waits_after_crash,
            rounds: figures.rounds.iter().map(ShownRounds::new).collect(),
            spending: figures.spending.iter().map(ShownSpending::new).collect(),
            is_cut: figures.is_cut,
        })
    }
}

impl<'l> From<&'l PlanFigures> for ShownFigures<'l> {
    fn from(figures: &'l PlanFigures) -> Self {
        let by_step = figures.by_step.iter().map(|it| ShownAttempts {
            step: &it.step,
            most: it.most,
            agents: it.agents,
        });
        let ends = figures.ends.iter().map(|it| ShownEnd {
            status: it.status,
            ran: &it.ran,
            failed: &it.failed,
            exhausted: &it.exhausted,
            script: it.trace.steps.iter().flat_map(|it| it.script.iter().map(String::as_str)).collect(),
        });
        Self::Steps(StepFigures {
            configurations: figures.configurations,
            acts: figures.acts,
            attempts: figures.attempts,
            asks: figures.asks.filter(|it| *it > 0),
            bound: figures.bound,
            by_step: by_step.collect(),
            ends: ends.collect(),
            is_cut: figures.is_cut,
        })
    }
}

impl<'l> ShownCountedRun<'l> {
    fn new(run: &'l prove::CountedRun) -> Self {
        Self { count: run.count, states: &run.states }
    }
}
