//! `orange task attach`

use orange_core::Actor;

use crate::Result;
use crate::app::App;
use crate::flow::Snapshot;
use crate::flow::complete::command;
use crate::store::{Task, TaskHistory};

/// What a person can do about a task without an agent, each with the command.
pub fn commands(app: &App, task: &Task, history: &TaskHistory) -> Result<Vec<String>> {
    let machine = app.machine_of(&task.owned)?;
    let id = &task.id;
    let snapshot = Snapshot::of(app, machine, task, history)?;
    let (status, choices) = snapshot.with_facts(|facts| {
        let view = &facts.view;
        (view.status, machine.options(view, Actor::Human))
    });
    let state = machine.state(status);
    let mut lines = Vec::new();
    if state.respawn.is_some() && task.owned.workspace.is_some() {
        lines.push(format!("orange task respawn {id}    starts its agent again"));
    }
    let open = choices.iter().filter(|choice| choice.can_be_asked());
    lines.extend(open.map(|choice| command(machine, id, choice.to)));
    if choices.len() > lines.len() {
        lines.push(format!("orange task next {id}       shows every status, and what is missing for it"));
    }
    Ok(lines)
}
