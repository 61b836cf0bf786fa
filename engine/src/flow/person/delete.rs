//! Deletes a task.

use orange_core::Actor;

use crate::app::App;
use crate::flow::snapshot::status_of;
use crate::flow::{TaskPreview, lock_recovered};
use crate::hooks::workspace;
use crate::store::{Event, Set, Task, TaskDir, trash};
use crate::{Error, Kind, Result};

/// Moves a task to the trash with its journal, and returns its new folder. Its branch and its backups stay. Only a task that
/// is finished or was never started, without a worktree and a session, can be deleted.
pub fn delete(app: &App, dir: &TaskDir) -> Result<TaskDir> {
    app.caller.check_person("delete a task")?;
    let mut locked = lock_recovered(app, dir)?;
    check_idle(app, locked.task())?;
    workspace::give_back(app, locked.task())?;
    if !locked.history().is_deleted {
        locked.append(Event::TaskDeleted { actor: Actor::Human.into() }, Set::new())?;
    }
    trash::delete(&app.home, locked)
}

/// The folder in the trash that [`delete`] would give the task.
pub fn would_delete(app: &App, dir: &TaskDir) -> Result<TaskDir> {
    app.caller.check_person("delete a task")?;
    check_idle(app, &TaskPreview::of(app, dir)?.task)?;
    Ok(app.home.deleted(&dir.project, &dir.id))
}

fn check_idle(app: &App, task: &Task) -> Result<()> {
    let machine = app.machine_of(&task.owned)?;
    let status = status_of(machine, task)?;
    let has_something = task.owned.workspace.is_some() || task.owned.tmux_session.is_some();
    if !has_something && (machine.state(status).terminal || status == machine.initial) {
        return Ok(());
    }
    let holds = if has_something { ", and holds a workspace or a session" } else { "" };
    Err(Error::new(Kind::Refused, format!("task {} is {}{holds}", task.id, task.status()))
        .help(format!("cancel it first: `orange task cancel {}`", task.id)))
}
