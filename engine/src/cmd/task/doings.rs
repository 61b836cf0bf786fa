//! Activities of a task's agents, in words.

use crate::cmd::answer::dollars;
use crate::flow::doing::{words, works_as};
use crate::store::Seat;
use orange_api::{Agent, AgentSpending, AgentState, Assessment, Spending};

/// The tokens and the cost of all agents in words: `21300 tokens, $0.25 (agent 1: …; agent 2: …)`; empty if nothing is known.
pub fn spent_line(spending: &Spending) -> Option<String> {
    let one = |agent: &AgentSpending| {
        let AgentSpending { spawn, tokens, cost, list_price, unpriced, at_least } = agent;
        let prices = [(*cost, ""), (*list_price, AT_LIST_PRICE)];
        format!("agent {spawn}: {}", amount(*tokens, prices, unpriced.as_deref(), *at_least))
    };
    let each: Vec<_> = spending.agents.iter().map(one).collect();
    let prices = [(spending.cost, ""), (spending.list_price, AT_LIST_PRICE)];
    // The reasons for missing prices stand with their agents.
    let is_whole = spending.unpriced.is_none() || spending.list_price.is_none();
    let unpriced = if is_whole { None } else { Some("without agents that have no price") };
    let all = amount(spending.tokens, prices, unpriced, spending.at_least);
    (!each.is_empty()).then(|| format!("{all} ({})", each.join("; ")))
}

const AT_LIST_PRICE: &str = " at list price";

/// An amount in words: `at least 21300 tokens, $0.25 at list price`.
fn amount(
    tokens: Option<u64>,
    prices: [(Option<u64>, &str); 2],
    unpriced: Option<&str>,
    at_least: bool,
) -> String {
    let tokens = tokens.map(|tokens| format!("{tokens} tokens"));
    let prices = prices.into_iter().filter_map(|(cost, of)| Some(format!("{}{of}", dollars(cost?))));
    let parts: Vec<String> = tokens.into_iter().chain(prices).chain(unpriced.map(str::to_owned)).collect();
    format!("{}{}", if at_least { "at least " } else { "" }, parts.join(", "))
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::store::event::Spent;

    #[test]
    fn costs_say_where_they_are_from() {
        let line = |all: &[Spent]| {
            let all: BTreeMap<u32, Spent> = (1..).zip(all.iter().cloned()).collect();
            spent_line(&Spending::from(&all)).unwrap_or_default()
        };
        let own = Spent { tokens: Some(100), cost: Some(250_000), ..Spent::default() };
        let listed =
            Spent { tokens: Some(7), list_price: Some(1_999_999), at_least: true, ..Spent::default() };
        let unpriced =
            Spent { tokens: Some(3), unpriced: Some("no price for `x`".to_owned()), ..Spent::default() };
        assert_eq!(line(&[]), "");
        assert_eq!(line(std::slice::from_ref(&own)), "100 tokens, $0.25 (agent 1: 100 tokens, $0.25)");
        assert_eq!(line(std::slice::from_ref(&unpriced)), "3 tokens (agent 1: 3 tokens, no price for `x`)");
        assert_eq!(
            line(&[own, listed, unpriced]),
            "at least 110 tokens, $0.25, $1.99 at list price, without agents that have no price \
             (agent 1: 100 tokens, $0.25; agent 2: at least 7 tokens, $1.99 at list price; \
             agent 3: 3 tokens, no price for `x`)"
        );
    }
}
