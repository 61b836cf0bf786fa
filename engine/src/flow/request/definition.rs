//! The definition that a task follows, and the current one of its workflow.

use orange_core::{Cause, Hook, Machine, Transition, TransitionId};

use crate::app::App;
use crate::flow::life::cause_of;
use crate::flow::snapshot::{left_behind, status_of};
use crate::store::{Event, LockedWorkItem, OpenTransition, Set, WorkItem, WorkItemHistory, event};
use crate::{Error, ErrorKind, Result};

/// Checks that the task can go on under this machine: it has the task's status, and the open transition.
pub fn check(machine: &'static Machine<'static>, task: &WorkItem, history: &WorkItemHistory) -> Result<()> {
    match &history.transition.open {
        Some(pending) => hooks_of(machine, pending, &task.id).map(drop),
        None => status_of(machine, task).map(drop),
    }
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
    let are_these = |hooks: &Vec<&Hook<'_>>| are_hooks_of(plan, hooks.iter().copied());
    let hooks = match cause_of(machine, plan) {
        Cause::Forced(what, _) => {
            machine.state_named(&plan.to).map(|to| machine.forced_hooks(what, to)).filter(are_these)
        }
        Cause::Request(_) | Cause::Exit | Cause::Escalation | Cause::Watch | Cause::HookFailed => {
            declared(machine, plan).map(|transition| transition.hooks.iter().collect())
        }
    };
    hooks.ok_or_else(|| {
        let message =
            format!("{} → {} was begun under another {} workflow", plan.from, plan.to, machine.name);
        Error::new(ErrorKind::Refused, message).help(left_behind(machine, id))
    })
}

/// The number of the declared transition that was begun, if the machine still has it.
pub fn declared_id(machine: &'static Machine<'static>, plan: &event::Transition) -> Option<TransitionId> {
    let declared = declared(machine, plan)?;
    let index = machine.transitions.iter().position(|it| std::ptr::eq(it, declared))?;
    u32::try_from(index).ok().map(TransitionId)
}

/// The declared transition that was begun, if the machine still has it.
fn declared(
    machine: &'static Machine<'static>,
    plan: &event::Transition,
) -> Option<&'static Transition<'static>> {
    let is_the_one = |transition: &&Transition<'_>| {
        machine.state(transition.from).name == plan.from
            && machine.state(transition.to).name == plan.to
            && are_hooks_of(plan, transition.hooks)
    };
    let at_index = plan.transition.and_then(|index| machine.transitions.get(index)).filter(is_the_one);
    at_index.or_else(|| machine.transitions.iter().find(is_the_one))
}

fn are_hooks_of<'h>(plan: &event::Transition, hooks: impl IntoIterator<Item = &'h Hook<'h>>) -> bool {
    hooks.into_iter().map(Hook::name).eq(plan.hooks.iter().map(|hook| hook.name.as_str()))
}

/// Moves the task to the current definition of its workflow, if that has changed. The change is journaled once, shown as
/// `attention`, and part of the next answer. New counters begin as in a new task.
pub fn follow(app: &App, machine: &Machine<'_>, locked: &mut LockedWorkItem) -> Result<()> {
    let Some((changed, set)) = change(app, machine, locked.task()) else { return Ok(()) };
    app.machines.keep(machine)?;
    // The attention comes first: once the change is journaled, no later command reports it.
    let before = &locked.task().owned.definition;
    let story = changed_story(machine.name, &compare(app, machine, before));
    locked.call_attention(&story)?;
    locked.append(changed, set)
}

/// The event of a changed definition; `None` if the task already follows the current one.
pub fn change(app: &App, machine: &Machine<'_>, task: &WorkItem) -> Option<(Event, Set)> {
    let before = &task.owned.definition;
    if before == machine.source_hash || before.is_empty() {
        return None;
    }
    let changed = Event::WorkflowChanged {
        workflow: machine.name.to_owned(),
        from: before.clone(),
        to: machine.source_hash.to_owned(),
        compare: compare(app, machine, before),
    };
    let set = Set::new().workflow(machine.name, machine.source_hash);
    Some((changed, new_counters(machine, task, set)))
}

/// The command that compares the definition with this hash with that of the machine.
pub fn compare(app: &App, machine: &Machine<'_>, before: &str) -> String {
    let kept = app.machines.kept(machine.name, before);
    let [old, new] = [(kept, "OLD"), (app.machines.file_of(machine.name), "NEW")]
        .map(|(file, word)| file.map_or_else(|| word.to_owned(), |file| file.display().to_string()));
    format!("orange-workflow diff {old} {new}")
}

/// The message about a workflow that has changed under a task.
pub fn changed_story(workflow: &str, compare: &str) -> String {
    format!("the workflow {workflow} has changed: `{compare}` shows what that means")
}

/// Also sets every counter of the machine that the task lacks to its initial value.
pub fn new_counters(machine: &Machine<'_>, task: &WorkItem, set: Set) -> Set {
    let counters = &task.owned.counters;
    let missing = machine.counters.iter().filter(|counter| !counters.contains_key(counter.name));
    missing.fold(set, |set, counter| set.counter(counter.name, counter.default))
}
