//! S10: what a guard comes to in the tables is bounded.

use std::collections::BTreeSet;

use super::CheckContext;
use crate::lower::normal::conjunctions;

pub(super) fn check(context: &mut CheckContext<'_>) {
    // The transitions of one `from: [a, b]` share their guard.
    let mut seen = BTreeSet::new();
    let guards = context.draft.workflow.transitions.iter().filter_map(|it| it.when.as_ref());
    let watched = context.draft.workflow.watch.iter().filter_map(|it| it.when.as_ref());
    let guards = guards.chain(watched);
    let guards =
        guards.chain(context.draft.choices.iter().flatten()).filter(|guard| seen.insert(guard.span.start));
    let found: Vec<_> = guards
        .filter_map(|guard| conjunctions(&guard.expr).err().map(|too_large| too_large.diagnostic(guard)))
        .collect();
    found.into_iter().for_each(|finding| context.report(finding));
}
