//! Starting tasks: by command, by `spawn_next`, and in the state that they were created in.

use orange_core::{Actor, Hook, Machine, REVIEW_ROUND};

use crate::Result;
use crate::app::App;
use crate::flow::request::{Goal, begun, carry_out};
use crate::flow::snapshot::status_of;
use crate::flow::{TransitionResult, lock_recovered, request};
use crate::hooks::agents::{self, Occasion};
use crate::hooks::workspace;
use crate::store::{self, Event, LockedTask, Task, TaskDir, TaskHistory, list, owed, projects, task};

/// Starts a task that is in its workflow's initial state; one without a summary goes to be clarified. A task further on
/// that has got no worktree yet gets one now, and the agent of the state that it is in. A start that was cut short before
/// is finished, and answered as one's own.
///
/// # Errors
/// `refused` when it was started before; those of the transition, and of the hooks.
pub fn spawn(app: &App, dir: &TaskDir) -> Result<TransitionResult> {
    let (_, before) = Task::read(&app.home, dir)?;
    let locked = lock_recovered(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    if let Some(hook) = late_start(machine, locked.task())? {
        return enter(app, machine, locked, hook);
    }
    drop(locked);
    if let Some(begun) = begun_start(machine, &before.history()) {
        let (_, journal) = Task::read(&app.home, dir)?;
        return Ok(TransitionResult::read(&dir.id, &journal.records, begun));
    }
    request(app, dir, Goal::Spawn)
}

/// The number of the start that the journal has begun and not ended.
fn begun_start(machine: &Machine<'_>, history: &TaskHistory) -> Option<u64> {
    let pending = history.open.as_ref()?;
    let mut starts = [machine.commands.spawn, machine.commands.clarify].into_iter().flatten();
    let is_start = pending.plan.from == machine.state(machine.initial).name
        && starts.any(|state| machine.state(state).name == pending.plan.to);
    is_start.then_some(pending.seq)
}

/// Makes every start that is owed in a project: for each, the oldest task that waits and can be started. In a project whose
/// queue is automatic, every free worktree is one more such start. Gives what was started.
///
/// # Errors
/// Those of reading tasks and pool, and of the starts.
pub fn spawn_next(app: &App, project: &str) -> Result<Vec<TransitionResult>> {
    let mut started = Vec::new();
    while let Some(begun) = begin_next(app, project)? {
        started.push(match begun {
            Begun::Locked(locked) => carry_out(app, *locked)?,
            Begun::Entered(result) => *result,
        });
    }
    Ok(started)
}

/// A start that is under way.
enum Begun {
    /// Its transition is on record.
    Locked(Box<LockedTask>),
    /// The task stays in its state, and its agent was started there.
    Entered(Box<TransitionResult>),
}

/// Chooses the next task and begins it, in one step of the project's queue: of many who come, each begins another one. `None`
/// when nothing is owed, or nothing more can be started. A start that is owed and cannot be read is an error when all others are
/// made.
fn begin_next(app: &App, project: &str) -> Result<Option<Begun>> {
    let _queue = owed::lock(&app.home, project)?;
    let is_auto = projects::get(&app.home, project)?.is_auto();
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
            // Whoever chose it was killed after it had begun.
            owed.settle()?;
            continue;
        }
        let begun = begin_oldest(app, project, &|task| owed.choose(task))?;
        owed.settle()?;
        if begun.is_some() {
            return Ok(begun);
        }
    }
    let begun = if is_auto { begin_oldest(app, project, &|_| Ok(()))? } else { None };
    if begun.is_some() { Ok(begun) } else { failure }
}

/// Begins the oldest task that waits and can be started; `None` when none does, or no worktree is free. One that cannot be
/// started says so and does not hold up the others.
fn begin_oldest(app: &App, project: &str, choose: &dyn Fn(&str) -> Result<()>) -> Result<Option<Begun>> {
    let mut failure = Ok(None);
    for dir in waiting(app, project)? {
        choose(&dir.id)?;
        match begin_waiting(app, &dir) {
            Ok(Some(begun)) => return Ok(Some(begun)),
            Ok(None) => {}
            Err(_) if !workspace::is_free(app, project, &dir.id)? => break,
            Err(error) => {
                let what = format!("not started: {}", error.one_line());
                let told = lock_recovered(app, &dir).and_then(|mut locked| locked.call_attention(&what));
                failure = failure.and(told.map(|()| None));
            }
        }
    }
    failure
}

