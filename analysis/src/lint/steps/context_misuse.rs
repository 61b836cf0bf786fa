//! B20: a prompt that asks for a context which is always empty, or does not say where it stands.

use super::B20;
use super::facts::{StepFacts, each};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Operand, Step, StepId, StepPiece, StepValue};
use orange_core::mission::StepState;

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all().filter(|(_, step)| !step.prompt.pieces.is_empty()), |(id, step)| {
        let asks = step.prompt.pieces.contains(&StepPiece::Value(StepValue::Context));
        let name = &step.id.value;
        let mut sources = sources(facts, id, step).peekable();
        let (message, help) = match asks {
            true if sources.peek().is_none() => (
                format!("the context of `{name}` is always empty: it depends on no step"),
                "delete `{{context}}`, or add `depends_on`",
            ),
            true => return None,
            false if step.is_ask() => return None,
            false => {
                let is_missing = |it: &StepId| !is_shown(facts, id, step, *it) && reports_to(facts, *it, id);
                let source = facts.name(sources.find(is_missing)?);
                (
                    format!(
                        "the prompt of `{name}` does not say where its agent reads what `{source}` reports"
                    ),
                    "write `{{context}}` where that is to stand; without it, it stands at the end",
                )
            }
        };
        Some(Diagnostic::new(&B20, step.prompt.span, message).help(help))
    })
}

/// The steps whose reports are its context: its dependencies, or else those that send it back and the one that it handles.
fn sources<'f>(facts: &'f StepFacts<'f>, id: StepId, step: &'f Step) -> impl Iterator<Item = StepId> + 'f {
    let dependencies = step.depends_on.iter().map(|it| it.value);
    let senders = facts.all().filter(move |(_, it)| it.requeue.iter().any(|it| it.value == id));
    let others = senders.map(|it| it.0).chain(facts.plan.step(id).handles);
    dependencies.chain(others.filter(|_| step.depends_on.is_empty()))
}

/// True if in some mission a step has reported when the other one runs, or not all runs were looked at.
fn reports_to(facts: &StepFacts<'_>, step: StepId, other: StepId) -> bool {
    let search = &facts.search;
    // A handler reads why the step has failed.
    let reports = |it: &StepState| it.has_report() || it.failure.is_some();
    let mut missions = search.configurations();
    search.is_cut()
        || search.is_coarse()
        || missions.any(|(at, it)| reports(it.step(step)) && search.work(at).contains(&other))
}

/// True if the prompt has a field of a dependency, or the item that it has reported.
fn is_shown(facts: &StepFacts<'_>, id: StepId, step: &Step, dependency: StepId) -> bool {
    let lists = facts.plan.step(id).fan_out.and_then(|it| it.list.step());
    step.prompt.pieces.iter().any(|piece| match piece {
        StepPiece::Read(Operand::Step(read, _), _) => *read == dependency,
        StepPiece::Value(StepValue::Item) => lists == Some(dependency),
        StepPiece::Read(Operand::Input(_), _) | StepPiece::Value(_) | StepPiece::Text(_) => false,
    })
}
