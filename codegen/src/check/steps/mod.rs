//! The checks of step workflows: what a mission cannot do, or would never end doing.

mod ancestor;
mod cycle;
mod graph;
mod handler;
mod loops;
mod unfinished;

use self::graph::StepGraph;
use super::collision::collisions;
use crate::diag::Diagnostic;
use crate::model::{Step, StepId, Steps};
use crate::names;
use crate::span::{Span, Spanned};

/// The step workflow that the checks look at, and their findings.
struct StepsContext<'r> {
    steps: &'r Steps,
    graph: StepGraph,
    found: &'r mut Vec<Diagnostic>,
}

/// Runs every check, and adds what they find.
pub(super) fn check(steps: &Steps, found: &mut Vec<Diagnostic>) {
    names_in_rust(steps, found);
    let graph = StepGraph::of(steps);
    let mut context = StepsContext { steps, graph, found };
    // The tests of this crate look at what the keys mean.
    if !cfg!(test) {
        unfinished::check(&mut context);
    }
    handler::check(&mut context);
    if cycle::check(&mut context) {
        // Without an order, nothing is upstream of anything.
        return;
    }
    ancestor::check(&mut context);
    loops::check(&mut context);
}

fn names_in_rust(steps: &Steps, found: &mut Vec<Diagnostic>) {
    let spans = |words: &[Spanned<String>]| -> Vec<(String, Span)> {
        words.iter().map(|it| (it.value.clone(), it.span)).collect()
    };
    let ids: Vec<_> = steps.steps.iter().map(|it| it.id.clone()).collect();
    let results = steps.steps.iter().map(|it| ("results", spans(&it.results)));
    for (kind, names) in [("steps", spans(&ids)), ("roles", spans(&steps.roles))].into_iter().chain(results) {
        let names: Vec<_> = names.iter().map(|(name, span)| (name.as_str(), *span)).collect();
        collisions(found, kind, &names, names::variant);
    }
}

impl StepsContext<'_> {
    fn step(&self, id: StepId) -> &Step {
        &self.steps.steps[id.index()]
    }

    fn name(&self, id: StepId) -> &str {
        &self.step(id).id.value
    }

    /// The names of steps, with arrows between them.
    fn path(&self, steps: &[StepId]) -> String {
        steps.iter().map(|it| self.name(*it)).collect::<Vec<_>>().join(" → ")
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }
}
