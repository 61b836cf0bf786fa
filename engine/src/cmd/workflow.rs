//! `orange workflow`: what tasks can follow, and what it asks of agents.

use orange_core::{Actor, Machine, StateId, Transition};
use serde_json::{Value, json};

use crate::Result;
use crate::app::App;
use crate::cmd::answer::{Answer, table};
use crate::cmd::args::WorkflowCommand;
use crate::cmd::contract::{self, gate_words};
use crate::machines::Listed;

/// Runs it.
pub fn run(app: &App, command: &WorkflowCommand) -> Result<Answer> {
    match command {
        WorkflowCommand::List => Ok(list(&app.machines.all()?)),
        WorkflowCommand::Show { name } => app.machines.named(name).map(show),
        WorkflowCommand::Contract { name } => app.machines.named(name).map(contract),
    }
}

/// One that cannot be followed is listed with the reason, and keeps nobody from the others.
fn list(listed: &[Listed]) -> Answer {
    let rows: Vec<_> = listed.iter().map(row).collect();
    let faults = listed.iter().filter_map(|listed| listed.machine.as_ref().err());
    let text = [table(["WORKFLOW", "VERSION", "STATES", "TRANSITIONS", "HASH", "FILE"], &rows)]
        .into_iter()
        .chain(faults.map(|error| format!("\n{error}")));
    Answer::new(listed.iter().map(listed_json).collect(), text.collect::<Vec<_>>().join("\n"))
}

fn row(listed: &Listed) -> [String; 6] {
    let file =
        listed.file.as_ref().map_or_else(|| "compiled in".to_owned(), |file| file.display().to_string());
    let [version, states, transitions, hash] = match &listed.machine {
        Ok(machine) => [
            machine.version.to_string(),
            machine.states.len().to_string(),
            machine.transitions.len().to_string(),
            machine.source_hash.to_owned(),
        ],
        Err(_) => [(); 4].map(|()| "-".to_owned()),
    };
    [listed.name.clone(), version, states, transitions, hash, file]
}

fn listed_json(listed: &Listed) -> Value {
    let mut json = match &listed.machine {
        Ok(machine) => summary(machine),
        Err(error) => json!({ "name": listed.name, "error": error }),
    };
    json["file"] = listed.file.as_ref().map(|file| file.display().to_string()).into();
    json
}

fn show(machine: &Machine<'_>) -> Answer {
    let mut json = summary(machine);
    json["state_list"] = machine.states.iter().map(state_json).collect();
    json["transition_list"] = machine.transitions.iter().map(|way| transition_json(machine, way)).collect();
    let mut text = vec![format!("{} (version {}, {})", machine.name, machine.version, machine.source_hash)];
    if !machine.description.is_empty() {
        text.push(machine.description.to_owned());
    }
    for from in machine.state_ids() {
        text.push(format!("\n{}", described(machine, from)));
        let ways = machine.transitions.iter().filter(|way| way.from == from);
        text.extend(ways.map(|way| format!("  → {}", conditions(machine, way))));
    }
    Answer::new(json, text.join("\n"))
}

/// What agents must write and run, status by status.
fn contract(machine: &Machine<'_>) -> Answer {
    let head = format!(
        "What `{}` asks of agents. What is not listed here is refused and changes nothing.",
        machine.name
    );
    Answer::new(contract::json(machine), format!("{head}\n\n{}", contract::text(machine)))
}

fn summary(machine: &Machine<'_>) -> Value {
    json!({
        "name": machine.name,
        "version": machine.version,
        "description": machine.description,
        "states": machine.states.len(),
        "transitions": machine.transitions.len(),
        "guards": machine.transitions.iter().filter(|way| way.guard.is_some()).count(),
        "source_hash": machine.source_hash,
        "prompts_hash": machine.prompts_hash,
    })
}

fn state_json(state: &orange_core::State<'_>) -> Value {
    json!({
        "name": state.name,
        "terminal": state.terminal,
        "entry": state.entry,
        "waits_for_human": state.waits_for_human,
        "respawnable": state.respawn.is_some(),
    })
}

fn transition_json(machine: &Machine<'_>, way: &Transition<'_>) -> Value {
    json!({
        "from": machine.state(way.from).name,
        "to": machine.state(way.to).name,
        "by": way.by.iter().filter(|actor| *actor != Actor::Engine).map(Actor::as_str).collect::<Vec<_>>(),
        "guard": way.guard.map(|guard| guard.text),
        "gate": way.gate.as_ref().map(gate_words),
        "hooks": way.hooks.iter().map(|hook| hook.name()).collect::<Vec<_>>(),
    })
}

fn described(machine: &Machine<'_>, id: StateId) -> String {
    let state = machine.state(id);
    let mut notes = Vec::new();
    if id == machine.initial {
        notes.push("initial");
    }
    if state.terminal {
        notes.push("final");
    }
    if state.waits_for_human {
        notes.push("waits for a person");
    }
    if state.respawn.is_some() {
        notes.push("can be respawned");
    }
    if notes.is_empty() { state.name.to_owned() } else { format!("{} ({})", state.name, notes.join(", ")) }
}

fn conditions(machine: &Machine<'_>, way: &Transition<'_>) -> String {
    let mut text = machine.state(way.to).name.to_owned();
    if let Some(guard) = way.guard {
        text += &format!("  when {}", guard.text);
    }
    if let Some(gate) = &way.gate {
        text += &format!("  needs {}", gate_words(gate));
    }
    if !way.hooks.is_empty() {
        let hooks: Vec<_> = way.hooks.iter().map(|hook| hook.name()).collect();
        text += &format!("  [{}]", hooks.join(", "));
    }
    text
}
