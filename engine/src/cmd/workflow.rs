//! `orange workflow`: the workflows that tasks can follow, and what each asks of agents.

use std::fmt::Display;

use orange_core::{Machine, StateId};

use crate::Result;
use crate::answer::{ListedWorkflow, ShownWorkflow, State, Transition, Workflow};
use crate::app::App;
use crate::cmd::answer::{Answer, table};
use crate::cmd::args::WorkflowCommand;
use crate::cmd::contract::{self, askers, gate_words};
use crate::machines::Listed;

/// Runs it.
pub fn run(app: &App, command: &WorkflowCommand) -> Result<Answer> {
    match command {
        WorkflowCommand::List => list(&app.machines.all()?),
        WorkflowCommand::Show { name } => show(app.machines.named(name)?),
        WorkflowCommand::Contract { name } => contract(app.machines.named(name)?),
    }
}

/// A workflow that cannot be compiled is listed with the reason, beside the others.
fn list(listed: &[Listed]) -> Result<Answer> {
    let workflows: Vec<_> = listed.iter().map(to_answer).collect();
    let rows: Vec<_> = workflows.iter().map(row).collect();
    let faults = listed.iter().filter_map(|listed| listed.machine.as_ref().err());
    let text = [table(["WORKFLOW", "VERSION", "STATES", "TRANSITIONS", "HASH", "FILE"], &rows)]
        .into_iter()
        .chain(faults.map(|error| format!("\n{error}")));
    Answer::of(&workflows, text.collect::<Vec<_>>().join("\n"))
}

fn to_answer(listed: &Listed) -> ListedWorkflow<'_> {
    let file = listed.file.as_ref().map(|file| file.display().to_string());
    match &listed.machine {
        Ok(machine) => ListedWorkflow::Compiled { workflow: figures(machine), file },
        Err(error) => ListedWorkflow::Broken { name: &listed.name, file, error },
    }
}

fn row(listed: &ListedWorkflow<'_>) -> [String; 6] {
    let (name, [version, states, transitions, hash], file) = match listed {
        ListedWorkflow::Compiled { workflow, file } => {
            let Workflow { name, version, states, transitions, source_hash, .. } = workflow;
            let figures = [&version as &dyn Display, states, transitions, source_hash];
            (*name, figures.map(ToString::to_string), file)
        }
        ListedWorkflow::Broken { name, file, .. } => (*name, [(); 4].map(|()| "-".to_owned()), file),
    };
    let file = file.clone().unwrap_or_else(|| "compiled in".to_owned());
    [name.to_owned(), version, states, transitions, hash, file]
}

fn show(machine: &'static Machine<'static>) -> Result<Answer> {
    let shown = ShownWorkflow {
        workflow: figures(machine),
        state_list: machine.state_ids().map(|id| state(machine, id)).collect(),
        transition_list: machine.transitions.iter().map(|it| transition(machine, it)).collect(),
    };
    let Workflow { name, version, description, source_hash, .. } = shown.workflow;
    let mut text = vec![format!("{name} (version {version}, {source_hash})")];
    if !description.is_empty() {
        text.push(description.to_owned());
    }
    for state in &shown.state_list {
        text.push(format!("\n{}", described(state)));
        let leaving = shown.transition_list.iter().filter(|it| it.from == state.name);
        text.extend(leaving.map(|it| format!("  → {}", conditions(it))));
    }
    Answer::of(&shown, text.join("\n"))
}

/// What agents must write and run, status by status.
fn contract(machine: &Machine<'_>) -> Result<Answer> {
    let head = format!(
        "What `{}` asks of agents. A request that is not listed here is refused and changes nothing.",
        machine.name
    );
    let contract = contract::of(machine);
    Answer::of(&contract, format!("{head}\n\n{}", contract::text(&contract)))
}

fn figures(machine: &'static Machine<'static>) -> Workflow {
    Workflow {
        name: machine.name,
        version: machine.version,
        description: machine.description,
        states: machine.states.len(),
        transitions: machine.transitions.len(),
        guards: machine.transitions.iter().filter(|it| it.guard.is_some()).count(),
        source_hash: machine.source_hash,
        prompts_hash: machine.prompts_hash,
    }
}

fn state(machine: &'static Machine<'static>, id: StateId) -> State {
    let state = machine.state(id);
    State {
        name: state.name,
        initial: id == machine.initial,
        terminal: state.terminal,
        entry: state.entry,
        waits_for_human: state.waits_for_human,
        respawnable: state.respawn.is_some(),
    }
}

fn transition(machine: &'static Machine<'static>, it: &orange_core::Transition<'static>) -> Transition {
    Transition {
        from: machine.state(it.from).name,
        to: machine.state(it.to).name,
        by: askers(it),
        guard: it.guard.map(|guard| guard.text),
        gate: it.gate.as_ref().map(gate_words),
        hooks: it.hooks.iter().map(|hook| hook.name()).collect(),
    }
}

fn described(state: &State) -> String {
    let notes = [
        (state.initial, "initial"),
        (state.terminal, "final"),
        (state.waits_for_human, "waits for a person"),
        (state.respawnable, "can be respawned"),
    ];
    let notes: Vec<_> = notes.into_iter().filter_map(|(holds, note)| holds.then_some(note)).collect();
    if notes.is_empty() { state.name.to_owned() } else { format!("{} ({})", state.name, notes.join(", ")) }
}

fn conditions(transition: &Transition) -> String {
    let Transition { to, guard, gate, hooks, .. } = transition;
    let mut text = (*to).to_owned();
    text.extend(guard.map(|guard| format!("  when {guard}")));
    text.extend(gate.iter().map(|gate| format!("  needs {gate}")));
    if !hooks.is_empty() {
        text += &format!("  [{}]", hooks.join(", "));
    }
    text
}
