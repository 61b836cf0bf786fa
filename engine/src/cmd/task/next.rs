//! `orange task next`

use orange_core::{Choice, Machine};
use serde_json::{Value, json};

use crate::Result;
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::contract::gate_words;
use crate::flow::{Snapshot, refusal};
use crate::store::{Task, TaskDir};

/// Every status that the task can go to from here, and what each still needs.
pub fn run(app: &App, dir: &TaskDir) -> Result<Answer> {
    let (task, journal) = Task::read(&app.home, dir)?;
    let machine = app.machine_of(&task.owned)?;
    let history = journal.history();
    let snapshot = Snapshot::of(machine, &task, &history)?;
    let view = snapshot.view();
    let choices = machine.options(&view, app.caller.actor_for(&task.id, &history));
    let worktree = task.owned.workspace.as_ref().map(|name| app.home.workspace(name));
    let message = |no| refusal::message(no, machine, &view, &history, worktree.as_deref());
    let missing: Vec<Option<String>> = choices.iter().map(|choice| choice.rejection.map(message)).collect();
    let ways = || choices.iter().zip(&missing);
    let json = ways().map(|(choice, missing)| to_json(machine, choice, missing.as_deref())).collect();
    let lines: Vec<_> = ways().map(|(choice, missing)| line(machine, choice, missing.as_deref())).collect();
    let text = if lines.is_empty() { format!("{} is final", task.status()) } else { lines.join("\n") };
    Ok(Answer::new(Value::Array(json), text))
}

fn to_json(machine: &Machine<'_>, choice: &Choice, missing: Option<&str>) -> Value {
    let way = machine.transition(choice.transition);
    json!({
        "to": machine.state(choice.to).name,
        "allowed": choice.rejection.is_none(),
        "guard": way.guard.map(|guard| guard.text),
        "gate": way.gate.as_ref().map(gate_words),
        "missing": missing,
        "hooks": way.hooks.iter().map(|hook| hook.name()).collect::<Vec<_>>(),
    })
}

fn line(machine: &Machine<'_>, choice: &Choice, missing: Option<&str>) -> String {
    let name = machine.state(choice.to).name;
    match missing {
        None => format!("✓ {name}"),
        Some(missing) => format!("✗ {name}: {missing}"),
    }
}