/// Begins a task, if it still waits: somebody else may just be starting it.
fn begin_waiting(app: &App, dir: &TaskDir) -> Result<Option<Begun>> {
    let is_begun = task::read_journal_last(dir, 0)?.history().open.is_some();
    if is_begun {
        return Ok(None);
    }
    let locked = lock_recovered(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    if let Some(hook) = late_start(machine, locked.task())? {
        return enter(app, machine, locked, hook).map(|result| Some(Begun::Entered(Box::new(result))));
    }
    if status_of(machine, locked.task())? != machine.initial {
        return Ok(None);
    }
    begun(app, locked, Goal::Spawn).map(|locked| Some(Begun::Locked(Box::new(locked))))
}

/// Whether the task of this id still waits to be started.
fn is_waiting(app: &App, project: &str, id: &str) -> bool {
    let dir = list::with_id(&app.home.tasks(), Some(project), id).unwrap_or_default().pop();
    let read = dir.and_then(|dir| Task::read_last(&app.home, &dir, 0).ok());
    read.is_some_and(|(task, journal)| journal.history().open.is_none() && waits(app, &task))
}

/// Whether a task is still to get a worktree and an agent.
pub fn waits(app: &App, task: &Task) -> bool {
    let found = || -> Result<bool> {
        let machine = app.machine_of(&task.owned)?;
        Ok(status_of(machine, task)? == machine.initial || late_start(machine, task)?.is_some())
    };
    // One that only another binary knows about cannot be started here.
    found().unwrap_or(false)
}

/// The hook that starts the agent of a task that is past its initial state and never got a worktree: it was created
/// there, or its worktree could not be had on the way. `None` for any other task.
///
/// # Errors
/// `refused` when the workflow no longer has the task's status.
fn late_start(machine: &'static Machine<'static>, task: &Task) -> Result<Option<&'static Hook<'static>>> {
    let status = status_of(machine, task)?;
    let is_late = status != machine.initial && task.owned.workspace.is_none();
    Ok(machine.state(status).respawn.as_ref().filter(|_| is_late))
}

/// Gives such a task its worktree and its agent. It stays in its state, so what a kill leaves undone, `orange task spawn` or
/// `orange task respawn` does.
///
/// # Errors
/// Those of the hooks; they are the task's `attention`, too.
fn enter(
    app: &App,
    machine: &'static Machine<'static>,
    mut locked: LockedTask,
    hook: &'static Hook<'static>,
) -> Result<TransitionResult> {
    app.check_caller(locked.task(), locked.history())?;
    if let Some(spawn) = hook.spawn() {
        agents::preflight(app, locked.task(), spawn)?;
    }
    let room = workspace::preflight(app, locked.task())?;
    room.map_or(Ok(()), workspace::Room::take)?;
    locked.clear_attention()?;
    if let Err(error) = acquire_and_start(app, machine, &mut locked, hook) {
        locked.call_attention(&error.one_line())?;
        return Err(error);
    }
    let status = locked.task().status();
    Ok(TransitionResult {
        id: locked.dir().id.clone(),
        from: status.to_owned(),
        to: status.to_owned(),
        review_round: locked.task().counter("review_round"),
        hooks: [&Hook::AcquireWorkspace, hook].map(|hook| hook.name().to_owned()).to_vec(),
        ..TransitionResult::default()
    })
}

fn acquire_and_start(
    app: &App,
    machine: &Machine<'_>,
    locked: &mut LockedTask,
    hook: &Hook<'_>,
) -> Result<()> {
    let bound = workspace::acquire(app, locked)?;
    let acquired = Event::HookEnded { hook: Hook::AcquireWorkspace.name().to_owned(), index: 0, error: None };
    locked.append(acquired, bound)?;
    let counter = first_round(machine, locked.task(), hook);
    agents::start(app, machine, locked, hook, counter.as_ref(), Occasion::Spawn.into())
}

/// The first review is round 1, as if a transition had led to it.
fn first_round(machine: &Machine<'_>, task: &Task, hook: &Hook<'_>) -> Option<(String, u32)> {
    let name = machine.counter(REVIEW_ROUND).name;
    let reviews = hook.spawn().is_some_and(|spawn| spawn.actor() == Actor::Reviewer);
    (reviews && task.counter(name) == 0).then(|| (name.to_owned(), 1))
}

/// The tasks that wait for a worktree, oldest first.
fn waiting(app: &App, project: &str) -> Result<Vec<TaskDir>> {
    let listed = store::list(&app.home, Some(project))?;
    let waiting = listed.into_iter().filter(|listed| listed.task.as_ref().is_ok_and(|task| waits(app, task)));
    Ok(waiting.map(|listed| listed.dir).collect())
}
