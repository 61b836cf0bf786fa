//! Facts about each step of a step workflow, from its searches.

use orange_codegen::Span;
use orange_codegen::diag::Trace;
use orange_codegen::model::{StepId, StepPiece, StepValue};
use orange_core::plan::Operand;

use crate::lint::StepFacts;
use crate::plan_proof::PlanProof;

/// Facts about a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepInsight {
    pub name: String,
    /// Place of its name.
    pub span: Span,
    /// True if some run starts it; absent if none was found and the search was cut.
    pub runs: Option<bool>,
    /// A shortest run to its first start.
    pub run: Option<Trace>,
    /// The most attempts of one mission, beside retries by hand; absent where there is none or the search was cut.
    pub most: Option<u32>,
    /// The most agents of one attempt.
    pub agents: u32,
    /// The places that read its reports.
    pub readers: Vec<StepReader>,
}

/// A place that reads the report of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReader {
    /// The step that reads it.
    pub step: String,
    /// The condition that does, or the prompt.
    pub span: Span,
    /// The part of the report.
    pub field: String,
    /// The value for which the step runs; absent where its prompt has the part.
    pub value: Option<String>,
}

pub(super) fn all(facts: &StepFacts<'_>, proof: &PlanProof) -> Vec<StepInsight> {
    let steps = facts.steps.steps.iter().zip(facts.plan.step_ids()).zip(&proof.figures.by_step);
    let all = steps.map(|((step, id), attempts)| {
        let first =
            facts.search.configurations().map(|(at, _)| at).find(|at| facts.search.work(*at).contains(&id));
        StepInsight {
            name: step.id.value.clone(),
            span: step.id.span,
            runs: facts.search.runs(id),
            run: facts.tell(first, None),
            most: attempts.most,
            agents: attempts.agents,
            readers: readers(facts, id),
        }
    });
    all.collect()
}

/// The conditions and prompts that read the report of a step.
fn readers(facts: &StepFacts<'_>, id: StepId) -> Vec<StepReader> {
    let mut readers = Vec::new();
    for step in &facts.steps.steps {
        for test in step.condition.iter().flat_map(|it| it.tests()) {
            let Operand::Step(read, field) = test.of else { continue };
            let words = test.words();
            let values: Vec<Option<String>> = match words.is_empty() {
                true => vec![None],
                false => words.iter().map(|it| Some(it.value.to_owned())).collect(),
            };
            readers.extend(values.into_iter().filter(|_| read == id).map(|value| StepReader {
                step: step.id.value.clone(),
                span: step.condition.as_ref().map_or(test.span, |it| it.span),
                field: facts.plan.field_name(read, field).to_owned(),
                value,
            }));
        }
        let read_by_texts = step.texts().flatten().filter_map(|piece| match piece {
            StepPiece::Read(Operand::Step(read, field), _) if *read == id => Some(*field),
            StepPiece::Read(..) | StepPiece::Text(_) | StepPiece::Value(_) => None,
        });
        readers.extend(read_by_texts.map(|field| StepReader {
            step: step.id.value.clone(),
            span: step.prompt.span,
            field: facts.plan.field_name(id, field).to_owned(),
            value: None,
        }));
        // The context of a prompt is the summaries of the dependencies.
        let has_context = step.prompt.pieces.contains(&StepPiece::Value(StepValue::Context));
        if has_context && step.depends_on.iter().any(|it| it.value == id) {
            readers.push(StepReader {
                step: step.id.value.clone(),
                span: step.prompt.span,
                field: "summary".to_owned(),
                value: None,
            });
        }
    }
    readers
}
