//! Reclaims of worktrees that a kill has interrupted: the monitor, a command about the task, or a task that needs a worktree finishes them.

use crate::Result;
use crate::app::App;
use crate::flow::{lock_recovered, queue};
use crate::hooks::reclaim;
use crate::store::{LockedWorkItem, WorkItem, WorkItemDir, pool, projects};

/// Locks a task without an open transition, with its reclaimed worktree restored. A reclaim that a kill has
/// interrupted is finished first.
pub fn lock_with_worktree(app: &App, dir: &WorkItemDir) -> Result<LockedWorkItem> {
    if !pool::has_slot_of(&app.home, &dir.id)? {
        finish_killed(app, &dir.project)?;
    }
    reclaim::restore(app, lock_recovered(app, dir)?)
}

/// Finishes the interrupted reclaim of the worktree of this task; what was done, in words.
pub fn finish(app: &App, dir: &WorkItemDir) -> Result<String> {
    let held = lock_recovered(app, dir)?.task().worktree().cloned();
    if let Some(name) = held {
        return Ok(format!("has {name}, with its work restored: a killed process had begun to reclaim it"));
    }
    queue::after_release(app, dir)?;
    Ok("has lost its worktree to another task: a killed process had begun to reclaim it".to_owned())
}

/// Finishes the interrupted reclaims of worktrees of a project, if none of its worktrees is free. A failure
/// leaves that worktree as it is: the monitor reports it.
pub fn finish_killed(app: &App, project: &str) -> Result<()> {
    let Some(project) = projects::read(&app.home)?.into_iter().find(|it| it.name == project) else {
        return Ok(());
    };
    let mut held = pool::by_file(&app.home)?;
    held.retain(|slot| slot.project == project.name && slot.task.is_some());
    if held.len() < usize::try_from(project.pool_size).unwrap_or(usize::MAX) {
        return Ok(());
    }
    for id in held.into_iter().filter_map(|slot| slot.task) {
        let dir = app.home.task(&project.name, &id);
        if dir.path.is_dir()
            && is_unfinished(app, &dir)?
            && let Err(error) = finish(app, &dir)
        {
            ::log::warn!(target: "worktree", "the reclaim of the worktree of {} was interrupted: {}", dir.shown(), error.one_line());
        }
    }
    Ok(())
}

/// True if a kill has interrupted the reclaim of a worktree that this task holds by the pool. A task that cannot be read does not
/// hinder the others: `orange doctor` names it.
pub fn is_unfinished(app: &App, dir: &WorkItemDir) -> Result<bool> {
    let has_slot = pool::has_slot_of(&app.home, &dir.id)?;
    let read = WorkItem::read_last(&app.home, dir, 0);
    Ok(read.is_ok_and(|(task, journal)| reclaim::is_unfinished(&task, &journal.history(), has_slot)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::drive::git::Git;
    use crate::flow::polls::Polls;
    use crate::flow::{collect, diff, monitor};
    use crate::hooks::workspace::{self, tests::WorkspaceLab};
    use crate::store::{Event, Set, tests};

    /// Points at which the process that reclaims a worktree is killed.
    const STEPS: [&str; 5] =
        ["before the release", "after it", "before the slot", "with a slot", "restoring"];

    /// A task with work in its worktree, whose reclaim was interrupted at this step.
    fn killed(lab: &WorkspaceLab, step: &str) -> WorkItemDir {
        let mut locked = tests::task(lab.home(), "fix");
        let dir = locked.dir().clone();
        lab.acquire(&mut locked).unwrap();
        fs::write(lab.worktree().join("idea"), "half\n").unwrap();
        fs::remove_file(lab.worktree().join("readme")).unwrap();
        let (workspace, head) =
            ("coffee--1".to_owned(), Git::at(lab.repo()).head(&lab.worktree()).unwrap().unwrap());
        let reclaiming = Event::WorktreeReclaiming { workspace: workspace.clone(), head: head.clone() };
        let release = |locked: &mut LockedWorkItem| workspace::release(&lab.app, locked).unwrap();
        match step {
            "before the release" => locked.append(reclaiming, Set::new()).unwrap(),
            "after it" => {
                locked.append(reclaiming, Set::new()).unwrap();
                release(&mut locked);
            }
            "before the slot" => {
                locked.append(reclaiming, Set::new()).unwrap();
                let set = release(&mut locked);
                locked.append(Event::WorktreeReclaimed { workspace }, set).unwrap();
            }
            _ => {
                reclaim::begin(&lab.app, &mut locked, &head).unwrap();
                workspace::preflight(&lab.app, locked.task()).unwrap().unwrap().take().unwrap();
                if step == "restoring" {
                    let set = Set::new().workspace(Some("coffee--1"));
                    locked.append(Event::WorktreeRestoring { workspace }, set).unwrap();
                }
            }
        }
        dir
    }

    /// Kills at every step, lets something finish it, and checks that a task could have the worktree or has it, and its work.
    fn finishes(what: &str, finisher: impl Fn(&WorkspaceLab, &WorkItemDir)) {
        for step in STEPS {
            let lab = WorkspaceLab::new(None);
            let dir = killed(&lab, step);
            assert!(is_unfinished(&lab.app, &dir).unwrap(), "{what}, {step}");
            finisher(&lab, &dir);
            assert!(!is_unfinished(&lab.app, &dir).unwrap(), "{what}, {step}");
            let held = WorkItem::read(lab.home(), &dir).unwrap().0.owned.workspace;
            if step == "restoring" {
                assert_eq!(held.as_deref(), Some("coffee--1"), "{what}");
            } else {
                assert_eq!(held, None, "{what}, {step}");
                assert!(workspace::is_free(&lab.app, "coffee", "another").unwrap(), "{what}, {step}");
                drop(lock_with_worktree(&lab.app, &dir).unwrap());
            }
            assert_eq!(fs::read_to_string(lab.worktree().join("idea")).unwrap(), "half\n", "{what}, {step}");
            assert!(!lab.worktree().join("readme").exists(), "{what}, {step}");
        }
    }

    #[test]
    fn the_monitor_finishes_an_interrupted_reclaim() {
        finishes("monitor", |lab, _| {
            let look = monitor::look(&lab.app, &mut Polls::default()).unwrap();
            assert_eq!(look.errors, []);
            assert!(look.events.iter().any(|(_, story)| story.contains("killed process")), "{look:?}");
        });
    }

    #[test]
    fn gc_finishes_an_interrupted_reclaim() {
        finishes("gc", |lab, _| {
            let fates = |dry_run| {
                let done = collect::collect(&lab.app, dry_run).unwrap();
                done.into_iter().map(|one| (one.fate, one.failure)).collect::<Vec<_>>()
            };
            assert_eq!(fates(true), [(collect::WorktreeFate::Finish, None)]);
            assert_eq!(fates(false), [(collect::WorktreeFate::Finish, None)]);
        });
    }

    #[test]
    fn a_task_without_worktree_finishes_an_interrupted_reclaim() {
        finishes("another task", |lab, _| finish_killed(&lab.app, "coffee").unwrap());
    }

    #[test]
    fn a_diff_finishes_an_interrupted_reclaim() {
        finishes("diff", |lab, dir| drop(diff::compare(&lab.app, dir).unwrap()));
    }
}
