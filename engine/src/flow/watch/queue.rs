//! The waiting tasks of a project: what they wait for, and what starts them.

use std::collections::BTreeMap;

use orange_core::mission::MissionStatus;

use crate::Result;
use crate::app::App;
use crate::flow::snapshot::{start_takes_worktree, waits};
use crate::hooks::workspace;
use crate::store::list::{self, Known};
use crate::store::pool::{self, Saved, Slot};
use crate::store::projects::{self, Project};
use crate::store::{DirKind, Home, Task, TaskDir, owed};

/// The data that decide which task waits for what, read once and without a lock.
#[derive(Debug)]
pub struct Queue {
    projects: Vec<Project>,
    slots: Vec<Slot>,
}

impl Queue {
    /// The current projects and pool.
    pub fn read(home: &Home) -> Result<Queue> {
        Ok(Queue { projects: projects::read(home)?, slots: pool::read(home)? })
    }

    /// The same from the pool's file and the journals of these tasks, for projects all of whose tasks are among them.
    pub fn of(home: &Home, saved: Saved, known: &[Known]) -> Result<Queue> {
        Ok(Queue { projects: projects::read(home)?, slots: saved.slots(known)? })
    }

    /// What an unstarted task waits for, in words; `None` for any other task.
    pub fn waits_for(&self, app: &App, task: &Task) -> Option<String> {
        let project = self.projects.iter().find(|project| project.name == task.project)?;
        if !waits(app, task) {
            return None;
        }
        let size = (project.name.as_str(), project.pool_size);
        let is_full = || pool::check_room(&app.home, &self.slots, size, &task.id).is_err();
        // An automatic queue starts any task when a worktree is free.
        let needs_room = project.is_auto() || start_takes_worktree(app, task);
        Some(if needs_room && is_full() {
            match project.pool_size {
                1 => format!("waits for the worktree of {}", project.name),
                size => format!("waits for one of the {size} worktrees of {}", project.name),
            }
        } else if project.is_auto() {
            "waits for `orange monitor`, which is going to start it".to_owned()
        } else {
            "waits for `orange task spawn`, or for a task that makes room for it".to_owned()
        })
    }
}

/// The projects of the tasks seen, each with one of its tasks, and whether any of its tasks waits.
#[derive(Debug, Default)]
pub struct Queues(BTreeMap<String, (TaskDir, bool)>);

impl Queues {
    /// Notes a task.
    pub fn see(&mut self, app: &App, dir: &TaskDir, task: &Task) {
        let (_, some_waits) = self.0.entry(dir.project.clone()).or_insert_with(|| (dir.clone(), false));
        *some_waits |= waits(app, task);
    }

    /// Makes the starts that are owed, and fills the free worktrees of projects with automatic queues. Returns the projects with
    /// something to do, each with one of its tasks and the result.
    pub fn serve(&self, app: &App) -> Vec<(TaskDir, Result<String>)> {
        let served = self.0.iter().filter_map(|(project, (dir, some_wait))| {
            let done = is_to_be_served(app, project, dir, *some_wait)
                .and_then(|is_to_be| is_to_be.then(|| start_next(app, dir)).transpose());
            let story = || format!("saw to the tasks of {project} that wait to be started");
            Some((dir.clone(), done.transpose()?.map(|()| story())))
        });
        served.collect()
    }
}

fn is_to_be_served(app: &App, project: &str, dir: &TaskDir, some_wait: bool) -> Result<bool> {
    let owed = owed::all(&app.home, project)?;
    if owed.iter().any(Result::is_ok) {
        return Ok(true);
    }
    let is_auto = || Ok(orange_project(app, project)?.is_some_and(|project| project.is_auto()));
    if some_wait && is_auto()? && workspace::is_free(app, project, &dir.id)? {
        return Ok(true);
    }
    // An unreadable start is reported only without other starts, whose result reports it otherwise.
    owed.into_iter().find_map(Result::err).map_or(Ok(false), Err)
}

/// The project of this name; a removed one is no error here.
fn orange_project(app: &App, name: &str) -> Result<Option<Project>> {
    Ok(projects::read(&app.home)?.into_iter().find(|project| project.name == name))
}

fn start_next(app: &App, dir: &TaskDir) -> Result<()> {
    app.detached(&["task", "spawn-next", &dir.id], dir)
}

/// Starts what waits for the worktree that a task or a mission has released: in a project with an automatic queue the next task,
/// and a mission in any project.
pub fn after_release(app: &App, dir: &TaskDir) -> Result<()> {
    match orange_project(app, &dir.project)? {
        Some(project) if project.is_auto() => app.start_detached(&["task", "spawn-next", &dir.id], dir),
        Some(_) | None => begin_mission(app, &dir.project),
    }
}

/// Begins the oldest mission of a project that waits for a worktree, if one is free, in a process of its own.
pub fn begin_mission(app: &App, project: &str) -> Result<()> {
    let pending = MissionStatus::Pending.as_str();
    let mut known = list::journals(&app.home, &[DirKind::Mission], Some(project))?;
    known.retain(|it| it.may_be(|owned| owned.status == pending));
    let waiting =
        list::each(known, |it| it.task.as_ref().is_ok_and(|it| it.status() == pending).then_some(it.dir));
    let Some(dir) = waiting.into_iter().next() else { return Ok(()) };
    match workspace::is_free(app, project, &dir.id)? {
        true => app.start_detached(&["mission", "advance", &dir.id], &dir),
        false => Ok(()),
    }
}
