//! `orange workflow`: what tasks can follow, and what it asks of agents.

use orange_core::{Actor, Gate, Machine, StateId, Transition};
use serde_json::{Value, json};

use crate::Result;
use crate::cmd::answer::{Answer, table};
use crate::cmd::args::WorkflowCommand;
use crate::machines::Listed;
use crate::orange::Orange;

/// Runs it.
pub fn run(orange: &Orange, command: &WorkflowCommand) -> Result<Answer> {
    match command {
        WorkflowCommand::List => Ok(list(&orange.machines.all()?)),
        WorkflowCommand::Show { name } => orange.machines.named(name).map(show),
        WorkflowCommand::Contract { name } => orange.machines.named(name).map(contract),
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
        Err(error) => json!({
            "name": listed.name,
            "error": { "code": error.kind.code(), "message": error.message, "help": error.help },
        }),
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
    for index in 0..machine.states.len() {
        let from = StateId(index as u16);
        text.push(format!("\n{}", described(machine, from)));
        let ways = machine.transitions.iter().filter(|way| way.from == from);
        text.extend(ways.map(|way| format!("  → {}", conditions(machine, way))));
    }
    Answer::new(json, text.join("\n"))
}

/// What agents must write and call, status by status. Only what the machine says; the prompts say the rest.
fn contract(machine: &Machine<'_>) -> Answer {
    let mut text = vec![format!("What `{}` asks of agents", machine.name)];
    let mut json = Vec::new();
    for index in 0..machine.states.len() {
        let from = StateId(index as u16);
        let ways: Vec<_> =
            machine.transitions.iter().filter(|way| way.from == from && for_agents(way)).collect();
        if ways.is_empty() {
            continue;
        }
        text.push(format!("\nIn {}:", machine.state(from).name));
        text.extend(ways.iter().map(|way| format!("- {}", duty(machine, way))));
        json.push(json!({
            "status": machine.state(from).name,
            "ways": ways.iter().map(|way| transition_json(machine, way)).collect::<Vec<_>>(),
        }));
    }
    let refusal = "\nThe command refuses what is not listed here, says why, and changes nothing then.";
    text.push(refusal.to_owned());
    Answer::new(json!({ "workflow": machine.name, "statuses": json }), text.join("\n"))
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

fn duty(machine: &Machine<'_>, way: &Transition<'_>) -> String {
    let write =
        way.gate.as_ref().map(|gate| format!("write {}, then ", gate_words(gate))).unwrap_or_default();
    let when = way.guard.map(|guard| format!("  (only when {})", guard.text)).unwrap_or_default();
    format!("{write}run `orange task update --status {}`{when}", machine.state(way.to).name)
}

fn for_agents(way: &Transition<'_>) -> bool {
    way.by.allows(Actor::Worker) || way.by.allows(Actor::Reviewer)
}

/// What a gate asks for, in a few words.
pub fn gate_words(gate: &Gate<'_>) -> String {
    let mut wants = Vec::new();
    if let Some(verdict) = gate.verdict {
        let place = if gate.strict { "first line " } else { "" };
        wants.push(format!("{place}`Verdict: {verdict}`"));
    } else if gate.required {
        wants.push("not empty".to_owned());
    }
    if !gate.fields.is_empty() {
        wants.push(format!(
            "a line {}",
            gate.fields.iter().map(|f| format!("`{f}:`")).collect::<Vec<_>>().join(" or ")
        ));
    }
    if gate.fresh {
        wants.push("written anew".to_owned());
    }
    if wants.is_empty() {
        return format!("`{}`", gate.section);
    }
    format!("`{}` ({})", gate.section, wants.join(", "))
}

#[cfg(test)]
mod tests {
    use orange_core::{Actors, Verdict};

    use super::*;
    use crate::flow::tests::MACHINES;

    #[test]
    fn a_contract_says_what_to_write_and_what_to_run() {
        let contract = contract(MACHINES[0]);
        let expect = "\
What `test` asks of agents

In pending:
- run `orange task update --status working`

In working:
- write `## Handoff` (not empty, written anew), then run `orange task update --status agent-review`
- run `orange task update --status stuck`

In agent-review:
- write `## Review` (`Verdict: FAIL`), then run `orange task update --status working`  (only when review_round < 2)
- run `orange task update --status stuck`  (only when review_round < 2)
- run `orange task update --status done`

In stuck:
- run `orange task update --status agent-review`

The command refuses what is not listed here, says why, and changes nothing then.";
        assert_eq!(contract.text, expect);
        assert_eq!(contract.json["workflow"], "test");
        assert_eq!(contract.json["statuses"][1]["ways"][0]["to"], "agent-review");
        assert_eq!(contract.json["statuses"].as_array().map(Vec::len), Some(4), "nothing is asked in done");
    }

    #[test]
    fn what_is_for_persons_alone_is_not_asked_of_agents() {
        let way = |by| Transition { by, ..MACHINES[0].transitions[0] };
        assert!(for_agents(&way(Actors::ANYONE)) && for_agents(&way(Actors::NONE.with(Actor::Reviewer))));
        assert!(!for_agents(&way(Actors::NONE.with(Actor::Human))));
    }

    #[test]
    fn a_gate_in_a_few_words() {
        let gate = Gate {
            section: "## S",
            required: false,
            verdict: None,
            strict: false,
            fields: &[],
            fresh: false,
        };
        assert_eq!(gate_words(&gate), "`## S`");
        assert_eq!(gate_words(&Gate { fields: &["A", "B"], ..gate }), "`## S` (a line `A:` or `B:`)");
        let strict = Gate { verdict: Some(Verdict::Pass), strict: true, fresh: true, ..gate };
        assert_eq!(gate_words(&strict), "`## S` (first line `Verdict: PASS`, written anew)");
    }
}
