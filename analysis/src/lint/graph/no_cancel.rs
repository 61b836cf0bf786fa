//! C09: a state in which a task cannot be cancelled.

use orange_core::{Actor, StateId};

use super::C09;
use super::dead_end::is_dead_end;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::State;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let Some(cancel) = facts.workflow.commands.cancel else { return Vec::new() };
    // Where nothing leads there at all, that is one fault, and not one of every state.
    if !facts.graph.entered[usize::from(cancel.0)] {
        return Vec::new();
    }
    let held = held(facts);
    let without = facts.states().filter(|(id, state)| lacks(facts, *id, state, cancel));
    without.map(|(id, state)| finding(facts, (id, state), cancel, held[usize::from(id.0)])).collect()
}

/// True if a task gets there and on, and no person can take it to the state of cancelled tasks.
fn lacks(facts: &Facts<'_>, id: StateId, state: &State, cancel: StateId) -> bool {
    let at = usize::from(id.0);
    let lives = facts.graph.entered[at] && facts.graph.ends[at] && !state.terminal && id != cancel;
    lives
        && !is_dead_end(facts, id, state)
        && !facts.machine.between(id, cancel).any(|it| facts.transition(it).by.allows(Actor::Human))
}

/// Resources that a task in a state can hold.
#[derive(Clone, Copy, Default)]
struct HeldResources {
    session: bool,
    workspace: bool,
}

fn held(facts: &Facts<'_>) -> Vec<HeldResources> {
    let mut held = vec![HeldResources::default(); facts.workflow.states.len()];
    for (_, task) in facts.search.configurations() {
        let held = &mut held[usize::from(task.status.0)];
        held.session |= task.session;
        held.workspace |= task.has_worktree();
    }
    held
}

fn finding(
    facts: &Facts<'_>,
    (id, state): (StateId, &State),
    cancel: StateId,
    held: HeldResources,
) -> Diagnostic {
    let (name, end) = (&state.name.value, facts.name(cancel));
    let declared = facts.machine.between(id, cancel).next().map(|it| facts.transition(it));
    let why = match declared {
        Some(_) => format!("no person may take `{name} → {end}`"),
        None => format!("no transition leads from there to `{end}`"),
    };
    let message = format!("a task in `{name}` cannot be cancelled: {why}");
    let found = Diagnostic::new(&C09, state.name.span, message);
    match declared {
        Some(transition) => found
            .label(state.name.span, "1. a task here")
            .label(facts.first_line(transition.span), "2. no person can ask for this transition")
            .help("add `human` to its `by`"),
        None => found.help(format!("add `- {{from: {name}, to: {end}{}}}`", hooks(held))),
    }
}

/// The hooks that give back what is held.
fn hooks(held: HeldResources) -> String {
    let hooks = [(held.session, "kill_session"), (held.workspace, "release_workspace")];
    let hooks: Vec<String> =
        hooks.iter().filter(|it| it.0).map(|(_, name)| format!("{{action: {name}}}")).collect();
    if hooks.is_empty() { String::new() } else { format!(", hooks: [{}]", hooks.join(", ")) }
}
