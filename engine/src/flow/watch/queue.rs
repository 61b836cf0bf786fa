//! The waiting tasks of a project: what they wait for, and what starts them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use orange_core::mission::MissionStatus;
use orange_core::{Hook, Machine, Spawn, Workspace};

use crate::Result;
use crate::app::App;
use crate::flow::blocked::Blocked;
use crate::flow::budget;
use crate::flow::delegation;
use crate::flow::foreign;
use crate::flow::only_one;
use crate::flow::snapshot::{first_spawn, status_of, waits};
use crate::hooks::{agent_check, workspace};
use crate::store::list::{self, KnownTask};
use crate::store::pool::{self, SavedPool, Slot};
use crate::store::projects::{self, Project};
use crate::store::{Home, Owned, WorkItem, WorkItemDir, WorkItemKind, owed, work_item};
use orange_system::clock;

/// The data that decide which task waits for what, read once and without a lock.
#[derive(Debug)]
pub struct StartQueue {
    projects: Vec<Project>,
    slots: Vec<Slot>,
    looked: Looked,
}

/// Facts that are looked up only where a task waits, and once.
#[derive(Debug, Default)]
struct Looked {
    has_monitor: OnceLock<bool>,
    /// By project: whether a person is waited for in all of its worktrees.
    held: Mutex<BTreeMap<String, bool>>,
    /// By project, harness, permissions and place: why no such agent could be started.
    forbidden: Mutex<BTreeMap<StartKey, Option<String>>>,
    /// By project: the budget of a day or a month for which no agent starts.
    paused: Mutex<BTreeMap<String, Option<String>>>,
}

/// A project, a harness, whether the agent may do everything, and whether it works in a plain folder.
type StartKey = (String, String, bool, bool);

impl StartQueue {
    /// These projects and this pool.
    pub fn new(projects: Vec<Project>, slots: Vec<Slot>) -> StartQueue {
        StartQueue { projects, slots, looked: Looked::default() }
    }

    /// The current projects and pool.
    pub fn read(home: &Home) -> Result<StartQueue> {
        Ok(StartQueue::new(projects::read(home)?, pool::read(home)?))
    }

    /// The current projects and pool, if anything about this task depends on them: the pool is read from the journals
    /// of all tasks.
    pub fn about(app: &App, task: &WorkItem) -> Option<StartQueue> {
        let may_get_room = || task.owned.workspace.is_none() && !app.is_over(task);
        let is_concerned = may_get_room() || waits(app, task).is_some();
        is_concerned.then(|| StartQueue::read(&app.home).ok()).flatten()
    }

    /// The current projects, with the pool from its file and the journals of these tasks. All tasks of these projects
    /// are among them.
    pub fn of(home: &Home, saved: SavedPool, known: &[KnownTask]) -> Result<StartQueue> {
        Ok(StartQueue::new(projects::read(home)?, saved.slots(known)?))
    }

