//! S04: keys that missions do not follow yet.

use super::StepsContext;
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::model::WorktreeUse;
use crate::span::Span;

/// Reports the keys that missions do not follow yet.
pub(super) fn check(context: &mut StepsContext<'_>) {
    let own = context.steps.steps.iter().filter(|step| step.worktree.value == WorktreeUse::Own);
    let found: Vec<Span> = own.map(|step| step.worktree.span).collect();
    for span in found {
        let message = "steps with `worktree` are not supported yet";
        context.report(Diagnostic::new(&S04, span, message).help("delete this key"));
    }
}
