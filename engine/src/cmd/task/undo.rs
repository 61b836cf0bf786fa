//! `orange task undo`

use super::{named_or_here, repaired};
use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::TaskName;
use crate::flow::respawn_command;
use crate::flow::undo::{deleted_first, undo};
use crate::store::{WorkItem, WorkItemDir};
use orange_api::{Reopened, Success, TakenBack};

/// Takes the cancellation or the merge of a task back.
pub fn run(app: &App, task: &TaskName, dry_run: bool) -> Result<CommandAnswer> {
    let name = task.name.as_deref();
    let dir = named_or_here(app, task).map_err(|error| deleted_first(app, name, error))?;
    repaired::telling(&dir, || one(app, &dir, dry_run))
}

fn one(app: &App, dir: &WorkItemDir, dry_run: bool) -> Result<(Reopened, String)> {
    let undone = undo(app, dir, dry_run)?;
    let (task, _) = WorkItem::read_last(&app.home, dir, 0)?;
    let workspace = task.owned.workspace.as_deref().map(str::to_owned).filter(|_| !dry_run);
    let mut lines = vec![format!("{} → {}", undone.from, undone.to)];
    let proposed = undone.merge.as_ref().and_then(|merge| merge.pr_url.as_deref());
    if let Some((url, merge)) = proposed.zip(undone.merge.as_ref()) {
        lines = vec![
            format!("{} takes no push: {url} takes the merge back", merge.into),
            format!("the task stays {} until that is merged; then repeat this", undone.to),
        ];
    } else if let Some(TakenBack { into, commit, reverts, pushed, pr_url: _ }) = &undone.merge {
        let then = if *pushed { "; pushed" } else { "" };
        lines.push(match commit {
            None => format!("{into} had nothing of the merge"),
            Some(commit) if *reverts => format!("{into} takes the merge back in {}{then}", &commit[..12]),
            Some(commit) => format!("{into} is at {} again", &commit[..12]),
        });
    }
    if let Some(backup) = &undone.backup {
        let place = match (&workspace, dry_run) {
            (Some(name), _) => format!("is in {name} again"),
            (None, true) => "would be in its worktree again".to_owned(),
            (None, false) => "waits for a worktree".to_owned(),
        };
        lines.push(format!("uncommitted work of {} {place}", &backup[..12]));
    }
    lines.extend(undone.waits_for.iter().map(|what| format!("no worktree yet: {what}")));
    lines.extend(undone.set_aside.iter().map(|folder| format!("what was set aside stays in {folder}")));
    if proposed.is_none() {
        let again = respawn_command(app, dir).filter(|_| !dry_run);
        lines.push(
            again.map_or_else(|| "no agent runs".to_owned(), |again| format!("no agent runs; {again}")),
        );
    }
    let reopened = Reopened {
        success: Success,
        id: dir.id.clone(),
        from: undone.from,
        to: undone.to,
        workspace,
        backup: undone.backup,
        waits_for: undone.waits_for,
        set_aside: undone.set_aside,
        merge: undone.merge,
        dry_run,
    };
    Ok((reopened, lines.join("\n")))
}
