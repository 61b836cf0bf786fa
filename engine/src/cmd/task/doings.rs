//! What the agents of a task do, as answers have it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::session::{Session, may_have_agents};
use crate::app::App;
use crate::drive::tmux::Pane;
use crate::flow::abandoned;
use crate::flow::activity::{self, Agent};
use crate::flow::doing::{State, words};
use crate::hooks::agent_processes::AgentProcesses;
use crate::store::event::Spent;
use crate::store::{Task, TaskDir, TaskHistory, task};

/// What the living agents of a task do, the one first that needs somebody most. Without one, nothing is read.
pub fn of(app: &App, dir: &TaskDir, task: &Task, panes: impl Fn() -> Option<Vec<Pane>>) -> Vec<Agent> {
    let has_agents =
        may_have_agents(task) && AgentProcesses::all(dir).is_ok_and(|processes| !processes.is_empty());
    let history = has_agents.then(|| task::read_journal(dir).ok()).flatten().map(|journal| journal.history());
    history.map(|history| with_history(app, dir, task, &history, panes)).unwrap_or_default()
}

/// As [`of`], with the journal at hand.
pub fn with_history(
    app: &App,
    dir: &TaskDir,
    task: &Task,
    history: &TaskHistory,
    panes: impl Fn() -> Option<Vec<Pane>>,
) -> Vec<Agent> {
    let mut agents = activity::of_task(app, dir, task, history, panes);
    agents.sort_by_key(|agent| urgency(agent.assessment.state));
    agents
}

fn urgency(state: State) -> u8 {
    match state {
        State::Waiting => 0,
        State::Ended => 1,
        State::Limit => 2,
        State::Quiet => 3,
        State::Unknown => 4,
        State::Busy => 5,
        State::Idle => 6,
    }
}

/// What nobody has taken note of yet: a transition that nobody finishes, an agent that is gone.
pub fn unnoticed(dir: &TaskDir, history: &TaskHistory, session: Session) -> Option<String> {
    if abandoned(dir, history).is_some() {
        return Some("begun and not finished: `orange monitor --once` finishes it".to_owned());
    }
    let gone =
        history.agents.keys().next().filter(|_| session == Session::Crashed && history.open.is_none())?;
    Some(format!("agent {gone} is gone, unnoticed: `orange monitor --once` looks after it"))
}

/// What a person types to go on with a task that nobody else goes on with: no agent works in its status, and none is there.
pub fn your_turn(app: &App, task: &Task, session: Session) -> Option<String> {
    let machine = app.machine_of(&task.owned).ok()?;
    let id = machine.state_named(task.status())?;
    let state = machine.state(id);
    let is_nobody_s = session == Session::Inactive && state.respawn.is_none() && !state.terminal;
    if !is_nobody_s || id == machine.initial {
        return None;
    }
    let merges = machine.commands.merge.is_some_and(|merge| machine.between(id, merge).next().is_some());
    Some(format!("orange task {} {}", if merges { "merge" } else { "next" }, task.id))
}

/// What the agents of a task have taken, for programs; null where its journal cannot be read.
pub fn spent(app: &App, dir: &TaskDir, task: &Task) -> Value {
    let journal = task::read_journal(dir);
    journal.map_or(Value::Null, |journal| spent_to_json(&activity::spent(app, dir, task, &journal.history())))
}

/// What agents have taken, for programs: together, and each that is known.
pub fn spent_to_json(all: &BTreeMap<u32, Spent>) -> Value {
    let sum = sum(all);
    let one = |(spawn, spent): (&u32, &Spent)| json!({ "spawn": spawn, "tokens": spent.tokens, "cost": spent.cost });
    json!({ "tokens": sum.tokens, "cost": sum.cost, "agents": all.iter().map(one).collect::<Value>() })
}

/// What agents have taken together, in words: `21300 tokens, $0.25 (agent 1: …; agent 2: …)`; nothing where nothing is known.
pub fn spent_line(all: &BTreeMap<u32, Spent>) -> Option<String> {
    let each: Vec<_> =
        all.iter().map(|(spawn, spent)| format!("agent {spawn}: {}", amount(*spent))).collect();
    (!each.is_empty()).then(|| format!("{} ({})", amount(sum(all)), each.join("; ")))
}

fn sum(all: &BTreeMap<u32, Spent>) -> Spent {
    all.values().fold(Spent::default(), |sum, spent| sum.and(*spent))
}

fn amount(Spent { tokens, cost }: Spent) -> String {
    let tokens = tokens.map(|tokens| format!("{tokens} tokens"));
    let cost = cost.map(|cost| format!("${}.{:02}", cost / 1_000_000, cost % 1_000_000 / 10_000));
    tokens.into_iter().chain(cost).collect::<Vec<_>>().join(", ")
}

/// For programs.
pub fn to_json(agents: &[Agent]) -> Value {
    let one = |agent: &Agent| {
        json!({
            "spawn": agent.spawn,
            "actor": agent.actor,
            "state": agent.assessment.state.as_str(),
            "reason": agent.assessment.reason,
            "seconds": agent.assessment.lasts.map(|lasts| lasts.as_secs()),
            "until": agent.assessment.until,
            "request": agent.assessment.request,
        })
    };
    agents.iter().map(one).collect()
}

/// In one line: `agent 1 (worker) is waiting for 5 min: it asks: …`.
pub fn line(agent: &Agent) -> String {
    let Agent { spawn, actor, assessment } = agent;
    let lasts = assessment.lasts.map(|lasts| format!(" for {}", words(lasts))).unwrap_or_default();
    let guess = if assessment.state == State::Quiet { " (a guess)" } else { "" };
    let until = assessment.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    format!(
        "agent {spawn} ({actor}) is {}{lasts}{guess}{until}: {}",
        assessment.state.as_str(),
        assessment.reason
    )
}

/// How a person allows what it asks; `deny` does not.
pub fn how_to_answer(agent: &Agent) -> Option<String> {
    let request = agent.assessment.request.as_ref()?;
    Some(format!("orange task answer {request} allow"))
}
