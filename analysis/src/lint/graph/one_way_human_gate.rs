//! C10: a person decides, and every decision ends the task.

use orange_core::StateId;

use super::C10;
use crate::lint::{ActorKind, Facts};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::State;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    // Where tasks only begin, nobody has done any work that could be rejected.
    let mut follows = vec![false; facts.machine.states.len()];
    let entered = facts.machine.transitions.iter().filter(|it| facts.graph.entered[usize::from(it.from.0)]);
    entered.for_each(|it| follows[usize::from(it.to.0)] = true);
    let ends_only = facts.states().filter(|(id, _)| follows[usize::from(id.0)]);
    let ends_only = ends_only
        .filter(|(id, _)| *id != facts.workflow.initial && facts.waits(*id) && only_ends(facts, *id));
    ends_only.map(|(id, state)| finding(facts, id, state)).collect()
}

/// True if the state has transitions, all of them a person's, and all to an end.
fn only_ends(facts: &Facts<'_>, id: StateId) -> bool {
    let mut leaving = facts.leaving(id).peekable();
    let ends = |to: StateId| facts.state(to).terminal;
    leaving.peek().is_some()
        && leaving.all(|(id, it)| ends(it.to.value) && facts.actor_kinds[id.0 as usize] == ActorKind::Person)
}

fn finding(facts: &Facts<'_>, id: StateId, state: &State) -> Diagnostic {
    let name = &state.name.value;
    let ends: Vec<String> = facts.machine.targets(id).map(|to| format!("`{}`", facts.name(to))).collect();
    let message = format!(
        "a person in `{name}` can only end the task ({}): rejecting the work means giving it up",
        ends.join(", ")
    );
    let found = Diagnostic::new(&C10, state.name.span, message);
    found.help_if(
        transition_back(facts, id)
            .map(|back| format!("add a transition back: `- {{from: {name}, to: {back}}}`")),
    )
}

/// Name of a state where agents work: the one that tasks start in, or one that leads here.
fn transition_back<'f>(facts: &Facts<'f>, id: StateId) -> Option<&'f str> {
    let into = facts.workflow.transitions.iter().filter(|it| it.to.value == id).map(|it| it.from.value);
    let back = facts.workflow.commands.spawn.into_iter().chain(into).find(|it| *it != id)?;
    Some(facts.name(back))
}
