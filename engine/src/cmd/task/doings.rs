//! What the agents of a task do, as answers have it.

use super::session::{Session, may_have_agents};
use crate::answer::{Agent, AgentSpending, AgentState, Assessment, Spending};
use crate::app::App;
use crate::drive::tmux::Pane;
use crate::flow::abandoned;
use crate::flow::activity;
use crate::flow::doing::words;
use crate::hooks::agent_processes::AgentProcesses;
use crate::store::{Task, TaskDir, TaskHistory, task};

/// What the living agents of a task do, the one first that needs somebody most, and what its agents have taken. Without a living
/// one, nothing is read.
pub fn of(
    app: &App,
    dir: &TaskDir,
    task: &Task,
    panes: impl Fn() -> Option<Vec<Pane>>,
) -> (Vec<Agent>, Option<Spending>) {
    let has_agents =
        may_have_agents(task) && AgentProcesses::all(dir).is_ok_and(|processes| !processes.is_empty());
    let journal = has_agents.then(|| task::read_journal(dir).ok()).flatten();
    let Some(history) = journal.map(|journal| journal.history()) else { return (Vec::new(), None) };
    let agents = with_history(app, dir, task, &history, panes);
    let spent = (!agents.is_empty()).then(|| Spending::from(&activity::spent(app, dir, task, &history)));
    (agents, spent)
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

fn urgency(state: AgentState) -> u8 {
    match state {
        AgentState::Waiting => 0,
        AgentState::Ended => 1,
        AgentState::Limit => 2,
        AgentState::Quiet => 3,
        AgentState::Unknown => 4,
        AgentState::Busy => 5,
        AgentState::Idle => 6,
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

/// What agents have taken together, in words: `21300 tokens, $0.25 (agent 1: …; agent 2: …)`; nothing where nothing is known.
pub fn spent_line(Spending { tokens, cost, agents }: &Spending) -> Option<String> {
    let one = |AgentSpending { spawn, tokens, cost }: &AgentSpending| {
        format!("agent {spawn}: {}", amount(*tokens, *cost))
    };
    let each: Vec<_> = agents.iter().map(one).collect();
    (!each.is_empty()).then(|| format!("{} ({})", amount(*tokens, *cost), each.join("; ")))
}

fn amount(tokens: Option<u64>, cost: Option<u64>) -> String {
    let tokens = tokens.map(|tokens| format!("{tokens} tokens"));
    let cost = cost.map(|cost| format!("${}.{:02}", cost / 1_000_000, cost % 1_000_000 / 10_000));
    tokens.into_iter().chain(cost).collect::<Vec<_>>().join(", ")
}

/// In one line: `agent 1 (worker) is waiting for 5 min: it asks: …`.
pub fn line(Agent { spawn, actor, assessment }: &Agent) -> String {
    let Assessment { state, reason, lasts, until, .. } = assessment;
    let lasts = lasts.map(|lasts| format!(" for {}", words(lasts))).unwrap_or_default();
    let guess = if *state == AgentState::Quiet { " (a guess)" } else { "" };
    let until = until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    format!("agent {spawn} ({actor}) is {}{lasts}{guess}{until}: {reason}", state.as_str())
}

/// How a person allows what it asks; `deny` does not.
pub fn how_to_answer(agent: &Agent) -> Option<String> {
    let request = agent.assessment.request.as_ref()?;
    Some(format!("orange task answer {request} allow"))
}
