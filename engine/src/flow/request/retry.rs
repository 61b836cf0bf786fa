//! Runs the failed hook of a transition again, and then the hooks that wait behind it.

use orange_core::{Actor, Effect, Hook, Machine};

use crate::app::App;
use crate::flow::budget;
use crate::flow::definition::{declared_id, hooks_of};
use crate::flow::request::carry_out;
use crate::flow::request::transition_result;
use crate::flow::{TaskPreview, lock_recovered};
use crate::hooks;
use crate::hooks::workspace::WorktreeRoom;
use crate::store::event::Exited;
use crate::store::{Event, LockedWorkItem, OpenTransition, Set, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result};
use orange_api::TransitionResult;

/// Runs the waiting hooks of a task. The caller of this process must be an actor that may take their transition.
pub fn retry_hooks(app: &App, dir: &WorkItemDir) -> Result<TransitionResult> {
    let mut locked = lock_recovered(app, dir)?;
    let retry = HookRetry::of(app, locked.task(), locked.history())?;
    if retry.waiting.held.is_some() {
        budget::check_start(app, &mut locked)?;
    }
    run(app, locked, retry)
}

/// Runs the hooks of a task that wait for a budget; `None` if there are none, or the budget is still used up.
pub fn go_on(app: &App, dir: &WorkItemDir, by: Actor) -> Result<Option<TransitionResult>> {
    let mut locked = lock_recovered(app, dir)?;
    let waiting = locked.history().transition.waiting_hooks.clone();
    let waiting = waiting.filter(|it| it.held.is_some());
    let Some(waiting) = waiting else { return Ok(None) };
    if budget::check_start(app, &mut locked).is_err() {
        return Ok(None);
    }
    let machine = app.machine_of(&locked.task().owned)?;
    run(app, locked, HookRetry { machine, by, waiting }).map(Some)
}

fn run(app: &App, mut locked: LockedWorkItem, retry: HookRetry) -> Result<TransitionResult> {
    let HookRetry { machine, by, waiting } = retry;
    let effects = effects(machine, &waiting, &locked.dir().id)?;
    let room = hooks::preflight(app, locked.task(), &effects)?;
    let (from, to) = (waiting.plan.from.clone(), waiting.plan.to.clone());
    // The attention is about the hook that runs again now.
    let (actor, answers) = (machine.actor_name(by).into(), locked.task().attention.clone());
    locked.append(Event::HooksRetried { from, to, actor, answers }, Set::new())?;
    room.map_or(Ok(()), WorktreeRoom::take)?;
    locked.clear_attention()?;
    // An agent that has ended meanwhile needs attention until its end is judged.
    for (_, Exited { spawn, reason, .. }) in &waiting.exited {
        locked.call_attention(&format!("agent {spawn} ended while hooks waited ({})", reason.as_str()))?;
    }
    carry_out(app, locked)
}

/// Returns the hooks that [`retry_hooks`] would run.
pub fn dry_run(app: &App, dir: &WorkItemDir) -> Result<TransitionResult> {
    let TaskPreview { task, history, .. } = TaskPreview::of(app, dir)?;
    let HookRetry { machine, waiting, .. } = HookRetry::of(app, &task, &history)?;
    hooks::dry_run(app, &task, &effects(machine, &waiting, &task.id)?)?;
    let hooks = waiting.left().map(|hook| hook.name.clone()).collect();
    let (from, to) = (waiting.plan.from.clone(), waiting.plan.to.clone());
    Ok(TransitionResult { from, to, hooks, dry_run: true, ..transition_result::staying(&task) })
}

/// The waiting hooks of a task, and the actor that runs them again.
struct HookRetry {
    machine: &'static Machine<'static>,
    by: Actor,
    waiting: OpenTransition,
}

impl HookRetry {
    fn of(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<HookRetry> {
        let by = app.check_caller(task, history)?;
        let machine = app.machine_of(&task.owned)?;
        let Some(waiting) = history.transition.waiting_hooks.clone() else {
            return Err(Error::new(ErrorKind::Refused, format!("no hooks of task {} wait", task.id))
                .help("`orange task next` shows where the task can go"));
        };
        if !machine.may_retry(declared_id(machine, &waiting.plan), by) {
            let (from, to) = (&waiting.plan.from, &waiting.plan.to);
            return Err(Error::new(
                ErrorKind::NotAllowed,
                format!("{} may not run the hooks of {from} → {to}", machine.actor_with("a", by)),
            )
            .help("who may take this transition may run its hooks"));
        }
        Ok(HookRetry { machine, by, waiting })
    }
}

fn effects(
    machine: &'static Machine<'static>,
    waiting: &OpenTransition,
    id: &str,
) -> Result<Vec<Effect<'static>>> {
    let hooks = hooks_of(machine, waiting, id)?;
    let all = waiting.plan.hooks.iter().zip(hooks);
    let left = all.filter(|(planned, _)| !waiting.ended.contains_key(&planned.index));
    let effect = |hook: &Hook<'static>| Effect { hook: *hook, counter: None };
    Ok(left.map(|(_, hook)| effect(hook)).collect())
}
