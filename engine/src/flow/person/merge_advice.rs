//! Advice about merges that are not made: who can do what about a conflict.

use crate::Error;
use crate::app::App;
use crate::drive::git::{MergeObstacle, Unmergeable};
use crate::store::WorkItem;

/// The error of a merge that is not made, with who can do what about it: a person, where the branch is checked out, or the worker
/// to whom the workflow can give the task back.
pub(super) fn advised(app: &App, task: &WorkItem, base: &str, then: &str, flaw: Unmergeable) -> Error {
    match flaw.obstacle {
        MergeObstacle::Conflict => {}
        MergeObstacle::MovedOn => {
            let help = format!(
                "use `--strategy merge`, `squash`, `rebase` or `auto`; or bring the branch up to date first: `orange task sync {}`",
                task.id
            );
            return flaw.help(help);
        }
        MergeObstacle::Replay | MergeObstacle::Other => return flaw.error,
    }
    let worktree = task.worktree().map(|name| app.home.workspace(name)).filter(|folder| folder.exists());
    let by_hand = worktree.map(|worktree| {
        format!("in {}, run `git merge {base}`, resolve, commit; {then}", worktree.display())
    });
    let is_base = app.project_of(task).is_ok_and(|project| project.default_branch == base);
    let by_agent = returned(app, task).map(|status| {
        let id = &task.id;
        match is_base {
            true => format!("give it to its agent: `orange task sync {id} --by-agent`"),
            false => format!(
                "give it to its agent: `orange task update {id} --status {status} --feedback 'Merge {base} into the branch and \
                 resolve the conflicts'`"
            ),
        }
    });
    let helps: Vec<String> = [by_hand, by_agent].into_iter().flatten().collect();
    if helps.is_empty() {
        let branch = &task.branch;
        return flaw.help(format!(
            "check the branch out with `git worktree add FOLDER {branch}`; there, run `git merge {base}`, resolve, commit; {then}"
        ));
    }
    flaw.help(helps.join("; or "))
}

/// The status in which the task's agent goes on with work that a person returns.
pub(super) fn returned(app: &App, task: &WorkItem) -> Option<&'static str> {
    let machine = app.machine_of(&task.owned).ok()?;
    let status = machine.state_named(task.status())?;
    let back = machine.targets(status).find(|to| machine.returns_work(status, *to))?;
    Some(machine.state(back).name)
}
