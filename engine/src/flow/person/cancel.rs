//! Cancels a task by its workflow's transition, or without one if there is none.

use orange_core::{Actor, Forced};

use crate::app::App;
use crate::flow::life::{self, forced};
use crate::flow::person::migrate::migration;
use crate::flow::refusal;
use crate::flow::request::finish::lock_recovered_or_as_is;
use crate::flow::request::transition_result;
use crate::flow::request::{asked, begin, carry_out, decide};
use crate::flow::{Goal, TaskPreview, dry_run};
use crate::store::{Event, LockedWorkItem, Set, WorkItemDir};
use crate::{Error, Result};
use orange_api::TransitionResult;

/// Cancels a task. A task whose status or open transition no longer exists in its workflow goes to the cancelled state
/// without a transition; a finished one that still has a session or a worktree, because a hook failed, loses these. A task
/// whose workflow cannot be followed is moved to a workflow that can cancel it.
pub fn cancel(app: &App, dir: &WorkItemDir) -> Result<TransitionResult> {
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
    let locked = asked(app, locked, Goal::Cancel)?;
    let turn = decide(app, machine, locked.task(), locked.history(), Goal::Cancel)?;
    if turn.decision().is_none() {
        app.caller.check_person("cancel a task without a transition")?;
    }
    carry_out(app, begin(app, machine, locked, &turn, Vec::new())?)
}

/// Dry run of [`cancel`].
pub fn would_cancel(app: &App, dir: &WorkItemDir) -> Result<TransitionResult> {
    let TaskPreview { task, .. } = TaskPreview::of(app, dir)?;
    let machine = app.machine_of(&task.owned);
    if machine.as_ref().is_ok_and(|machine| machine.state_named(task.status()).is_some()) {
        return dry_run(app, dir, Goal::Cancel);
    }
    app.caller.check_person("cancel a task without a transition")?;
    let to = match machine {
        Ok(machine) => {
            Some((machine, machine.commands.cancel.ok_or_else(|| refusal::no_state(machine, "cancel"))?))
        }
        Err(lost) => {
            let mut machines = app.machines.usable()?.into_iter();
            let found = machines.find_map(|machine| Some((machine, machine.commands.cancel?)));
            Some(found.ok_or(lost)?)
        }
    };
    let to = to.map_or(String::new(), |(machine, to)| machine.state(to).name.to_owned());
    Ok(TransitionResult { to, dry_run: true, ..transition_result::staying(&task) })
}

fn cancel_lost(app: &App, locked: LockedWorkItem, lost: Error) -> Result<TransitionResult> {
    let mut machines = app.machines.usable()?.into_iter();
    let found = machines.find_map(|machine| Some((machine, machine.commands.cancel?)));
    let Some((machine, to)) = found else { return Err(lost) };
    app.caller.check_person("cancel a task whose workflow cannot be followed")?;
    let status = locked.task().status().to_owned();
    let migrated = migration(machine, &locked, &status);
    let begun = forced(machine, &status, Forced::Cancel, Actor::Human, to);
    carry_out(app, write(locked, vec![migrated, begun])?)
}

fn write(mut locked: LockedWorkItem, mut events: Vec<(Event, Set)>) -> Result<LockedWorkItem> {
    life::answer(&mut events, locked.task().attention.as_ref(), None);
    locked.append_many(events)?;
    locked.clear_attention()?;
    Ok(locked)
}
