//! Finishes an open transition, in normal operation and after a kill.

use std::fs;
use std::time::Duration;

use orange_core::{Action, Cause, Hook, Machine, Transition};

use crate::app::App;
use crate::flow::activity;
use crate::flow::definition;
use crate::flow::life::{cause_of, closing};
use crate::flow::queue;
use crate::flow::snapshot::left_behind;
use crate::hooks::{self, HookContext, agents, workspace};
use crate::store::event::PlannedHook;
use crate::store::{Event, LockedTask, OpenTransition, Set, TaskDir, TaskHistory, lock};
use crate::{Error, Kind, Result, fault};

/// Locks a task without an open transition: one that another process has begun is finished first, in a process that outlives
/// this one, since its hooks may end the session of this one.
pub fn lock_recovered(app: &App, dir: &TaskDir) -> Result<LockedTask> {
    let mut tried = None;
    loop {
        let mut locked = LockedTask::lock(&app.home, dir)?;
        let machine = app.machine_of(&locked.task().owned);
        if let Ok(machine) = machine {
            definition::check(machine, locked.task(), locked.history())?;
        }
        let Some(pending) = &locked.history().open else {
            // Loading succeeds without a machine; the command that needs one reports the error.
            machine.map_or(Ok(()), |machine| definition::follow(app, machine, &mut locked))?;
            agents::take_answered(app, &mut locked)?;
            activity::take_in(app, &mut locked)?;
            return Ok(locked);
        };
        machine?;
        // Another transition may have begun while the first was being finished.
        if tried == Some(pending.seq) {
            let OpenTransition { plan, .. } = pending;
            let message = format!("{} → {} was begun and cannot be finished", plan.from, plan.to);
            return Err(Error::new(Kind::Environment, message)
                .help(format!("{} says why", app.home.log_file().display())));
        }
        tried = Some(pending.seq);
        drop(locked);
        app.detached(&["task", "finish", &dir.id], dir)?;
    }
}

/// Locks a task for a person who moves it: without an open transition if possible, and else as it is.
pub fn lock_recovered_or_as_is(app: &App, dir: &TaskDir) -> Result<LockedTask> {
    let locked = LockedTask::lock(&app.home, dir)?;
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
pub fn abandoned<'l>(dir: &TaskDir, history: &'l TaskHistory) -> Option<&'l OpenTransition> {
    /// The time during which no process holds the lock between a request and the process that carries it out.
    const HANDING_OVER: Duration = Duration::from_secs(2);
    let written = || fs::metadata(dir.history()).and_then(|metadata| metadata.modified()).ok();
    // A time in the future is from before the clock was set back.
    let distance = |time| fault::now().duration_since(time).unwrap_or_else(|ahead| ahead.duration());
    let is_new = || written().map(distance).is_none_or(|distance| distance < HANDING_OVER);
    let is_held = || lock::held_longer(&dir.lock_file(), Duration::ZERO).is_some();
    history.open.as_ref().filter(|_| !is_new() && !is_held())
}

/// Runs the hooks that have not ended, in order, and closes the transition. A hook that fails rolls nothing back: the failure is
/// journaled and becomes the task's `attention`. Without an open transition there is nothing to do.
pub fn finish(app: &App, locked: &mut LockedTask) -> Result<()> {
    let Some(pending) = locked.history().open.clone() else { return Ok(()) };
    let machine = app.machine_of(&locked.task().owned)?;
    let hooks = hooks_of(machine, &pending, &locked.dir().id)?;
    let mut errors = Vec::new();
    for (planned, hook) in pending.plan.hooks.iter().zip(hooks) {
        let error = match pending.ended.get(&planned.index) {
            Some(error) => error.clone(),
            None => run(app, machine, locked, &pending, planned, hook)?,
        };
        errors.extend(error.map(|error| format!("{}: {error}", planned.name)));
    }
    fault::step("give back", "the worktree");
    workspace::give_back(app, locked.task())?;
    // The attention comes before the end of the transition: no later command reports the errors.
    if !errors.is_empty() {
        locked.call_attention(&errors.join("; "))?;
    }
    let (changed, set) = closing(machine, locked.task(), &pending.plan);
    locked.append(changed, set)?;
    let has = |action: Action| pending.plan.hooks.iter().any(|planned| planned.name == action.name());
    if has(Action::ReleaseWorkspace) && !has(Action::SpawnNext) {
        queue::after_release(app, locked.dir())?;
    }
    Ok(())
}

/// Runs a hook and journals its end; returns why it failed, if it did.
fn run(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedTask,
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
    let ended = Event::HookEnded { hook: planned.name.clone(), index: planned.index, error: error.clone() };
    locked.append(ended, set)?;
    Ok(error)
}

/// The hooks of an open transition; none if all have ended.
pub fn hooks_of(
    machine: &'static Machine<'static>,
    pending: &OpenTransition,
    id: &str,
) -> Result<Vec<&'static Hook<'static>>> {
    let plan = &pending.plan;
    if plan.hooks.is_empty() {
        return Ok(Vec::new());
    }
    let are_these = |hooks: &Vec<&Hook<'_>>| {
        hooks.iter().map(|hook| hook.name()).eq(plan.hooks.iter().map(|hook| hook.name.as_str()))
    };
    let is_the_one = |transition: &&Transition<'_>| {
        machine.state(transition.from).name == plan.from
            && machine.state(transition.to).name == plan.to
            && are_these(&transition.hooks.iter().collect())
    };
    let declared = || {
        let at_index = plan.transition.and_then(|index| machine.transitions.get(index)).filter(is_the_one);
        let transition = at_index.or_else(|| machine.transitions.iter().find(is_the_one))?;
        Some(transition.hooks.iter().collect())
    };
    let hooks = match cause_of(plan) {
        Cause::Forced(what, _) => {
            machine.state_named(&plan.to).map(|to| machine.forced_hooks(what, to)).filter(are_these)
        }
        Cause::Request(_) | Cause::Exit | Cause::Escalation => declared(),
    };
    hooks.ok_or_else(|| {
        let message =
            format!("{} → {} was begun under another {} workflow", plan.from, plan.to, machine.name);
        Error::new(Kind::Refused, message).help(left_behind(machine, id))
    })
}
