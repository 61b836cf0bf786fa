//! C06: a transition that is legal on paper and never taken.

use super::C06;
use super::closed::Closed;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::guard::decide;
use orange_codegen::model::Transition;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let Some(closed) = Closed::of(facts) else { return Vec::new() };
    let mut found = Vec::new();
    for (id, transition) in closed.transitions() {
        // A state that nothing else leads to either is never entered, and the finding of the state reports that once.
        let target_is_entered = facts.nearest[usize::from(transition.to.value.0)].is_some();
        if target_is_entered && can_hold(facts, transition) && !closed.reads_what_nothing_counts(id) {
            let reason = closed.reason(id);
            let message = format!("{} is never taken: {}", facts.arrow(transition), reason.words);
            found.push(
                Diagnostic::new(&C06, facts.first_line(reason.span), message)
                    .label(facts.first_line(transition.span), "1. declared here")
                    .label(facts.first_line(reason.span), "2. and closed by this")
                    .help(reason.help),
            );
        }
    }
    found
}

/// True if any values at all satisfy its guard: a guard without such values is a fault of its own.
fn can_hold(facts: &Facts<'_>, transition: &Transition) -> bool {
    transition.when.as_ref().is_none_or(|guard| {
        let found = decide::somewhere(&guard.expr, &facts.workflow.counters, &mut facts.work.borrow_mut());
        found.map_or(true, |it| it.is_some())
    })
}
