//! `orange task update`

use std::borrow::Cow;

use super::merge::transition_answer;
use crate::Result;
use crate::app::App;
use crate::cmd::args::UpdateArgs;
use crate::cmd::stdin;
use crate::flow::update::{UpdateWishes, Updated, update};
use crate::store::WorkItemDir;
use orange_api::{Success, Update};

/// The text of `--feedback`.
pub fn feedback(args: &UpdateArgs) -> Result<Option<Cow<'_, str>>> {
    args.feedback.as_deref().map(|given| stdin::or_text(given, "the feedback")).transpose()
}

/// Changes that the arguments ask for.
pub fn wishes<'a>(args: &'a UpdateArgs, feedback: Option<&'a str>) -> UpdateWishes<'a> {
    let UpdateArgs { status, retry_hooks, summary, branch, dry_run, .. } = args;
    UpdateWishes {
        status: status.as_deref(),
        retry_hooks: *retry_hooks,
        summary: summary.as_deref(),
        branch: branch.as_ref().map(Option::as_deref),
        feedback,
        dry_run: *dry_run,
    }
}

/// Changes a task's summary and branch, then asks for its status.
pub fn run(app: &App, dir: &WorkItemDir, wishes: UpdateWishes<'_>) -> Result<(Update, String)> {
    match update(app, dir, wishes)? {
        Updated::Status(result) => {
            let (moved, text) = transition_answer(app, dir, *result);
            Ok((Update::Status(Box::new(moved)), text))
        }
        Updated::Fields(updated) => {
            let verb = if wishes.dry_run { "would update" } else { "updated" };
            let text = format!("{verb} {}", updated.join(", "));
            let (id, dry_run) = (dir.id.clone(), wishes.dry_run);
            Ok((
                Update::Fields {
                    success: Success,
                    id,
                    updated: updated.into_iter().map(Into::into).collect(),
                    dry_run,
                },
                text,
            ))
        }
    }
}