    /// True if a task without a worktree could have one now, or needs none to be started.
    pub fn has_room(&self, app: &App, task: &WorkItem) -> bool {
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

    /// Reason for which an unstarted task waits, in words; `None` for any other task.
    pub fn waits_for(&self, app: &App, task: &WorkItem) -> Option<String> {
        let why = self.reason(app, task)?;
        Some(foreign::origin(task).map_or_else(|| why.clone(), |origin| format!("{origin}: {why}")))
    }

    fn reason(&self, app: &App, task: &WorkItem) -> Option<String> {
        let project = self.projects.iter().find(|project| project.name == task.project)?;
        let place = waits(app, task)?;
        if let Some(blocked) = Blocked::of(app, task) {
            return Some(blocked.words());
        }
        if let Some(paused) = self.paused(app, project) {
            return Some(paused);
        }
        if task.owned.held {
            return Some("waits for `orange task spawn`: a person starts it".to_owned());
        }
        let size = (project.name.as_str(), project.pool_size);
        let is_full = || pool::check_room(&app.home, &self.slots, size, &task.id).is_err();
        if place == Workspace::Worktree && is_full() {
            return Some(full(project, self.is_held_by_person(app, project)));
        }
        Some(match (project.is_auto() || task.owned.parent.is_some(), self.has_monitor(app)) {
            (true, true) => "waits for `orange monitor`, which starts it at its next look".to_owned(),
            (true, false) => "waits for `orange monitor`, and none runs".to_owned(),
            (false, _) => {
                let name = &project.name;
                format!(
                    "waits for `orange task spawn`: the queue of {name} is manual (`orange project update {name} --queue auto` changes that)"
                )
            }
        })
    }

    /// Reason for which the start of an unstarted task would be refused, at any time, with its remedy; `None` for any other task,
    /// and for one that others block.
    pub fn forbids(&self, app: &App, task: &WorkItem) -> Option<String> {
        let place = waits(app, task).filter(|_| Blocked::of(app, task).is_none())?;
        let machine = app.machine_of(&task.owned).ok()?;
        let spawn = first_agent(machine, task)?;
        let harness = spawn.harness_name(&task.harness, &task.review_harness).to_owned();
        let is_full = agent_check::is_full(&spawn);
        let start = (task.project.clone(), harness, is_full, place == Workspace::Folder);
        let why = || agent_check::permitted(app, task, &spawn).err().map(|error| error.one_line());
        guard(&self.looked.forbidden).entry(start).or_insert_with(why).clone()
    }

    /// The projects with automatic queues in which tasks wait for a monitor while none runs.
    pub fn without_monitor<'q>(&'q self, app: &App, tasks: &[&WorkItem]) -> Vec<&'q str> {
        let waits = |project: &&Project| {
            project.is_auto()
                && tasks
                    .iter()
                    .any(|task| task.project == project.name && waits_for_room(app, task).is_some())
        };
        let waiting = self.projects.iter().filter(waits).map(|project| project.name.as_str());
        if self.has_monitor(app) { Vec::new() } else { waiting.collect() }
    }

    /// The projects in which tasks wait for a worktree, and all worktrees are held by work that waits for a person.
    pub fn held_by_person<'q>(&'q self, app: &App, tasks: &[&WorkItem]) -> Vec<&'q Project> {
        let waits = |project: &&Project| {
            let wants = |task: &&WorkItem| waits_for_room(app, task) == Some(Workspace::Worktree);
            let one = tasks.iter().copied().filter(|task| task.project == project.name).find(wants);
            let size = (project.name.as_str(), project.pool_size);
            one.is_some_and(|task| pool::check_room(&app.home, &self.slots, size, &task.id).is_err())
        };
        self.projects.iter().filter(waits).filter(|project| self.is_held_by_person(app, project)).collect()
    }

    /// The used-up budget for which no agent of a project starts, in words. A setting that cannot be read pauses nothing here: the
    /// start reports it.
    fn paused(&self, app: &App, project: &Project) -> Option<String> {
        let look = || {
            let pause = budget::pause(app, &project.name).ok().flatten()?;
            Some(format!("waits: {}, until {}", pause.why, clock::rfc3339(pause.until)))
        };
        guard(&self.looked.paused).entry(project.name.clone()).or_insert_with(look).clone()
    }

    fn has_monitor(&self, app: &App) -> bool {
        *self.looked.has_monitor.get_or_init(|| only_one::holder(app).is_some())
    }

    fn is_held_by_person(&self, app: &App, project: &Project) -> bool {
        let look = || {
            let mut holders = self.slots.iter().filter(|slot| slot.project == project.name);
            holders.all(|slot| slot.task.as_ref().is_some_and(|id| waits_for_person(app, &project.name, id)))
        };
        *guard(&self.looked.held).entry(project.name.clone()).or_insert_with(look)
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// That all worktrees of a project are taken, in words.
fn full(project: &Project, is_held_by_person: bool) -> String {
    let name = &project.name;
    match (project.pool_size, is_held_by_person) {
        (1, true) => format!("waits: the worktree of {name} is held by work that waits for you"),
        (size, true) => format!("waits: all {size} worktrees of {name} are held by work that waits for you"),
        (1, false) => format!("waits for the worktree of {name}"),
        (size, false) => format!("waits for one of the {size} worktrees of {name}"),
    }
}

/// Spawn of the first agent of an unstarted task, if its workflow has one.
fn first_agent(machine: &'static Machine<'static>, task: &WorkItem) -> Option<Spawn<'static>> {
    let status = status_of(machine, task).ok()?;
    if status != machine.initial {
        return machine.state(status).respawn.as_ref().and_then(Hook::spawn).copied();
    }
    first_spawn(machine, machine.start(!task.summary.trim().is_empty())?)
}

