//! A03: no transition leaves a terminal state.

use super::Run;
use crate::catalogue::A03;
use crate::diag::Diagnostic;

pub(super) fn check(run: &mut Run<'_>) {
    for transition in &run.workflow.transitions {
        let state = run.state(transition.from.value);
        if !state.terminal {
            continue;
        }
        let (name, to) = (&state.name.value, run.name(transition.to.value));
        let finding = Diagnostic::new(
            &A03,
            transition.from.span,
            format!("a transition leaves the terminal state `{name}`"),
        )
        .label(state.name.span, "declared terminal here")
        .label(transition.from.span, format!("left here, for `{to}`"))
        .help(format!("delete this transition, or `terminal: true` of `{name}`"));
        run.report(finding);
    }
}
