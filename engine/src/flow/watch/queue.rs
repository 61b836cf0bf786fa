//! The waiting tasks of a project: what they wait for, and what starts them.

use std::collections::{BTreeMap, BTreeSet};

use orange_core::Workspace;
use orange_core::mission::MissionStatus;

use crate::Result;
use crate::app::App;
use crate::flow::blocked::Blocked;
use crate::flow::snapshot::waits;
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
    /// These projects and this pool.
    pub fn new(projects: Vec<Project>, slots: Vec<Slot>) -> Queue {
        Queue { projects, slots }
    }

    /// The current projects and pool.
    pub fn read(home: &Home) -> Result<Queue> {
        Ok(Queue { projects: projects::read(home)?, slots: pool::read(home)? })
    }

    /// The same, if anything about this task depends on it: the pool is read from the journals of all tasks.
    pub fn about(app: &App, task: &Task) -> Option<Queue> {
        let may_get_room = || task.owned.workspace.is_none() && !app.is_over(task);
        let is_concerned = may_get_room() || waits(app, task).is_some();
        is_concerned.then(|| Queue::read(&app.home).ok()).flatten()
    }

    /// The same from the pool's file and the journals of these tasks, for projects all of whose tasks are among them.
    pub fn of(home: &Home, saved: Saved, known: &[Known]) -> Result<Queue> {
        Ok(Queue { projects: projects::read(home)?, slots: saved.slots(known)? })
    }

    /// Whether a task without a worktree could have one now, or needs none to be started.
    pub fn has_room(&self, app: &App, task: &Task) -> bool {
        let place = waits(app, task);
        if place.is_some() && Blocked::of(app, task).is_some() {
            return false;
        }
        if place == Some(Workspace::Folder) {
            return true;
        }
        let project = self.projects.iter().find(|project| project.name == task.project);
        project.is_some_and(|project| {
            pool::check_room(&app.home, &self.slots, (&project.name, project.pool_size), &task.id).is_ok()
        })
    }

    /// What an unstarted task waits for, in words; `None` for any other task.
    pub fn waits_for(&self, app: &App, task: &Task) -> Option<String> {
        let project = self.projects.iter().find(|project| project.name == task.project)?;
        let place = waits(app, task)?;
        if let Some(blocked) = Blocked::of(app, task) {
            return Some(blocked.words());
        }
        let size = (project.name.as_str(), project.pool_size);
        let is_full = || pool::check_room(&app.home, &self.slots, size, &task.id).is_err();
        Some(if place == Workspace::Worktree && is_full() {
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

/// Where the agent of an unstarted task is to work that waits for nothing but its turn; `None` for any other task.
pub fn waits_for_room(app: &App, task: &Task) -> Option<Workspace> {
    let is_stopped = task.owned.stopped_at.is_some();
    waits(app, task).filter(|_| !is_stopped && Blocked::of(app, task).is_none())
}

/// Whether an automatic queue starts one more task that needs no worktree: as many work at once in folders as the project has
/// worktrees.
pub fn has_place(in_folders: usize, pool_size: u32) -> bool {
    usize::try_from(pool_size).is_ok_and(|size| in_folders < size)
}

/// The projects of the tasks seen.
#[derive(Debug, Default)]
pub struct Queues(BTreeMap<String, Seen>);

/// The tasks seen of one project.
#[derive(Debug)]
struct Seen {
    /// One of them.
    dir: TaskDir,
    /// What those wait for that were not started.
    wait_for: BTreeSet<Workspace>,
    /// The number of those that hold a plain folder.
    in_folders: usize,
}

impl Queues {
    /// Notes a task.
    pub fn see(&mut self, app: &App, dir: &TaskDir, task: &Task) {
        let first = || Seen { dir: dir.clone(), wait_for: BTreeSet::new(), in_folders: 0 };
        let seen = self.0.entry(dir.project.clone()).or_insert_with(first);
        seen.wait_for.extend(waits_for_room(app, task));
        seen.in_folders += usize::from(task.holds() == Some(Workspace::Folder));
    }

    /// Makes the starts that are owed, and fills the free worktrees of projects with automatic queues. Returns the projects with
    /// something to do, each with one of its tasks and the result.
    pub fn serve(&self, app: &App) -> Vec<(TaskDir, Result<String>)> {
        let served = self.0.iter().filter_map(|(project, seen)| {
            let done = is_to_be_served(app, project, seen)
                .and_then(|is_to_be| is_to_be.then(|| start_next(app, &seen.dir)).transpose());
            let story = || format!("saw to the tasks of {project} that wait to be started");
            Some((seen.dir.clone(), done.transpose()?.map(|()| story())))
        });
        served.collect()
    }
}

fn is_to_be_served(app: &App, project: &str, seen: &Seen) -> Result<bool> {
    let owed = owed::all(&app.home, project)?;
    if owed.iter().any(Result::is_ok) || fills_by_itself(app, project, seen)? {
        return Ok(true);
    }
    // An unreadable start is reported only without other starts, whose result reports it otherwise.
    owed.into_iter().find_map(Result::err).map_or(Ok(false), Err)
}

/// Whether a project has an automatic queue, and a task that it can start.
fn fills_by_itself(app: &App, project: &str, seen: &Seen) -> Result<bool> {
    if seen.wait_for.is_empty() {
        return Ok(false);
    }
    let Some(auto) = orange_project(app, project)?.filter(Project::is_auto) else { return Ok(false) };
    for place in &seen.wait_for {
        let can_start = match place {
            Workspace::Worktree => workspace::is_free(app, project, &seen.dir.id)?,
            Workspace::Folder => has_place(seen.in_folders, auto.pool_size),
        };
        if can_start {
            return Ok(true);
        }
    }
    Ok(false)
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
