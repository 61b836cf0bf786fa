//! C82: a prompt does not tell its agent which status to set: none at all, none where its commands have led it, or none for
//! what it may write.

use std::collections::BTreeSet;

use orange_core::Verdict;

use super::C82;
use super::replay::Left;
use super::shared::{Prompted, any_of, names, prompt, prompts, started};
use super::unnamed::unnamed;
use crate::lint::Facts;
use crate::lint::prompt_facts::{AgentInState, Mood, Start, Target};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Outcome, StateId};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let advances = advances(facts);
    let by_itself = |it: &Prompted<'_>, state: StateId| it.reading.ends && advances[usize::from(state.0)];
    let silent = prompts(facts).filter_map(|it| {
        let start = it.starts.iter().find(|start| {
            let place = start.place;
            !names_a_way(&it, place.state) && !by_itself(&it, place.state) && !ways(facts, place).is_empty()
        })?;
        Some(silent(facts, &it, start))
    });
    let mut found: Vec<Diagnostic> = silent.collect();
    let mut told = BTreeSet::new();
    for left in &facts.replays().left {
        let it = prompt(facts, left.prompt);
        let is_over = by_itself(&it, left.place.state) || !is_alone(facts, &it, left);
        if !is_over && told.insert((left.prompt, left.last)) {
            found.push(alone(facts, &it, left));
        }
    }
    found.extend(unnamed(facts));
    found
}

/// Whether a prompt names another status than the one that its agent starts in.
fn names_a_way(it: &Prompted<'_>, state: StateId) -> bool {
    let commands = it.reading.commands.iter().filter(|it| it.mood != Mood::Negated);
    commands.into_iter().any(|it| it.target != Target::State(state))
}

/// By state: whether an exit rule leads on when the agent has ended.
fn advances(facts: &Facts<'_>) -> Vec<bool> {
    let mut advances = vec![false; facts.machine.states.len()];
    for rule in &facts.exit_rules {
        advances[usize::from(rule.status.value.0)] |= match rule.outcome {
            Outcome::Then(_) | Outcome::ThenWhen(_) => true,
            Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => false,
        };
    }
    advances
}

/// The states that the agent could ask for; to give a task up is not its way, and where a person is waited for none is.
fn ways(facts: &Facts<'_>, place: AgentInState) -> Vec<StateId> {
    if facts.state(place.state).wait.is_some() {
        return Vec::new();
    }
    let cancel = facts.machine.commands.cancel;
    let targets = facts.machine.targets(place.state).filter(|to| Some(*to) != cancel);
    targets.filter(|to| place.may_request(facts.machine, *to)).collect()
}

fn silent(facts: &Facts<'_>, it: &Prompted<'_>, start: &Start) -> Diagnostic {
    let Prompted { name, prompt, reading, .. } = it;
    let state = facts.name(start.place.state);
    let ways = ways(facts, start.place);
    let named = names(facts, ways.iter().copied());
    let message = format!(
        "`{name}` never tells its agent which status to set: from `{state}` it could set {}",
        any_of(&named)
    );
    let (place, words) = started(facts, it, start);
    let mut found = Diagnostic::new(&C82, prompt.name.span, message)
        .label(place, format!("1. {words}"))
        .label(prompt.name.span, "2. names no `--status` that leads on");
    if let Some(forbidden) = reading.commands.iter().find(|it| it.mood == Mood::Negated) {
        found = found.label(forbidden.span, "3. only what it must not set");
    }
    found.help(format!("say what to run at the end: {}", lines(facts, start.place, &ways)))
}

/// Whether an agent has nothing more to do where its last command has led it, and nobody else has: no person is waited for,
/// the other agent is not told to move the task on, and no command that it was told before leads on.
fn is_alone(facts: &Facts<'_>, it: &Prompted<'_>, left: &Left) -> bool {
    let AgentInState { state, actor } = left.place;
    let later = it.reading.commands[left.last + 1..].iter().filter(|it| it.mood != Mood::Negated);
    let is_told = |target: &Target| match target {
        Target::State(to) => left.place.may_request(facts.machine, *to),
        Target::Open => true,
        Target::Unknown => false,
    };
    let by_other = facts.machine.targets(state).any(|to| facts.prompt_facts.other_asks(actor, state, to));
    !facts.waits(state)
        && !by_other
        && !later.filter(|it| it.concerns(state)).any(|it| is_told(&it.target))
        && !ways(facts, left.place).is_empty()
}

fn alone(facts: &Facts<'_>, it: &Prompted<'_>, left: &Left) -> Diagnostic {
    let (name, state, last) = (it.name, facts.name(left.place.state), it.reading.commands[left.last].span);
    let ways = ways(facts, left.place);
    let named = names(facts, ways.iter().copied());
    let message = format!(
        "`{name}` leads its agent to `{state}` and never tells it which status to set there: it could set {}",
        any_of(&named)
    );
    let (place, words) = started(facts, it, &left.start);
    Diagnostic::new(&C82, last, message)
        .label(place, format!("1. {words}"))
        .label(last, format!("2. the same agent goes on in `{state}`, and is told no more"))
        .help(format!(
            "say what it does there, and what to run at the end: {}",
            lines(facts, left.place, &ways)
        ))
}

/// The commands for ways, each with what its gate wants first.
fn lines(facts: &Facts<'_>, place: AgentInState, ways: &[StateId]) -> String {
    ways.iter().map(|to| line(facts, place, *to)).collect::<Vec<_>>().join("; ")
}

fn line(facts: &Facts<'_>, place: AgentInState, to: StateId) -> String {
    let command = format!("`orange task update --status {}`", facts.name(to));
    let gate = facts.machine.between(place.state, to).find_map(|id| facts.machine.transition(id).gate);
    match gate.map(|gate| (gate.section, gate.verdict.map(Verdict::as_str))) {
        Some((section, Some(verdict))) => format!("{command} when {section} says {verdict}"),
        Some((section, None)) => format!("{command} when {section} is written"),
        None => command,
    }
}
