//! Cancelling a task: by its workflow's transition, or without one where there cannot be one.

use orange_core::{Actor, Machine};

use crate::app::App;
use crate::flow::forced::Forced;
use crate::flow::migrate::migration;
use crate::flow::request::{carry_out, of_command};
use crate::flow::{Goal, TransitionResult, finish::lock_recovered_or_as_is, request};
use crate::store::{LockedTask, TaskDir};
use crate::{Error, Result};

/// Cancels a task. One that has no place in its workflow any more, by its status or by a transition that was begun, goes to
/// the cancelled state all the same (design §6); and one that is over already, and still has a session or a worktree because
/// a hook has failed, is rid of these. One whose workflow cannot be followed here is moved to one that can cancel it.
///
/// # Errors
/// Those of the request; `not_allowed` for an agent where there is no transition.
pub fn cancel(app: &App, dir: &TaskDir) -> Result<TransitionResult> {
    let mut locked = lock_recovered_or_as_is(app, dir)?;
    let machine = match app.machine_of(&locked.task().owned) {
        Ok(machine) => machine,
        Err(lost) => return cancel_lost(app, locked, lost),
    };
    let Some(to) = forced_goal(machine, &locked)? else {
        drop(locked);
        return request(app, dir, Goal::Cancel);
    };
    app.caller.check_person("cancel a task without a transition")?;
    Forced::Cancel.begin(machine, &mut locked, &to, Actor::Human, Vec::new())?;
    carry_out(app, locked)
}

fn cancel_lost(app: &App, mut locked: LockedTask, lost: Error) -> Result<TransitionResult> {
    let mut machines = app.machines.usable()?.into_iter();
    let found = machines.find_map(|machine| Some((machine, machine.state(machine.commands.cancel?).name)));
    let Some((machine, to)) = found else { return Err(lost) };
    app.caller.check_person("cancel a task whose workflow cannot be followed")?;
    let status = locked.task().status().to_owned();
    let migrated = migration(machine, &locked, &status);
    Forced::Cancel.begin(machine, &mut locked, to, Actor::Human, vec![migrated])?;
    carry_out(app, locked)
}

/// Where to go without a transition; `None` where there is one, or nothing is left to be done.
fn forced_goal(machine: &Machine<'_>, locked: &LockedTask) -> Result<Option<String>> {
    let task = locked.task();
    let cancelled = || {
        of_command(machine, machine.commands.cancel, "cancel")
            .map(|to| Some(machine.state(to).name.to_owned()))
    };
    if locked.history().open.is_some() {
        return cancelled();
    }
    let has_something = task.owned.workspace.is_some() || task.owned.tmux_session.is_some();
    match machine.state_named(task.status()) {
        Some(status) if machine.state(status).terminal && has_something => Ok(Some(task.status().to_owned())),
        Some(_) => Ok(None),
        None => cancelled(),
    }
}
