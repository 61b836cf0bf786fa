//! C14: the workflow declares an actor, and no transition is for it.

use super::C14;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Actor, ActorId};
use orange_codegen::span::Spanned;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let workflow = facts.workflow;
    let is_named = |id| workflow.transitions.iter().any(|it| it.by.names(Actor::Declared(ActorId(id))));
    let unused = (0..).zip(&workflow.actors).filter(|(id, _)| !is_named(*id));
    unused.map(|(_, actor)| finding(actor)).collect()
}

fn finding(Spanned { value: name, span }: &Spanned<String>) -> Diagnostic {
    Diagnostic::new(&C14, *span, format!("no transition is for the actor `{name}`: it may ask for nothing"))
        .label(*span, "declared here")
        .help(format!(
            "name it in the `by` of a transition, `by: [{name}, human]`, or delete it from `actors`"
        ))
}
