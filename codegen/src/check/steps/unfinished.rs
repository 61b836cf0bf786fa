//! S04: keys that missions do not follow yet.

use super::StepsContext;
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::model::WorktreeUse;
use crate::span::Span;

/// Reports the keys that missions do not follow yet.
pub(super) fn check(context: &mut StepsContext<'_>) {
    let parallel = context.steps.parallel.map(|it| ("parallel", it.span));
    let of_steps = context.steps.steps.iter().flat_map(|step| {
        let worktree = match step.worktree.value {
            WorktreeUse::Write => None,
            WorktreeUse::Read => Some(("read_only", step.worktree.span)),
            WorktreeUse::Own => Some(("worktree", step.worktree.span)),
        };
        worktree.into_iter().chain(step.fan_out.as_ref().map(|it| ("for_each", it.span)))
    });
    let found: Vec<(&str, Span)> = parallel.into_iter().chain(of_steps).collect();
    for (key, span) in found {
        let message = format!("steps with `{key}` are not supported yet");
        context.report(Diagnostic::new(&S04, span, message).help("delete this key"));
    }
}
