//! Finishes an open transition, in normal operation and after a kill.

use std::fs;
use std::time::Duration;

use orange_core::{Action, Hook, Input, LifeEvent, LifeTurn, Machine};

use crate::app::App;
use crate::flow::activity;
use crate::flow::budget;
use crate::flow::definition::{self, declared_id, hooks_of};
use crate::flow::life::{self, TurnRecord, cause_of, closing};
use crate::flow::queue;
use crate::hooks::{self, HookContext, agents, imported, program, reclaim, workspace};
use crate::store::event::PlannedHook;
use crate::store::{Event, LockedWorkItem, OpenTransition, Set, WorkItemDir, WorkItemHistory, lock};
use crate::{Error, ErrorKind, Result};
use orange_system::fault;

/// Locks a task without an open transition: one that another process has begun is finished first, in a process that outlives
/// this one, since its hooks may end the session of this one.
pub fn lock_recovered(app: &App, dir: &WorkItemDir) -> Result<LockedWorkItem> {
    let mut tried = None;
    loop {
        let mut locked = LockedWorkItem::lock(&app.home, dir)?;
        let machine = app.machine_of(&locked.task().owned);
        if let Ok(machine) = machine {
            definition::check(machine, locked.task(), locked.history())?;
        }
        let Some(pending) = &locked.history().transition.open else {
            // Loading succeeds without a machine; the command that needs one reports the error.
            machine.map_or(Ok(()), |machine| definition::follow(app, machine, &mut locked))?;
            agents::take_answered(app, &mut locked)?;
            activity::journal_reports(app, &mut locked)?;
            reclaim::finish(app, &mut locked)?;
            imported::look(app, locked.task());
            app.remember_environment(&locked.task().project)?;
            return Ok(locked);
        };
        machine?;
        // Another transition may have begun while the first was being finished.
        if tried == Some(pending.seq) {
            let OpenTransition { plan, .. } = pending;
            let message = format!("{} → {} was begun and cannot be finished", plan.from, plan.to);
            return Err(Error::new(ErrorKind::Environment, message)
                .help(format!("{} says why", app.home.log_file().display())));
        }
        tried = Some(pending.seq);
        drop(locked);
        app.detached(&["task", "finish", &dir.id], dir)?;
    }
}

/// Locks a task for a person who moves it: without an open transition if possible, and else as it is.
pub fn lock_recovered_or_as_is(app: &App, dir: &WorkItemDir) -> Result<LockedWorkItem> {
    let locked = LockedWorkItem::lock(&app.home, dir)?;
    let has_its_place = app
        .machine_of(&locked.task().owned)
        .and_then(|machine| definition::check(machine, locked.task(), locked.history()));
    if has_its_place.is_err() {
        return Ok(locked);
    }
    drop(locked);
    lock_recovered(app, dir)
}

/// The open transition that no process is finishing, because that process has died.
pub fn abandoned<'l>(dir: &WorkItemDir, history: &'l WorkItemHistory) -> Option<&'l OpenTransition> {
    /// The time during which no process holds the lock between a request and the process that carries it out.
    const HANDING_OVER: Duration = Duration::from_secs(2);
    let written = || fs::metadata(dir.history()).and_then(|metadata| metadata.modified()).ok();
    // A time in the future is from before the clock was set back.
    let distance = |time| fault::now().duration_since(time).unwrap_or_else(|ahead| ahead.duration());
    let is_new = || written().map(distance).is_none_or(|distance| distance < HANDING_OVER);
    let is_held = || lock::held_longer(&dir.lock_file(), Duration::ZERO).is_some();
    history.transition.open.as_ref().filter(|_| !is_new() && !is_held())
}

/// Runs the hooks that have not ended, in order, and closes the transition. A hook that fails rolls nothing back: the failure is
/// journaled and becomes the task's `attention`. If the workflow says so, the hooks after it then wait, and the transition is
/// no longer open; or they are dropped, and the transition follows that the workflow names for that. Without an open
/// transition there is nothing to do.
pub fn finish(app: &App, locked: &mut LockedWorkItem) -> Result<()> {
    program::end_asked(locked.dir())?;
    while let Some(pending) = locked.history().transition.open.clone() {
        finish_one(app, locked, &pending)?;
    }
    Ok(())
}

