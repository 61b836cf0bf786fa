//! A14 and A15: a task does not begin where everything ends, and `merge` and `cancel` end it.

use super::CheckContext;
use crate::catalogue::{A14, A15};
use crate::diag::{Diagnostic, Level};
use crate::model::StateId;

pub(super) fn check(context: &mut CheckContext<'_>) {
    // A `terminal` that was not understood is among the errors then.
    if context.found.iter().any(|it| it.level == Level::Error) {
        return;
    }
    let workflow = &context.draft.workflow;
    let Some(first) = workflow.states.get(usize::from(workflow.initial.0)) else { return };
    let initial = first.terminal.then(|| {
        let name = &first.name.value;
        let message =
            format!("every task begins in `{name}`, and `{name}` is terminal: nothing can be done with it");
        Diagnostic::new(&A14, first.name.span, message)
            .label(first.name.span, "the state of new tasks, and terminal")
            .help("name another state, `initial: …`; where none is named, tasks begin in the first one")
    });
    let commands = workflow.commands;
    // Where no state is terminal, `no-terminal` says so.
    let has_end = workflow.states.iter().any(|it| it.terminal);
    let ending = [("merge", commands.merge), ("cancel", commands.cancel)].into_iter().filter(|_| has_end);
    let ending = ending.filter_map(|(command, to)| goes_on(context, command, to?));
    let found: Vec<_> = initial.into_iter().chain(ending).collect();
    found.into_iter().for_each(|finding| context.report(finding));
}

fn goes_on(context: &CheckContext<'_>, command: &str, to: StateId) -> Option<Diagnostic> {
    let state = context.state(to);
    let name = &state.name.value;
    let message =
        format!("`orange task {command}` ends a task, and leads to `{name}`, which is not terminal");
    let help =
        format!("write `terminal: true` in `{name}`, or name a terminal state: `commands: {{{command}: …}}`");
    let found = Diagnostic::new(&A15, state.name.span, message).label(state.name.span, "is not terminal");
    (!state.terminal).then(|| found.help(help))
}
