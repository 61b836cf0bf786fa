//! C75: a `sandbox` demands nothing that the workflow around it does not demand anyway.

use orange_core::wall::Demand;

use super::C75;
use crate::lint::{Facts, StepFacts};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::WrittenSandbox;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let workflow = facts.workflow;
    let of_file = workflow.sandbox.as_ref().map_or(Demand::NONE, |it| it.demand);
    let states = workflow.states.iter().filter_map(|it| it.sandbox.as_ref());
    let mut found: Vec<Diagnostic> =
        states.filter_map(|it| finding(it, of_file, workflow.sandbox.as_ref())).collect();
    for transition in &workflow.transitions {
        let state = facts.state(transition.to.value).sandbox.as_ref();
        let around = state.or(workflow.sandbox.as_ref());
        let outer = workflow.demand(transition.to.value, None);
        let hooks = transition.hooks.iter().filter_map(|it| it.spawn.as_ref()?.sandbox.as_ref());
        found.extend(hooks.filter_map(|it| finding(it, outer, around)));
    }
    // A hook of a list of transitions stands in each of them.
    found.dedup_by(|one, other| one.span == other.span);
    found
}

/// The steps of a workflow with a demand of its own.
pub(super) fn find_in_steps(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let around = facts.steps.sandbox.as_ref();
    let outer = around.map_or(Demand::NONE, |it| it.demand);
    let steps = facts.steps.steps.iter().filter_map(|it| it.sandbox.as_ref());
    steps.filter_map(|it| finding(it, outer, around)).collect()
}

fn finding(own: &WrittenSandbox, outer: Demand, around: Option<&WrittenSandbox>) -> Option<Diagnostic> {
    if outer.is_none() || outer.and(own.demand) != outer {
        return None;
    }
    let message = format!(
        "this changes nothing: `{}` is demanded here anyway, and the strictest demand holds",
        outer.words()
    );
    let mut found = Diagnostic::new(&C75, own.span, message);
    if let Some(around) = around {
        found = found.label(own.span, "without an effect").label(around.span, "demanded here");
    }
    Some(found.help("delete it, or move the stricter demand to the states, hooks or steps that need it"))
}
