//! Cancelling a task: by its workflow's transition, or without one where there cannot be one.

use orange_core::{Actor, Forced};

use crate::answer::TransitionResult;
use crate::app::App;
use crate::flow::Goal;
use crate::flow::life::forced;
use crate::flow::person::migrate::migration;
use crate::flow::refusal;
use crate::flow::request::finish::lock_recovered_or_as_is;
use crate::flow::request::{begin, carry_out, decide};
use crate::store::{Event, LockedTask, Set, TaskDir};
use crate::{Error, Result};

/// Cancels a task. One that has no place in its workflow any more, by its status or by a transition that was begun, goes to
/// the cancelled state all the same (design §6); and one that is over already, and still has a session or a worktree because
/// a hook has failed, is rid of these. One whose workflow cannot be followed here is moved to one that can cancel it.
///
/// # Errors
/// Those of the request; `not_allowed` for an agent where there is no transition.
pub fn cancel(app: &App, dir: &TaskDir) -> Result<TransitionResult> {
    let locked = lock_recovered_or_as_is(app, dir)?;
    let machine = match app.machine_of(&locked.task().owned) {
        Ok(machine) => machine,
        Err(lost) => return cancel_lost(app, locked, lost),
    };
    if machine.state_named(locked.task().status()).is_none() {
        app.caller.check_person("cancel a task without a transition")?;
        let to = machine.commands.cancel.ok_or_else(|| refusal::no_state(machine, "cancel"))?;
        let begun = forced(machine, locked.task().status(), Forced::Cancel, Actor::Human, to);
        return carry_out(app, write(locked, vec![begun])?);
    }
    let turn = decide(app, machine, locked.task(), locked.history(), Goal::Cancel)?;
    if turn.decision().is_none() {
        app.caller.check_person("cancel a task without a transition")?;
    }
    carry_out(app, begin(app, machine, locked, &turn, Vec::new())?)
}

fn cancel_lost(app: &App, locked: LockedTask, lost: Error) -> Result<TransitionResult> {
    let mut machines = app.machines.usable()?.into_iter();
    let found = machines.find_map(|machine| Some((machine, machine.commands.cancel?)));
    let Some((machine, to)) = found else { return Err(lost) };
    app.caller.check_person("cancel a task whose workflow cannot be followed")?;
    let status = locked.task().status().to_owned();
    let migrated = migration(machine, &locked, &status);
    let begun = forced(machine, &status, Forced::Cancel, Actor::Human, to);
    carry_out(app, write(locked, vec![migrated, begun])?)
}

fn write(mut locked: LockedTask, events: Vec<(Event, Set)>) -> Result<LockedTask> {
    locked.append_many(events)?;
    locked.clear_attention()?;
    Ok(locked)
}
