//! A03: no transition leaves a terminal state.

use super::CheckContext;
use crate::catalogue::A03;
use crate::diag::Diagnostic;
use crate::model::StateId;
use crate::span::Spanned;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let whole = context
        .draft
        .workflow
        .transitions
        .iter()
        .map(|it| (&it.from, format!(", for `{}`", context.name(it.to.value))));
    let unfinished = context.draft.ends.unfinished().iter().map(|from| (from, String::new()));
    let found: Vec<_> = whole.chain(unfinished).filter_map(|(from, to)| leaves(context, from, &to)).collect();
    found.into_iter().for_each(|finding| context.report(finding));
}

fn leaves(context: &CheckContext<'_>, from: &Spanned<StateId>, to: &str) -> Option<Diagnostic> {
    let state = context.state(from.value);
    let name = &state.name.value;
    let finding =
        Diagnostic::new(&A03, from.span, format!("a transition leaves the terminal state `{name}`"));
    state.terminal.then(|| {
        finding
            .label(state.name.span, "declared terminal here")
            .label(from.span, format!("left here{to}"))
            .help(format!("delete this transition, or `terminal: true` of `{name}`"))
    })
}
