//! `orange task attach`

use orange_core::{Actor, Input};

use crate::Result;
use crate::app::App;
use crate::flow::Snapshot;
use crate::flow::complete::command;
use crate::store::{WorkItem, WorkItemHistory};

/// Actions that a person can take on a task without an agent, each with the command.
pub fn commands(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Vec<String>> {
    let machine = app.machine_of(&task.owned)?;
    let id = &task.id;
    let snapshot = Snapshot::of(app, machine, task, history)?;
    let (can_start, choices) = snapshot.with_facts(|facts| {
        let can_start = machine.life(facts, Input::Respawn { is_alive: false }).is_ok();
        (can_start, machine.options(&facts.view, Actor::Human))
    });
    let mut lines = Vec::new();
    if can_start {
        lines.push(format!("orange task respawn {id}    starts its agent again"));
    }
    let open = choices.iter().filter(|choice| choice.can_be_asked());
    lines.extend(open.map(|choice| command(machine, id, choice.to)));
    if choices.len() > lines.len() {
        lines.push(format!("orange task next {id}       shows every status, and what is missing for it"));
    }
    Ok(lines)
}
