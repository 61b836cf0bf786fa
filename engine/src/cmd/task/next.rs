//! `orange task next`

use orange_core::{Choice, Machine, View};
use serde_json::{Value, json};

use crate::Result;
use crate::cmd::answer::Answer;
use crate::cmd::workflow::gate_words;
use crate::flow::Snapshot;
use crate::orange::Orange;
use crate::store::{Task, TaskDir};

/// Every status that the task can go to from here, and what each still needs.
pub fn run(orange: &Orange, dir: &TaskDir) -> Result<Answer> {
    let (task, journal) = Task::read(&orange.home, dir)?;
    let machine = orange.machine_of(&task)?;
    let log = journal.log();
    let snapshot = Snapshot::of(machine, &task, &log)?;
    let view = snapshot.view();
    let choices = machine.options(&view, orange.caller.actor_for(&task.id));
    let json = choices.iter().map(|choice| to_json(machine, &view, choice)).collect();
    let lines: Vec<_> = choices.iter().map(|choice| line(machine, &view, choice)).collect();
    let text = if lines.is_empty() { format!("{} is final", task.status()) } else { lines.join("\n") };
    Ok(Answer::new(Value::Array(json), text))
}

fn to_json(machine: &Machine<'_>, view: &View<'_>, choice: &Choice) -> Value {
    let way = machine.transition(choice.transition);
    json!({
        "to": machine.state(choice.to).name,
        "allowed": choice.rejection.is_none(),
        "guard": way.guard.map(|guard| guard.text),
        "gate": way.gate.as_ref().map(gate_words),
        "missing": choice.missing(machine, view),
        "hooks": way.hooks.iter().map(|hook| hook.name()).collect::<Vec<_>>(),
    })
}

fn line(machine: &Machine<'_>, view: &View<'_>, choice: &Choice) -> String {
    let name = machine.state(choice.to).name;
    match choice.missing(machine, view) {
        None => format!("✓ {name}"),
        Some(missing) => format!("✗ {name}: {missing}"),
    }
}
