//! `orange-workflow prove`.

use orange_analysis::prove::{self, Judged, Proof, RESTS_ON};
use orange_codegen::{LineIndex, Source, Trace};
use serde::Serialize;

use super::{Finding, VERSION};

/// What `orange-workflow prove` answers.
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
    pub properties: Vec<Property<'l>>,
    /// How large the workflow is, and how far it goes by itself.
    pub figures: Figures<'l>,
    /// What the verdicts take for granted, and what they leave out.
    pub rests_on: &'static [&'static str],
}

/// A property of the workflow.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Property<'l> {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub claim: &'static str,
    /// Whether it holds.
    pub verdict: Verdict,
    /// Why it holds; null unless it is proved.
    pub argument: Option<&'l str>,
    /// The bound that cut the search; null unless it is undecided.
    pub cut: Option<&'l str>,
    /// The states of the shortest run that breaks it, where no finding has one.
    pub trace: Vec<&'l str>,
    /// That run.
    #[serde(skip)]
    pub run: Option<&'l Trace>,
    /// The findings that refute it.
    pub findings: Vec<Finding<'l>>,
}

/// What is known of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// It holds, whatever happens.
    Proved,
    /// A finding or a run breaks it.
    Refuted,
    /// The search was cut before it found anything.
    Undecided,
}

/// How large a workflow is, and how far it goes by itself.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Figures<'l> {
    /// How many configurations a task can come to.
    pub configurations: usize,
    /// How many steps lead from one to another.
    pub steps: usize,
    /// The longest run without a person; null when it has no end.
    pub longest_run: Option<CountedRun<'l>>,
    /// The most agents that start after one step of a person; null when there is no bound.
    pub agents: Option<CountedRun<'l>>,
    /// The same, with those that start again after a crash.
    pub agents_with_restarts: Option<CountedRun<'l>>,
    /// The states in which a crash leaves the task to a person.
    pub waits_after_crash: &'l [String],
}

/// A run and what it counts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct CountedRun<'l> {
    /// Transitions, or agents.
    pub count: u64,
    /// The states of the run.
    pub states: &'l [String],
}

impl<'l> ProveAnswer<'l> {
    /// The whole proof.
    pub(crate) fn new(proof: &'l Proof, source: &'l Source) -> Self {
        let index = LineIndex::new(&source.text);
        let figures = &proof.figures;
        Self {
            version: VERSION,
            file: &source.path,
            workflow: &proof.workflow,
            properties: proof.properties.iter().map(|it| Property::new(it, &source.path, &index)).collect(),
            figures: Figures {
                configurations: figures.configurations,
                steps: figures.steps,
                longest_run: figures.longest_run.as_ref().map(CountedRun::new),
                agents: figures.agents.as_ref().map(CountedRun::new),
                agents_with_restarts: figures.agents_with_restarts.as_ref().map(CountedRun::new),
                waits_after_crash: &figures.waits_after_crash,
            },
            rests_on: RESTS_ON,
        }
    }
}

impl<'l> Property<'l> {
    fn new(judged: &'l Judged, path: &'l str, index: &LineIndex<'_>) -> Self {
        let of = |verdict| Self {
            name: judged.property.name,
            claim: judged.property.claim,
            verdict,
            argument: None,
            cut: None,
            trace: Vec::new(),
            run: None,
            findings: Vec::new(),
        };
        match &judged.verdict {
            prove::Verdict::Proved { argument } => Self { argument: Some(argument), ..of(Verdict::Proved) },
            prove::Verdict::Refuted { findings, trace } => Self {
                trace: trace.as_ref().map(Trace::states).unwrap_or_default(),
                run: trace.as_ref(),
                findings: findings.iter().map(|it| Finding::new(it, path, index)).collect(),
                ..of(Verdict::Refuted)
            },
            prove::Verdict::Undecided { cut } => Self { cut: Some(cut), ..of(Verdict::Undecided) },
        }
    }
}

impl Verdict {
    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        }
    }
}

impl<'l> CountedRun<'l> {
    fn new(run: &'l prove::CountedRun) -> Self {
        Self { count: run.count, states: &run.states }
    }
}
