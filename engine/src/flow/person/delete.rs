//! Deleting a task, and bringing it back.

use orange_core::Actor;

use crate::app::App;
use crate::flow::lock_recovered;
use crate::flow::snapshot::status_of;
use crate::hooks::workspace;
use crate::store::{Event, LockedTask, Set, Task, TaskDir, trash};
use crate::{Error, Kind, Result};

/// Moves a task to the trash, journal and all. Its branch and its backups stay. Gives where it is now.
///
/// # Errors
/// `refused` unless it is over or was never started, and while it holds a worktree or a session; `not_allowed` for an
/// agent; those of the store.
pub fn delete(app: &App, dir: &TaskDir) -> Result<TaskDir> {
    app.caller.check_person("delete a task")?;
    let mut locked = lock_recovered(app, dir)?;
    check_idle(app, &locked)?;
    workspace::give_back(app, locked.task())?;
    if !locked.history().is_deleted {
        locked.append(Event::TaskDeleted { actor: Actor::Human.into() }, Set::new())?;
    }
    trash::delete(&app.home, locked)
}

/// Brings a deleted task back as it was. `admit` may refuse one that is not over when others have its branch.
///
/// # Errors
/// `not_allowed` for an agent; those of `admit` and of the store.
pub fn restore(app: &App, there: &TaskDir, admit: impl FnOnce(&Task, &[Task]) -> Result<()>) -> Result<Task> {
    app.caller.check_person("bring a task back")?;
    let restored = Event::TaskRestored { actor: Actor::Human.into() };
    trash::restore(&app.home, there, restored, admit)
}

fn check_idle(app: &App, locked: &LockedTask) -> Result<()> {
    let task = locked.task();
    let machine = app.machine_of(&task.owned)?;
    let status = status_of(machine, task)?;
    let has_something = task.owned.workspace.is_some() || task.owned.tmux_session.is_some();
    if !has_something && (machine.state(status).terminal || status == machine.initial) {
        return Ok(());
    }
    let holds = if has_something { ", and holds a worktree or a session" } else { "" };
    Err(Error::new(Kind::Refused, format!("task {} is {}{holds}", task.id, task.status()))
        .help(format!("cancel it first: `orange task cancel {}`", task.id)))
}
