//! Moves a task to a state of its workflow or of another one, without a transition.

use orange_core::{Actor, Machine};

use crate::Result;
use crate::app::App;
use crate::flow::definition::new_counters;
use crate::flow::request::finish::lock_recovered_or_as_is;
use crate::flow::snapshot::state_named;
use crate::store::{
    Event, LockedWorkItem, OpenTransition, Set, TransitionHistory, WorkItem, WorkItemDir, WorkItemHistory,
};
use orange_api::{Migrated, Success};

/// Moves a task to a state, and to a workflow if one is named. It checks no gate and runs no hook: worktree, session and agents
/// stay. It closes an open transition. Counters that the workflow lacks stay in the journal for a migration back;
/// `crash_count` restarts.
pub fn migrate(app: &App, dir: &WorkItemDir, to: &str, workflow: Option<&str>) -> Result<Migrated> {
    app.caller.check_person("migrate a task")?;
    let mut locked = lock_recovered_or_as_is(app, dir)?;
    let (machine, migrated) = planned(app, locked.task(), locked.history(), to, workflow)?;
    app.machines.keep(machine)?;
    let (event, set) = migration(machine, &locked, to);
    locked.append(event, set)?;
    locked.clear_attention()?;
    Ok(migrated)
}

/// Dry run of [`migrate`].
pub fn would_migrate(app: &App, dir: &WorkItemDir, to: &str, workflow: Option<&str>) -> Result<Migrated> {
    app.caller.check_person("migrate a task")?;
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let (_, migrated) = planned(app, &task, &journal.history(), to, workflow)?;
    Ok(Migrated { dry_run: true, ..migrated })
}

fn planned(
    app: &App,
    task: &WorkItem,
    history: &WorkItemHistory,
    to: &str,
    workflow: Option<&str>,
) -> Result<(&'static Machine<'static>, Migrated)> {
    let machine = match workflow {
        Some(name) => app.machines.named(name)?,
        None => app.machine_of(&task.owned)?,
    };
    let state = machine.state(state_named(machine, to)?);
    let migrated = Migrated {
        success: Success,
        id: task.id.clone(),
        from: task.status().to_owned(),
        to: to.to_owned(),
        workflow: machine.name.to_owned(),
        definition: machine.source_hash.to_owned(),
        dropped_hooks: dropped_hooks(history),
        respawnable: state.respawn.is_some(),
        dry_run: false,
    };
    Ok((machine, migrated))
}

/// The event of a task that follows this machine from now on, in this status.
pub fn migration(machine: &Machine<'_>, locked: &LockedWorkItem, to: &str) -> (Event, Set) {
    let migrated = Event::TaskMigrated {
        from: locked.task().status().to_owned(),
        to: to.to_owned(),
        workflow: machine.name.to_owned(),
        actor: Actor::Human.into(),
        dropped_hooks: dropped_hooks(locked.history()),
    };
    let set = Set::new().status(to).workflow(machine.name, machine.source_hash);
    let set = new_counters(machine, locked.task(), set);
    let set = machine
        .migrated()
        .into_iter()
        .fold(set, |set, (id, value)| set.counter(machine.counter(id).name, value));
    (migrated, set)
}

fn dropped_hooks(history: &WorkItemHistory) -> Vec<String> {
    let TransitionHistory { open, waiting_hooks, .. } = &history.transition;
    let left = open.iter().chain(waiting_hooks).flat_map(OpenTransition::left);
    left.map(|hook| hook.name.clone()).collect()
}

/// The answer for people.
pub fn text(migrated: &Migrated) -> String {
    let mut text = format!("{} → {}  (workflow {})", migrated.from, migrated.to, migrated.workflow);
    if !migrated.dropped_hooks.is_empty() {
        text += &format!("\nnever run: {}", migrated.dropped_hooks.join(", "));
    }
    text += "\nits worktree, session and agents are as they were";
    if migrated.respawnable {
        text += &format!("; `orange task respawn {}` starts the agent of {}", migrated.id, migrated.to);
    }
    text
}
