//! Starts tasks: by command, by `spawn_next`, and in the state in which they were created.

use std::cmp::Reverse;

use orange_core::{Effect, LifeTurn, Machine, Workspace};

use crate::Result;
use crate::app::App;
use crate::flow::blocked::Blocked;
use crate::flow::budget;
use crate::flow::queue;
use crate::flow::request::transition_result;
use crate::flow::request::{Goal, begin, carry_out, decide};
use crate::flow::snapshot::{is_to_start, waits};
use crate::flow::watch::interrupted_reclaim::finish_killed;
use crate::flow::{TaskPreview, dry_run, lock_recovered, lock_with_worktree};
use crate::hooks::agents::{self, Occasion};
use crate::hooks::{self, workspace};
use crate::store::{
    self, Event, LockedWorkItem, WorkItem, WorkItemDir, WorkItemEntry, WorkItemHistory, WorkItemKind, list,
    owed, projects, work_item,
};
use orange_api::TransitionResult;

/// Starts a task in its workflow's initial state; one without a summary goes to the state that asks for one. A task in a later
/// state without a worktree gets one now, and the agent of its state. An earlier start that was killed is finished, and
/// answered like this one.
/// A task that others block is started only by `force`.
pub fn spawn(app: &App, dir: &WorkItemDir, force: bool) -> Result<TransitionResult> {
    let (_, before) = WorkItem::read(&app.home, dir)?;
    if force {
        app.caller.check_person("start a blocked task")?;
    }
    let locked = lock_with_worktree(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    let is_to_start = is_to_start(machine, locked.task())?;
    if let Some(begun) = begun_start(machine, &before.history()).filter(|_| !is_to_start) {
        drop(locked);
        let (_, journal) = WorkItem::read(&app.home, dir)?;
        return Ok(transition_result::read(&dir.id, &journal.records, begun));
    }
    if let Some(blocked) = Blocked::of(app, locked.task()).filter(|_| is_to_start && !force) {
        return Err(blocked.refusal(&dir.id));
    }
    match start(app, machine, locked)? {
        BegunStart::Locked(locked) => carry_out(app, *locked),
        BegunStart::Entered(result) => Ok(*result),
    }
}

/// Dry run of [`spawn`].
pub fn would_spawn(app: &App, dir: &WorkItemDir, force: bool) -> Result<TransitionResult> {
    let TaskPreview { task, history, .. } = TaskPreview::of(app, dir)?;
    if force {
        app.caller.check_person("start a blocked task")?;
    }
    let is_to_start = is_to_start(app.machine_of(&task.owned)?, &task)?;
    if let Some(blocked) = Blocked::of(app, &task).filter(|_| is_to_start && !force) {
        return Err(blocked.refusal(&dir.id));
    }
    if let Some(error) = budget::obstacle(app, dir, &task, &history)?.filter(|_| is_to_start) {
        return Err(error);
    }
    dry_run(app, dir, Goal::Spawn)
}

/// The sequence number of the start that the journal has begun and not ended.
fn begun_start(machine: &Machine<'_>, history: &WorkItemHistory) -> Option<u64> {
    let pending = history.transition.open.as_ref()?;
    let mut starts = [machine.commands.spawn, machine.commands.clarify].into_iter().flatten();
    let is_start = pending.plan.from == machine.state(machine.initial).name
        && starts.any(|state| machine.state(state).name == pending.plan.to);
    is_start.then_some(pending.seq)
}

/// Makes every start that is owed in a project: each starts the waiting task of the highest priority, and of one priority the oldest, that
/// can be started. In a project with an
/// automatic queue, every free worktree is one more such start, and so is every place for a task that needs none; in others, that is so for
/// tasks that agents have created. Returns what was started.
pub fn spawn_next(app: &App, project: &str) -> Result<Vec<TransitionResult>> {
    let mut started = Vec::new();
    while let Some(begun) = begin_next(app, project)? {
        started.push(match begun {
            BegunStart::Locked(locked) => carry_out(app, *locked)?,
            BegunStart::Entered(result) => *result,
        });
    }
    Ok(started)
}

/// A start in progress.
enum BegunStart {
    /// The transition of this locked task has begun.
    Locked(Box<LockedWorkItem>),
    /// The task stays in its state, where its agent was started.
    Entered(Box<TransitionResult>),
}

/// Chooses the next task and begins its start under the lock of the project's queue, so that each process begins another
/// task. `None` when no start is owed or possible. An owed start that cannot be read is an error once all others are made.
fn begin_next(app: &App, project: &str) -> Result<Option<BegunStart>> {
    finish_killed(app, project)?;
    let _queue = owed::lock(&app.home, project)?;
    if budget::pause(app, project)?.is_some() {
        return Ok(None);
    }
    let known = projects::get(&app.home, project)?;
    let mut failure = Ok(None);
    for owed in owed::all(&app.home, project)? {
        let owed = match owed {
            Ok(owed) => owed,
            Err(error) => {
                failure = failure.and(Err(error));
                continue;
            }
        };
        if !owed.is_due(&app.home, project) {
            continue;
        }
        if owed.chosen.as_ref().is_some_and(|chosen| !is_waiting(app, project, chosen)) {
            // The process that chose it was killed after the task had begun.
            owed.remove()?;
            continue;
        }
        let begun = begin_oldest(app, project, None, &|_| true, &|task| owed.choose(task))?;
        owed.remove()?;
        if begun.is_some() {
            return Ok(begun);
        }
    }
    // What an agent has created starts by itself in every project: its workflow says so.
    let starts = |task: &WorkItem| known.is_auto() || task.owned.parent.is_some();
    let begun = begin_oldest(app, project, Some(known.pool_size), &starts, &|_| Ok(()))?;
    if begun.is_some() { Ok(begun) } else { failure }
}

/// Begins the first waiting task that can be started; `None` if there is none. One that fails gets a call for attention and does not
/// delay the others, nor does a lack of free worktrees delay those that need none.
fn begin_oldest(
    app: &App,
    project: &str,
    most_in_folders: Option<u32>,
    is_wanted: &dyn Fn(&WorkItem) -> bool,
    choose: &dyn Fn(&str) -> Result<()>,
) -> Result<Option<BegunStart>> {
    let (mut failure, mut is_full) = (Ok(None), false);
    for (dir, place) in waiting(app, project, most_in_folders, is_wanted)? {
        let takes_worktree = place == Workspace::Worktree;
        if is_full && takes_worktree {
            continue;
        }
        choose(&dir.id)?;
        match begin_waiting(app, &dir) {
            Ok(Some(begun)) => return Ok(Some(begun)),
            Ok(None) => {}
            Err(_) if takes_worktree && !workspace::is_free(app, project, &dir.id)? => is_full = true,
            Err(error) => {
                let what = format!("not started: {}", error.one_line());
                let called = lock_recovered(app, &dir).and_then(|mut locked| locked.call_attention(&what));
                failure = failure.and(called.map(|()| None));
            }
        }
    }
    failure
}

/// Begins a task if it still waits; another process may just have started it.
fn begin_waiting(app: &App, dir: &WorkItemDir) -> Result<Option<BegunStart>> {
    let is_begun = work_item::read_journal_last(dir, 0)?.history().transition.open.is_some();
    if is_begun {
        return Ok(None);
    }
    let locked = lock_recovered(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    let is_free = Blocked::of(app, locked.task()).is_none();
    if is_free && is_to_start(machine, locked.task())? {
        start(app, machine, locked).map(Some)
    } else {
        Ok(None)
    }
}

/// Begins the transition that starts a task, or gives a task in a later state its worktree and its agent.
fn start(app: &App, machine: &'static Machine<'static>, mut locked: LockedWorkItem) -> Result<BegunStart> {
    let turn = decide(app, machine, locked.task(), locked.history(), Goal::Spawn)?;
    budget::check_start(app, &mut locked)?;
    let mut spawns = turn.hooks().iter().filter_map(|effect| effect.hook.spawn());
    spawns.try_for_each(|spawn| budget::check_price(app, locked.task(), locked.history(), spawn))?;
    if turn.effects.is_empty() {
        return Ok(BegunStart::Locked(Box::new(begin(app, machine, locked, &turn, Vec::new())?)));
    }
    enter(app, machine, locked, &turn).map(|result| BegunStart::Entered(Box::new(result)))
}

/// True if the task of this id still waits to be started.
fn is_waiting(app: &App, project: &str, id: &str) -> bool {
    let dir = list::with_id(&app.home, &[WorkItemKind::Task], Some(project), id).unwrap_or_default().pop();
    let read = dir.and_then(|dir| WorkItem::read_last(&app.home, &dir, 0).ok());
    read.is_some_and(|(task, journal)| {
        journal.history().transition.open.is_none() && waits(app, &task).is_some()
    })
}

/// Gives a task past its initial state its worktree and its agent. It stays in its state, so `orange task spawn` or
/// `orange task respawn` repeats what was killed. A failure becomes the task's `attention`, too.
fn enter(
    app: &App,
    machine: &'static Machine<'static>,
    mut locked: LockedWorkItem,
    turn: &LifeTurn<'static>,
) -> Result<TransitionResult> {
    let room = hooks::preflight(app, locked.task(), turn.hooks())?;
    room.map_or(Ok(()), workspace::WorktreeRoom::take)?;
    locked.clear_attention()?;
    if let Err(error) = turn.effects.iter().try_for_each(|effect| run(app, machine, &mut locked, effect)) {
        locked.call_attention(&error.one_line())?;
        return Err(error);
    }
    let hooks = turn.effects.iter().map(|effect| effect.hook.name().to_owned()).collect();
    let id = locked.dir().id.clone();
    Ok(TransitionResult { id, hooks, ..transition_result::staying(locked.task()) })
}

fn run(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedWorkItem,
    effect: &Effect<'static>,
) -> Result<()> {
    if effect.hook.action.acquires() {
        let bound = workspace::acquire(app, locked)?;
        let hook = effect.hook.name().to_owned();
        return locked.append(Event::HookEnded { hook, index: 0, error: None, held: false }, bound);
    }
    let counter = effect.counter.map(|(id, value)| (machine.counter(id).name.to_owned(), value));
    agents::start(app, machine, locked, &effect.hook, counter.as_ref(), Occasion::Spawn.into())
}

/// The tasks that wait to be started, oldest first, each with where its agent is to work. If so many work in folders already, none of
/// those that need a folder is among them.
fn waiting(
    app: &App,
    project: &str,
    most_in_folders: Option<u32>,
    is_wanted: &dyn Fn(&WorkItem) -> bool,
) -> Result<Vec<(WorkItemDir, Workspace)>> {
    let listed = store::list(&app.home, Some(project))?;
    let tasks = listed.iter().filter_map(|listed| listed.task.as_ref().ok());
    let in_folders = tasks.filter(|task| task.holds() == Some(Workspace::Folder)).count();
    let has_place = most_in_folders.is_none_or(|most| queue::has_place(in_folders, most));
    let mut waiting: Vec<(i32, WorkItemDir, Workspace)> = listed
        .into_iter()
        .filter_map(|WorkItemEntry { dir, task }| {
            let task = task.ok().filter(is_wanted)?;
            Some((task.priority, dir, queue::waits_for_room(app, &task)?))
        })
        .filter(|(_, _, place)| has_place || *place == Workspace::Worktree)
        .collect();
    // The sort is stable: of one priority, the oldest comes first.
    waiting.sort_by_key(|(priority, ..)| Reverse(*priority));
    Ok(waiting.into_iter().map(|(_, dir, place)| (dir, place)).collect())
}
