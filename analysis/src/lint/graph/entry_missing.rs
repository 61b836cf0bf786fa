//! C07: a task without a summary starts like any other or cannot start, since it does not reach a state that clarifies it.

use orange_core::StateId;

use super::C07;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let initial = facts.workflow.initial;
    let Some(spawn) = facts.workflow.commands.spawn.filter(|it| starts_agent(facts, *it)) else {
        return Vec::new();
    };
    let (pending, working) = (facts.name(initial), facts.name(spawn));
    let found = |message: String| Diagnostic::new(&C07, facts.state(initial).name.span, message);
    match facts.workflow.commands.clarify {
        None => vec![
            found(format!(
                "`orange task spawn` starts an agent in `{working}` even when the task has no summary: \
                 there is no state `clarification`"
            ))
            .help(format!(
                "add a state `clarification` and a transition to it from `{pending}`, or, if an agent may start \
                 without a summary, write `commands: {{clarify: {working}}}`"
            )),
        ],
        Some(clarify) if facts.machine.between(initial, clarify).next().is_none() => {
            let clarify = facts.state(clarify);
            let name = &clarify.name.value;
            vec![
                found(format!(
                    "`orange task spawn` of a task without a summary fails: it goes to `{name}`, and no \
                     transition leads there from `{pending}`"
                ))
                .label(clarify.name.span, "1. such a task is to start here")
                .label(facts.state(initial).name.span, "2. no transition leads there from here")
                .help(format!(
                    "add `- {{from: {pending}, to: {name}}}` with the hooks that start its agent, or, if an \
                     agent may start without a summary, write `commands: {{clarify: {working}}}`"
                )),
            ]
        }
        Some(_) => Vec::new(),
    }
}

/// True if the transition from the initial state starts an agent, which then has no summary to work from.
fn starts_agent(facts: &Facts<'_>, spawn: StateId) -> bool {
    let transitions = facts.machine.between(facts.workflow.initial, spawn);
    transitions.flat_map(|id| facts.machine.transition(id).hooks).any(|hook| hook.spawn().is_some())
}