/// True if the task or mission of this id, which holds a worktree, waits for a person, and no agent of it works.
fn waits_for_person(app: &App, project: &str, id: &str) -> bool {
    let dir = list::with_id(&app.home, &WorkItemKind::ALL, Some(project), id).unwrap_or_default().pop();
    let read = dir.and_then(|dir| Some((dir.kind, work_item::read_journal_last(&dir, 0).ok()?.history())));
    let Some((kind, history)) = read else { return false };
    let is_quiet = history.agents.alive.is_empty()
        && history.transition.open.is_none()
        && history.agents.waiting.is_none();
    let status = history.owned.status.as_str();
    is_quiet
        && match kind {
            WorkItemKind::Task => app.machine_of(&history.owned).is_ok_and(|machine| {
                machine.state_named(status).is_some_and(|state| machine.state(state).waits_for_human)
            }),
            WorkItemKind::Mission => {
                [MissionStatus::Paused, MissionStatus::Failed].iter().any(|it| it.as_str() == status)
            }
        }
}

/// Workspace of an unstarted task that waits for nothing but its turn; `None` for any other task, and for one that only a person
/// starts.
pub fn waits_for_room(app: &App, task: &WorkItem) -> Option<Workspace> {
    let is_stopped = task.owned.stopped_at.is_some() || task.owned.held;
    waits(app, task).filter(|_| !is_stopped && Blocked::of(app, task).is_none())
}

/// True if an automatic queue starts one more task that needs no worktree: as many work at once in folders as the project has
/// worktrees.
pub fn has_place(in_folders: usize, pool_size: u32) -> bool {
    usize::try_from(pool_size).is_ok_and(|size| in_folders < size)
}

/// The projects of the tasks seen.
#[derive(Debug, Default)]
pub struct Queues(BTreeMap<String, ProjectQueue>);

/// The tasks seen of one project.
#[derive(Debug)]
struct ProjectQueue {
    dir: WorkItemDir,
    /// Workspaces for which unstarted tasks wait.
    wait_for: BTreeSet<Workspace>,
    /// Those for which tasks wait that agents have created: these start in every project.
    created_wait_for: BTreeSet<Workspace>,
    /// The number of those that hold a plain folder.
    in_folders: usize,
}

impl Queues {
    /// Notes a task.
    pub fn see(&mut self, app: &App, dir: &WorkItemDir, task: &WorkItem) {
        let first = || ProjectQueue {
            dir: dir.clone(),
            wait_for: BTreeSet::new(),
            created_wait_for: BTreeSet::new(),
            in_folders: 0,
        };
        let seen = self.0.entry(dir.project.clone()).or_insert_with(first);
        let place = waits_for_room(app, task);
        seen.wait_for.extend(place);
        seen.created_wait_for.extend(place.filter(|_| task.owned.parent.is_some()));
        seen.in_folders += usize::from(task.holds() == Some(Workspace::Folder));
    }

    /// Makes the starts that are owed, and fills the free worktrees of projects with automatic queues. Returns the projects with
    /// something to do, each with one of its tasks and the result.
    pub fn serve(&self, app: &App) -> Vec<(WorkItemDir, Result<String>)> {
        let served = self.0.iter().filter_map(|(project, seen)| {
            let done = is_to_be_served(app, project, seen)
                .and_then(|is_to_be| is_to_be.then(|| start_next(app, &seen.dir)).transpose());
            let story = || format!("saw to the tasks of {project} that wait to be started");
            Some((seen.dir.clone(), done.transpose()?.map(|()| story())))
        });
        served.collect()
    }
}