fn finish_one(app: &App, locked: &mut LockedWorkItem, pending: &OpenTransition) -> Result<()> {
    let machine = app.machine_of(&locked.task().owned)?;
    let hooks = hooks_of(machine, pending, &locked.dir().id)?;
    if pending.plan.answers.is_some() && pending.plan.answers == locked.task().attention {
        locked.clear_attention()?;
    }
    let mut errors = Vec::new();
    for (planned, hook) in pending.plan.hooks.iter().zip(hooks) {
        let error = match pending.ended.get(&planned.index) {
            Some(Some(why)) if pending.held == Some(planned.index) => {
                return hold(app, machine, locked, pending, (hook, why), &errors);
            }
            Some(error) => error.clone(),
            None => match held(app, locked, pending, hook)? {
                Some(why) => {
                    let (hook_name, error) = (planned.name.clone(), Some(why.clone()));
                    let ended = Event::HookEnded { hook: hook_name, index: planned.index, error, held: true };
                    locked.append(ended, Set::new())?;
                    return hold(app, machine, locked, pending, (hook, &why), &errors);
                }
                None => run(app, machine, locked, pending, planned, hook)?,
            },
        };
        let Some(error) = error else { continue };
        let (transition, cause) = (declared_id(machine, &pending.plan), cause_of(machine, &pending.plan));
        let input = Input::HookFailed { hook, transition, cause, reason: &error };
        let turn = life::ask(app, machine, locked.task(), locked.history(), input)?;
        if !turn.events.is_empty() {
            workspace::give_back(app, locked.task())?;
            return stopped(app, machine, locked, pending, (hook, &error), &turn, &errors);
        }
        errors.push(format!("{}: {error}", planned.name));
    }
    fault::step("give back", "the worktree");
    workspace::give_back(app, locked.task())?;
    let left = if app.is_over(locked.task()) { workspace::leave_folder(app, locked) } else { Ok(false) };
    errors.extend(left.as_ref().err().map(Error::one_line));
    // The attention comes before the end of the transition: no later command reports the errors.
    if !errors.is_empty() {
        locked.call_attention(&errors.join("; "))?;
    }
    let (changed, set) = closing(machine, locked.task(), &pending.plan);
    locked.append(changed, if left.is_ok_and(|left| left) { set.workspace(None) } else { set })?;
    let has = |action: Action| pending.plan.hooks.iter().any(|planned| planned.name == action.name());
    if has(Action::ReleaseWorkspace) && !has(Action::SpawnNext) {
        queue::after_release(app, locked.dir())?;
    }
    Ok(())
}

/// Records that the hooks after a failed one wait, or begins the transition that replaces them, if its own hooks can work.
/// The errors are those of the hooks before.
fn stopped(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedWorkItem,
    pending: &OpenTransition,
    (hook, error): (&Hook<'_>, &str),
    turn: &LifeTurn<'static>,
    errors: &[String],
) -> Result<()> {
    let attend =
        |locked: &mut LockedWorkItem| errors.iter().try_for_each(|error| locked.call_attention(error));
    fault::step("stop at", "a failed hook");
    let blocked = match turn.decision() {
        None => None,
        Some(decision) => match hooks::preflight(app, locked.task(), &decision.effects) {
            Ok(room) => {
                let led_to_it = vec![closing(machine, locked.task(), &pending.plan)];
                life::record(app, machine, locked, turn, TurnRecord { led_to_it, room, agent: None })?;
                return attend(locked);
            }
            Err(why) => Some(machine.hooks_wait(hook, error, Some(&why.one_line()))),
        },
    };
    attend(locked)?;
    life::record(app, machine, locked, blocked.as_ref().unwrap_or(turn), TurnRecord::default())
}

/// Reason for which a hook does not start its agent yet: a budget is used up.
fn held(
    app: &App,
    locked: &mut LockedWorkItem,
    pending: &OpenTransition,
    hook: &Hook<'_>,
) -> Result<Option<String>> {
    let Some(spawn) = hook.spawn() else { return Ok(None) };
    if agents::started_since(app, locked, hook, pending.seq)? {
        return Ok(None);
    }
    budget::held_hook(app, locked, spawn)
}

/// Records that a hook and those after it wait until there is more budget.
fn hold(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedWorkItem,
    pending: &OpenTransition,
    (hook, why): (&Hook<'_>, &str),
    errors: &[String],
) -> Result<()> {
    fault::step("hold", "the start of an agent");
    workspace::give_back(app, locked.task())?;
    let turn = LifeTurn { events: vec![LifeEvent::HooksWait], ..LifeTurn::default() };
    stopped(app, machine, locked, pending, (hook, why), &turn, errors)
}

/// Runs a hook and journals its end; returns why it failed, if it did.
fn run(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedWorkItem,
    pending: &OpenTransition,
    planned: &PlannedHook,
    hook: &'static Hook<'static>,
) -> Result<Option<String>> {
    let counter = planned.counter.as_ref().map(|counter| (counter.name.clone(), counter.value));
    let context = HookContext { app, machine, since: pending.seq, index: planned.index, counter };
    fault::step("begin", &planned.name);
    let (set, error) = match hooks::run(&context, locked, hook) {
        Ok(set) => (set, None),
        Err(error) => (Set::new(), Some(error.one_line())),
    };
    // A failed start of an agent uses its round, too.
    let set = planned.counter.iter().fold(set, |set, counter| set.counter(&counter.name, counter.value));
    fault::step("end", &planned.name);
    let (name, index) = (planned.name.clone(), planned.index);
    let ended = Event::HookEnded { hook: name, index, error: error.clone(), held: false };
    locked.append(ended, set)?;
    Ok(error)
}
