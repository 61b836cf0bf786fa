//! The definition that a task follows, and the current one of its workflow.

use orange_core::Machine;

use crate::Result;
use crate::app::App;
use crate::flow::request::finish::hooks_of;
use crate::flow::snapshot::status_of;
use crate::store::{Event, LockedTask, Set, Task, TaskHistory};

/// Checks that the task can go on under this machine: it has the task's status, and the open transition.
pub fn check(machine: &'static Machine<'static>, task: &Task, history: &TaskHistory) -> Result<()> {
    match &history.open {
        Some(pending) => hooks_of(machine, pending, &task.id).map(drop),
        None => status_of(machine, task).map(drop),
    }
}

/// Moves the task to the current definition of its workflow, if that has changed. The change is journaled once, shown as
/// `attention`, and part of the next answer. New counters begin as in a new task.
pub fn follow(app: &App, machine: &Machine<'_>, locked: &mut LockedTask) -> Result<()> {
    let Some((changed, set)) = change(app, machine, locked.task()) else { return Ok(()) };
    app.machines.keep(machine)?;
    // The attention comes first: once the change is journaled, no later command reports it.
    let before = &locked.task().owned.definition;
    let story = changed_story(machine.name, &compare(app, machine, before));
    locked.call_attention(&story)?;
    locked.append(changed, set)
}

/// The event of a changed definition; `None` if the task already follows the current one.
pub fn change(app: &App, machine: &Machine<'_>, task: &Task) -> Option<(Event, Set)> {
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
pub fn new_counters(machine: &Machine<'_>, task: &Task, set: Set) -> Set {
    let counters = &task.owned.counters;
    let missing = machine.counters.iter().filter(|counter| !counters.contains_key(counter.name));
    missing.fold(set, |set, counter| set.counter(counter.name, counter.default))
}
