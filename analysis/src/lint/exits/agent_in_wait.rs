//! C4F: an agent can be alive in a state with `wait: human`, which claims that only a person moves a task on.

use orange_core::StateId;

use super::C4F;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::State;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts.states().filter_map(|(id, state)| of_state(facts, id, state)).collect()
}

fn of_state(facts: &Facts<'_>, id: StateId, state: &State) -> Option<Diagnostic> {
    let claim = state.wait.filter(|_| !state.terminal)?.span;
    let (at, agent) = facts.lives().live(id)?;
    let name = &state.name.value;
    let run = facts.search.run_to(at);
    let message = format!("a {agent} can be alive in `{name}`, which says that it waits for a person");
    let mut story = facts.life(&run, agent);
    story.push((claim, "a person is to decide here, and the agent works on".to_owned()));
    let labelled =
        (1..).zip(story).fold(Diagnostic::new(&C4F, claim, message), |found, (number, (span, text))| {
            found.label(span, format!("{number}. {text}"))
        });
    let help = format!(
        "end it on the transition to `{name}`, `- action: kill_session`; or delete `wait: human`: a state with an agent needs \
         an exit rule, such as `- {{status: {name}, action: mark_dead}}`"
    );
    Some(labelled.trace(facts.tell(&run, format!("a {agent} is alive"))).help(help))
}