fn is_to_be_served(app: &App, project: &str, seen: &ProjectQueue) -> Result<bool> {
    let owed = owed::all(&app.home, project)?;
    if owed.iter().any(Result::is_ok) || fills_by_itself(app, project, seen)? {
        return budget::pause(app, project).map(|pause| pause.is_none());
    }
    // An unreadable start is reported only without other starts, whose result reports it otherwise.
    owed.into_iter().find_map(Result::err).map_or(Ok(false), Err)
}

/// True if a project has a task that starts by itself: any in an automatic queue, else one that an agent has created.
fn fills_by_itself(app: &App, project: &str, seen: &ProjectQueue) -> Result<bool> {
    if seen.wait_for.is_empty() {
        return Ok(false);
    }
    let Some(known) = orange_project(app, project)? else { return Ok(false) };
    let wait_for = if known.is_auto() { &seen.wait_for } else { &seen.created_wait_for };
    for place in wait_for {
        let can_start = match place {
            Workspace::Worktree => workspace::is_free(app, project, &seen.dir.id)?,
            Workspace::Folder => has_place(seen.in_folders, known.pool_size),
        };
        if can_start {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The project of this name; a removed one is not an error here.
fn orange_project(app: &App, name: &str) -> Result<Option<Project>> {
    Ok(projects::read(&app.home)?.into_iter().find(|project| project.name == name))
}

fn start_next(app: &App, dir: &WorkItemDir) -> Result<()> {
    app.detached(&["task", "spawn-next", &dir.id], dir)
}

/// Starts what waits for the worktree that a task or a mission has released: in a project with an automatic queue the next task,
/// and a mission in any project.
pub fn after_release(app: &App, dir: &WorkItemDir) -> Result<()> {
    match orange_project(app, &dir.project)? {
        Some(project) if project.is_auto() || has_created(app, dir)? => {
            app.start_detached(&["task", "spawn-next", &dir.id], dir)
        }
        Some(_) | None => begin_mission(app, &dir.project),
    }
}

/// True if agents of the task have created an unfinished one, which may begin now.
fn has_created(app: &App, dir: &WorkItemDir) -> Result<bool> {
    let (task, _) = WorkItem::read_last(&app.home, dir, 0)?;
    Ok(!delegation::open(app, &task)?.is_empty())
}

/// Begins the oldest mission of a project that waits for a worktree, if one is free, in a process of its own.
pub fn begin_mission(app: &App, project: &str) -> Result<()> {
    let pending = MissionStatus::Pending.as_str();
    let is_pending = |owned: &Owned| owned.status == pending;
    let mut known =
        list::journals(&app.home, &[WorkItemKind::Mission], Some(project), &|_, owned| is_pending(owned))?;
    known.retain(|it| it.may_be(is_pending));
    let waiting =
        list::each(known, |it| it.task.as_ref().is_ok_and(|it| it.status() == pending).then_some(it.dir));
    let Some(dir) = waiting.into_iter().next() else { return Ok(()) };
    match workspace::is_free(app, project, &dir.id)? {
        true => app.start_detached(&["mission", "advance", &dir.id], &dir),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_worktrees_are_held_by_work_or_by_a_person() {
        let project = |pool_size| Project { name: "coffee".to_owned(), pool_size, ..Project::default() };
        let four = "waits: all 4 worktrees of coffee are held by work that waits for you";
        assert_eq!(full(&project(4), true), four);
        assert_eq!(full(&project(4), false), "waits for one of the 4 worktrees of coffee");
        assert_eq!(
            full(&project(1), true),
            "waits: the worktree of coffee is held by work that waits for you"
        );
        assert_eq!(full(&project(1), false), "waits for the worktree of coffee");
    }
}
