//! Activities of a task's agents, in words.

use crate::flow::doing::{words, works_as};
use crate::store::Seat;
use orange_api::{Agent, AgentSpending, AgentState, Assessment, Spending};

/// The tokens and the cost of all agents in words: `21300 tokens, $0.25 (agent 1: …; agent 2: …)`; empty if nothing is known.
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
pub fn line(Agent { spawn, actor, name, step, role, assessment }: &Agent) -> String {
    let seat = Seat { actor: actor.clone(), name: name.clone() };
    let actor = works_as(&seat, step.as_deref(), role.as_deref());
    let Assessment { state, reason, lasts, until, .. } = assessment;
    let lasts = lasts.map(|lasts| format!(" for {}", words(lasts))).unwrap_or_default();
    let guess = if *state == AgentState::Quiet { " (a guess)" } else { "" };
    let until = until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    format!("agent {spawn} ({actor}) is {}{lasts}{guess}{until}: {reason}", state.as_str())
}

/// The command with which a person allows what it asks; `deny` does not.
pub fn how_to_answer(agent: &Agent) -> Option<String> {
    let request = agent.assessment.request.as_ref()?;
    Some(format!("orange task answer {request} allow"))
}
