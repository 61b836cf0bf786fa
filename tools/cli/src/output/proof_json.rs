//! A proof as one JSON object. Its keys are a contract; more may come, none goes.

use orange_analysis::prove::{CountedRun, Judged, Proof, RESTS_ON, Verdict};
use orange_codegen::{LineIndex, Source, Trace};
use serde::Serialize;

use super::json::Found;
use super::proof::verdict;
use super::to_json;
use crate::answer::Failure;

#[derive(Serialize)]
struct Document<'p> {
    version: u32,
    file: &'p str,
    workflow: &'p str,
    properties: Vec<Property<'p>>,
    figures: Figures<'p>,
    rests_on: &'static [&'static str],
}

#[derive(Serialize)]
struct Property<'p> {
    name: &'static str,
    claim: &'static str,
    verdict: &'static str,
    argument: Option<&'p str>,
    cut: Option<&'p str>,
    trace: Vec<&'p str>,
    findings: Vec<Found<'p>>,
}

#[derive(Serialize)]
struct Figures<'p> {
    configurations: usize,
    steps: usize,
    longest_run: Option<Counted<'p>>,
    agents: Option<Counted<'p>>,
    agents_with_restarts: Option<Counted<'p>>,
    waits_after_crash: &'p [String],
}

#[derive(Serialize)]
struct Counted<'p> {
    count: u64,
    states: &'p [String],
}

/// The whole proof as one object and a line end.
///
/// # Errors
///
/// None that a proof of ours can cause; serde has one all the same.
pub(crate) fn proof_json(proof: &Proof, source: &Source) -> Result<String, Failure> {
    let index = LineIndex::new(&source.text);
    let figures = &proof.figures;
    to_json(&Document {
        version: 1,
        file: &source.path,
        workflow: &proof.workflow,
        properties: proof.properties.iter().map(|it| property(it, &source.path, &index)).collect(),
        figures: Figures {
            configurations: figures.configurations,
            steps: figures.steps,
            longest_run: figures.longest_run.as_ref().map(Counted::of),
            agents: figures.agents.as_ref().map(Counted::of),
            agents_with_restarts: figures.agents_with_restarts.as_ref().map(Counted::of),
            waits_after_crash: &figures.waits_after_crash,
        },
        rests_on: RESTS_ON,
    })
}

fn property<'p>(judged: &'p Judged, path: &'p str, index: &LineIndex<'_>) -> Property<'p> {
    let mut property = Property {
        name: judged.property.name,
        claim: judged.property.claim,
        verdict: verdict(judged),
        argument: None,
        cut: None,
        trace: Vec::new(),
        findings: Vec::new(),
    };
    match &judged.verdict {
        Verdict::Proved { argument } => property.argument = Some(argument),
        Verdict::Refuted { findings, trace } => {
            property.trace = trace.as_ref().map(Trace::states).unwrap_or_default();
            property.findings = findings.iter().map(|it| Found::new(it, path, index)).collect();
        }
        Verdict::Undecided { cut } => property.cut = Some(cut),
    }
    property
}

impl<'p> Counted<'p> {
    fn of(run: &'p CountedRun) -> Self {
        Self { count: run.count, states: &run.states }
    }
}
