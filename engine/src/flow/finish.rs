//! Finishing a transition that was begun: in the ordinary way, and after a kill.

use orange_core::{CRASH_COUNT, Hook, Machine, Transition};

use crate::flow::begin::ESCALATION;
use crate::flow::spawn_next;
use crate::hooks::{self, Run};
use crate::orange::Orange;
use crate::store::event::PlannedHook;
use crate::store::scalar::Value;
use crate::store::{Event, Open, OpenTransition, Set, TaskDir};
use crate::{Error, Kind, Result};

/// What is to be done when the task's lock has been released: no two tasks are ever locked together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// Spawn the next pending task of this project.
    SpawnNext {
        /// Its name.
        project: String,
    },
}

impl Afterwards {
    /// Does it.
    ///
    /// # Errors
    /// Those of spawning that task.
    pub fn act(&self, orange: &Orange) -> Result<()> {
        match self {
            Afterwards::SpawnNext { project } => spawn_next(orange, project).map(drop),
        }
    }
}

/// Locks a task that nothing is pending for: a transition that somebody began is finished first, in a process that
/// outlives this one, since its hooks may end this one's session.
///
/// # Errors
/// Those of the store; `environment` when the transition cannot be finished.
pub fn settled(orange: &Orange, dir: &TaskDir) -> Result<Open> {
    let open = Open::lock(&orange.home, dir)?;
    if open.log().open.is_none() {
        return Ok(open);
    }
    drop(open);
    orange.detached(&["task", "finish", &dir.id], dir)?;
    let open = Open::lock(&orange.home, dir)?;
    match &open.log().open {
        None => Ok(open),
        Some(pending) => Err(Error::new(
            Kind::Environment,
            format!("{} → {} was begun and cannot be finished", pending.plan.from, pending.plan.to),
        )
        .help(format!("{} says why", orange.home.log_file().display()))),
    }
}

/// Runs the hooks that have not ended, in order, and closes the transition. A hook that fails rolls nothing back: it
/// is journaled and becomes the task's `attention`. Without an open transition there is nothing to do.
///
/// # Errors
/// Those of the store; `refused` when the binary's workflow no longer has the transition.
pub fn finish(orange: &Orange, open: &mut Open) -> Result<Vec<Afterwards>> {
    let Some(pending) = open.log().open.clone() else { return Ok(Vec::new()) };
    let machine = orange.machine_of(open.task())?;
    let hooks = hooks_of(machine, &pending)?;
    let mut afterwards = Vec::new();
    let mut errors: Vec<String> = pending.ended.values().flatten().cloned().collect();
    for planned in pending.plan.hooks.iter().filter(|planned| !pending.ended.contains_key(&planned.index)) {
        let Some(hook) = hooks.get(planned.index) else { continue };
        let counter = planned.counter.as_ref().map(|counter| (counter.name.clone(), counter.value));
        let run = Run { orange, machine, since: pending.seq, counter, afterwards: &mut afterwards };
        let (set, error) = match hooks::run(run, open, hook) {
            Ok(set) => (set, None),
            Err(error) => (Set::new(), Some(error.message)),
        };
        errors.extend(error.iter().map(|error| format!("{}: {error}", planned.name)));
        let ended = Event::HookEnded { hook: planned.name.clone(), index: planned.index, error };
        open.append(ended, counted(set, planned))?;
    }
    close(machine, open, &pending, &errors)?;
    Ok(afterwards)
}

fn hooks_of(
    machine: &'static Machine<'static>,
    pending: &OpenTransition,
) -> Result<&'static [Hook<'static>]> {
    let plan = &pending.plan;
    let is_the_one = |way: &&Transition<'_>| {
        machine.state(way.from).name == plan.from
            && machine.state(way.to).name == plan.to
            && way.hooks.iter().map(Hook::name).eq(plan.hooks.iter().map(|hook| hook.name.as_str()))
    };
    let at_index = plan.transition.and_then(|index| machine.transitions.get(index)).filter(is_the_one);
    at_index.or_else(|| machine.transitions.iter().find(is_the_one)).map(|way| way.hooks).ok_or_else(|| {
        let message =
            format!("{} → {} was begun under another {} workflow", plan.from, plan.to, machine.name);
        Error::new(Kind::Refused, message).help("finish it with the binary that began it")
    })
}

/// A spawn that failed used its round up all the same.
fn counted(set: Set, planned: &PlannedHook) -> Set {
    planned.counter.iter().fold(set, |set, counter| set.counter(&counter.name, counter.value))
}

fn close(machine: &Machine<'_>, open: &mut Open, pending: &OpenTransition, errors: &[String]) -> Result<()> {
    let plan = &pending.plan;
    let changed = Event::StatusChanged {
        from: plan.from.clone(),
        to: plan.to.clone(),
        cause: plan.cause.clone(),
        actor: plan.actor.clone(),
        gate: None,
    };
    let crash_count = machine.counter(CRASH_COUNT).name;
    let keeps_crashes = plan.cause == ESCALATION || open.task().counter(crash_count) == 0;
    let set = if keeps_crashes { Set::new() } else { Set::new().counter(crash_count, 0) };
    open.append(changed, set)?;
    if errors.is_empty() { Ok(()) } else { attend(open, &errors.join("; ")) }
}

/// Adds to what a person should look at.
///
/// # Errors
/// Those of the store.
pub fn attend(open: &mut Open, what: &str) -> Result<()> {
    let text = match &open.task().attention {
        Some(before) if before != what => format!("{what}; {before}"),
        Some(_) | None => what.to_owned(),
    };
    open.edit(&[("attention", Value::Text(&text))])
}
