//! Worktrees of tasks that wait for a person are reclaimed for other tasks, in projects that allow it, and restored later.

use std::collections::BTreeMap;

use orange_core::Workspace;
use orange_core::reclaim::ReclaimFacts;

use crate::Result;
use crate::app::App;
use crate::drive::git::Git;
use crate::flow::agent::ended;
use crate::flow::snapshot::{status_of, waits};
use crate::flow::{lock_recovered, lock_with_worktree, queue};
use crate::hooks::reclaim;
use crate::store::effective::effective;
use crate::store::{WorkItem, WorkItemDir, WorkItemHistory, pool, projects};

/// The tasks and missions seen, by project.
#[derive(Debug, Default)]
pub struct Reclaims(BTreeMap<String, ReclaimCandidates>);

/// Those of one project.
#[derive(Debug, Default)]
struct ReclaimCandidates {
    /// Number of tasks and missions that wait for a worktree.
    waiting: usize,
    /// Those whose reclaimed worktree is requested.
    requested: Vec<WorkItemDir>,
    /// Those whose worktree may be reclaimed, each with the time at which it entered its state.
    reclaimable: Vec<(String, WorkItemDir)>,
}

impl Reclaims {
    /// Notes a task.
    pub fn see(&mut self, app: &App, dir: &WorkItemDir, task: &WorkItem, history: &WorkItemHistory) {
        let seen = self.0.entry(dir.project.clone()).or_default();
        seen.waiting += usize::from(waits(app, task) == Some(Workspace::Worktree));
        if history.worktree.reclaimed.as_ref().is_some_and(|reclaim| reclaim.is_requested)
            && !app.is_over(task)
        {
            seen.requested.push(dir.clone());
        }
        let facts = ReclaimFacts { is_allowed: true, others_wait: true, ..facts(app, task, history) };
        if facts.may_reclaim().is_ok() {
            seen.reclaimable.push((history.since.clone(), dir.clone()));
        }
    }

    /// Notes a mission that waits for a worktree.
    pub fn see_pending(&mut self, dir: &WorkItemDir) {
        self.0.entry(dir.project.clone()).or_default().waiting += 1;
    }

    /// Restores requested worktrees while one is free, and reclaims as many as are waited for beyond those.
    pub fn serve(self, app: &App) -> Vec<(WorkItemDir, Result<String>)> {
        let mut done = Vec::new();
        for (project, seen) in self.0 {
            if seen.requested.is_empty() && (seen.waiting == 0 || seen.reclaimable.is_empty()) {
                continue;
            }
            let dirs: Vec<_> =
                seen.requested.iter().chain(seen.reclaimable.iter().map(|(_, dir)| dir)).cloned().collect();
            if let Err(error) = serve_one(app, &project, seen, &mut done) {
                done.extend(dirs.into_iter().next().map(|dir| (dir, Err(error))));
            }
        }
        done
    }
}

fn serve_one(
    app: &App,
    project: &str,
    mut seen: ReclaimCandidates,
    done: &mut Vec<(WorkItemDir, Result<String>)>,
) -> Result<()> {
    let Some(project) = projects::read(&app.home)?.into_iter().find(|it| it.name == project) else {
        return Ok(());
    };
    let slots = pool::read(&app.home)?;
    let taken = slots.iter().filter(|slot| slot.project == project.name && slot.task.is_some()).count();
    let mut free = usize::try_from(project.pool_size).unwrap_or(usize::MAX).saturating_sub(taken);
    let mut lacking = seen.waiting;
    for dir in seen.requested {
        if free == 0 {
            lacking += 1;
            continue;
        }
        free -= 1;
        let restored =
            lock_with_worktree(app, &dir).map(|_| "has a worktree again, with its work restored".to_owned());
        done.push((dir, restored));
    }
    if lacking <= free || !effective(&app.home, &project)?.reclaim_when_waiting.value {
        return Ok(());
    }
    seen.reclaimable.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let mut left = lacking - free;
    for (_, dir) in seen.reclaimable {
        if left == 0 {
            break;
        }
        if let Some(outcome) = reclaim_one(app, &dir).transpose() {
            left -= usize::from(outcome.is_ok());
            done.push((dir, outcome));
        }
    }
    Ok(())
}

/// Reclaims the worktree of a task, if its work can be restored unchanged; what was done, in words.
fn reclaim_one(app: &App, dir: &WorkItemDir) -> Result<Option<String>> {
    let mut locked = lock_recovered(app, dir)?;
    let facts = facts(app, locked.task(), locked.history());
    let Some(name) = locked.task().worktree().cloned() else { return Ok(None) };
    if (ReclaimFacts { is_allowed: true, others_wait: true, ..facts }).may_reclaim().is_err() {
        return Ok(None);
    }
    let (git, worktree) = (Git::at(&app.project_of(locked.task())?.path), app.home.workspace(&name));
    if let Some(why) = git.why_bound(&worktree, &locked.task().branch)? {
        ::log::debug!(target: "monitor", "{} keeps its worktree: {why}", dir.id);
        return Ok(None);
    }
    let Some(head) = git.head(&worktree)? else { return Ok(None) };
    reclaim::begin(app, &mut locked, &head)?;
    drop(locked);
    queue::after_release(app, dir)?;
    Ok(Some(format!("waits for a person, and {name} was reclaimed for another task")))
}

/// Facts about a task whose worktree may be reclaimed.
fn facts(app: &App, task: &WorkItem, history: &WorkItemHistory) -> ReclaimFacts {
    let machine = app.machine_of(&task.owned).ok();
    let waits_for_person = machine.is_some_and(|machine| {
        status_of(machine, task).is_ok_and(|status| machine.state(status).waits_for_human)
    });
    ReclaimFacts {
        has_worktree: task.worktree().is_some(),
        waits_for_person,
        has_agent: !history.agents.alive.is_empty(),
        is_busy: history.transition.open.is_some()
            || history.transition.waiting_hooks.is_some()
            || history.gates.asked.is_some()
            || history.agents.waiting.is_some()
            || history.worktree.reclaiming.is_some()
            || history.worktree.reclaimed.is_some(),
        has_limit: ended::has_limit(app, task),
        was_restored: history.worktree.was_restored,
        ..ReclaimFacts::default()
    }
}
