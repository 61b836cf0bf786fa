//! C47: an agent can be alive in a state that no exit rule is for.

use orange_core::StateId;

use super::C47;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::State;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts.states().filter_map(|(id, state)| of_state(facts, id, state)).collect()
}

fn of_state(facts: &Facts<'_>, id: StateId, state: &State) -> Option<Diagnostic> {
    let mut rules = facts.machine.exit_rules_of(id).map(|at| &facts.machine.exit_rules[at]);
    let is_watched = state.terminal || rules.any(|rule| !rule.only_notifies());
    let (at, agent) = facts.lives().live(id).filter(|_| !is_watched)?;
    let name = &state.name.value;
    let run = facts.search.run_to(at);
    let message = format!(
        "a {agent} can be alive in `{name}`, and no exit rule is for that state: should it end, the task stays there, \
         and nothing is done about it"
    );
    let arrived = run.last().and_then(|id| facts.search.edge(*id).step.transition());
    let mut found = Diagnostic::new(&C47, state.name.span, message);
    if let Some(arrived) = arrived.map(|id| facts.transition(id)) {
        let label_text = format!("1. {} leads there with a {agent} alive", facts.arrow(arrived));
        found = found.label(facts.first_line(arrived.span), label_text);
    }
    Some(
        found
            .label(state.name.span, "2. no exit rule has this status")
            .trace(facts.tell(&run, format!("a {agent} is alive, unwatched")))
            .help(format!(
                "add `- {{status: {name}, {}}}` to `exit_monitoring: rules`, or end the agent on the transition to `{name}`: \
                 `- action: kill_session`",
                action(facts, id)
            )),
    )
}

/// A crash, where a transition leads to the crash state; else a mark.
fn action(facts: &Facts<'_>, id: StateId) -> &'static str {
    let crash = facts.workflow.commands.crash;
    let declared = crash.is_some_and(|crash| facts.leaving(id).any(|(_, it)| it.to.value == crash));
    if declared { "action: crash, stuck_after: 2" } else { "action: mark_dead" }
}
