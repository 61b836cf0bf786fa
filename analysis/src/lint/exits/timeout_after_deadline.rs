//! C50: the timeout of a state is not over before a deadline has moved the task on.

use orange_core::{Ending, StateId};

use super::C50;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Condition, Deadline, ExitRule};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts.states().filter_map(|(id, state)| of_state(facts, id, state.timeout.as_ref()?)).collect()
}

fn of_state(facts: &Facts<'_>, id: StateId, timeout: &ExitRule) -> Option<Diagnostic> {
    let Condition::Ended(ending) = &timeout.condition else { return None };
    let after = ending.after?;
    let before = facts.workflow.deadlines.iter().filter(|it| it.after <= after && moves(facts, it, id));
    let deadline = before.min_by_key(|it| it.after)?;
    let at_the_latest = Ending { after: Some(deadline.after), ..Ending::ANY };
    let message = format!(
        "the timeout of `{}` is never over: a deadline moves the task on {at_the_latest} at the latest",
        facts.name(id)
    );
    let finding = Diagnostic::new(&C50, timeout.span, message)
        .label(timeout.span, "counts from the arrival in this state")
        .label(facts.first_line(deadline.span), "counts from then or from before, and is not longer")
        .help("write a shorter timeout or a longer deadline, or delete the timeout");
    Some(finding)
}

/// True if a deadline moves a task on from a state, and nothing can refuse its transition.
fn moves(facts: &Facts<'_>, deadline: &Deadline, from: StateId) -> bool {
    let is_open = |to| {
        let mut between = facts.machine.between(from, to).map(|id| facts.machine.transition(id)).peekable();
        between.peek().is_some() && between.all(|it| it.guard.is_none() && it.gates.is_empty())
    };
    let is_inside = deadline.states.iter().any(|it| it.value == from);
    is_inside && deadline.then.is_some_and(|then| is_open(then.value))
}
