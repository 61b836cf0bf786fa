//! `orange task edit`

use crate::Result;
use crate::app::App;
use crate::cmd::args::EditArgs;
use crate::flow::edit::{Edits, edit};
use crate::store::WorkItemDir;
use orange_api::{Edited, Success};

/// Edits that the arguments ask for.
pub fn edits(args: &EditArgs) -> Edits<'_> {
    let EditArgs { harness, review_harness, summary, priority, blocked_by, unblock, seen, dry_run, .. } =
        args;
    let is_given = *unblock || !blocked_by.is_empty();
    Edits {
        priority: *priority,
        blocked_by: is_given.then_some(blocked_by),
        harness: harness.as_deref(),
        review_harness: review_harness.as_deref(),
        summary: summary.as_deref(),
        seen: *seen,
        seen_call: None,
        dry_run: *dry_run,
    }
}

/// Changes what people decide about a task.
pub fn run(app: &App, dir: &WorkItemDir, args: &EditArgs) -> Result<(Edited, String)> {
    let updated = edit(app, dir, edits(args))?;
    let verb = if args.dry_run { "would change" } else { "changed" };
    let text = format!("{verb} {}", updated.join(", "));
    Ok((
        Edited {
            success: Success,
            id: dir.id.clone(),
            updated: updated.into_iter().map(Into::into).collect(),
            dry_run: args.dry_run,
        },
        text,
    ))
}
