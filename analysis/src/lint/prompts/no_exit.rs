//! C82: a prompt has no command that leads its agent on: none at all, none where its commands have led it, or none for what it may
//! write.

use std::collections::BTreeSet;

use orange_core::{Actor, Gate, SectionGate, Transition, TransitionId, Verdict};

use super::C82;
use super::shared::{InstructionOrigin, Prompted, any_of, names, prompt, prompts, started};
use super::unnamed::unnamed;
use crate::lint::Facts;
use crate::lint::prompt_facts::{AgentInState, PromptStart, StatusTarget, Walker, survives};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::StateId;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let commands = facts.commands();
    let unknown =
        prompts(facts).filter(|it| !it.reading.unknown.is_empty()).map(|it| InstructionOrigin::Prompt(it.id));
    let refused: BTreeSet<InstructionOrigin> =
        commands.refused.iter().map(|it| it.by).chain(unknown).collect();
    let mut walker = Walker::new(facts.machine);
    let mut reported = BTreeSet::new();
    let mut found = Vec::new();
    // Of a command that the engine refuses, or that is none, the finding says so.
    for granted in
        commands.granted.iter().rev().filter(|it| !refused.contains(&InstructionOrigin::Prompt(it.prompt)))
    {
        let it = prompt(facts, granted.prompt);
        let (Some(start), Some(place)) = (it.starts.first(), granted.to) else { continue };
        let missing = missing(facts, &it, place);
        let is_alone = !facts.waits(place.state) && !missing.is_empty() && !reported.contains(&it.id);
        if is_alone && stays(facts, &it, place, &mut walker) {
            reported.insert(it.id);
            found.push(alone(facts, &it, start, (granted.command, place), &missing));
        }
    }
    for it in prompts(facts).filter(|it| !refused.contains(&InstructionOrigin::Prompt(it.id))) {
        // Where only some starts lack a command, `respawn-branch-missing` says so.
        let mut starts = it.starts.iter().filter(|start| !targets(facts, start.place).is_empty()).peekable();
        let Some(first) = starts.peek().copied() else { continue };
        let missing = missing(facts, &it, first.place);
        let is_silent = !missing.is_empty() && reported.insert(it.id);
        if is_silent && starts.all(|start| stays(facts, &it, start.place, &mut walker)) {
            found.push(silent(facts, &it, first, &missing));
        }
    }
    found.extend(unnamed(facts));
    found
}

/// True if an agent runs on from here whatever follows: neither a command of its prompt ends its work, nor do the others to whom
/// its commands lead, which are the other agent and a person who is waited for. To give up, or to ask a person and go on, ends
/// nothing.
fn stays(facts: &Facts<'_>, it: &Prompted<'_>, place: AgentInState, walker: &mut Walker<'_>) -> bool {
    let machine = facts.machine;
    let is_open = it.reading.commands.iter().any(|it| !matches!(it.target, StatusTarget::State(_)));
    if is_open || targets(facts, place).is_empty() {
        return false;
    }
    let named: BTreeSet<StateId> = it.reading.targets().map(|(_, to)| to).collect();
    let gives_up = [machine.commands.crash, machine.commands.cancel];
    let takes = |by: Actor, id: TransitionId| {
        let Transition { from, to, by: allowed, .. } = *machine.transition(id);
        let by_person = from != place.state && facts.waits(from) && allowed.allows(Actor::Human);
        let by_command = named.contains(&to) && allowed.allows(by);
        let by_other = facts.prompt_facts.others_name(by, from, to);
        !gives_up.contains(&Some(to)) && (by_command || by_person || by_other)
    };
    let Some(states) = walker.closure([place].into_iter(), takes) else { return false };
    let mut leaving = states.iter().flat_map(|it| facts.leaving(it.state));
    !leaving.any(|(id, _)| takes(place.actor, id) && !survives(machine, id, place.actor))
}

/// The states that the agent could ask for: not the one that gives the task up.
fn targets(facts: &Facts<'_>, place: AgentInState) -> Vec<StateId> {
    let cancel = facts.machine.commands.cancel;
    let targets = facts.machine.targets(place.state).filter(|to| Some(*to) != cancel);
    targets.filter(|to| place.may_request(facts.machine, *to)).collect()
}

/// The targets that the prompt does not name yet; none where no other command of these leads on.
fn missing(facts: &Facts<'_>, it: &Prompted<'_>, place: AgentInState) -> Vec<StateId> {
    let named: BTreeSet<StateId> = it.reading.targets().map(|(_, to)| to).collect();
    let missing: Vec<StateId> =
        targets(facts, place).into_iter().filter(|target| !named.contains(target)).collect();
    let leads_on = missing.iter().any(|to| facts.machine.commands.crash != Some(*to));
    if leads_on { missing } else { Vec::new() }
}

fn silent(facts: &Facts<'_>, it: &Prompted<'_>, start: &PromptStart, targets: &[StateId]) -> Diagnostic {
    let Prompted { name, prompt, .. } = it;
    let state = facts.name(start.place.state);
    let named = names(facts, targets.iter().copied());
    let message = format!(
        "`{name}` has no command `orange task update --status …` that leads on: from `{state}` it could be {}",
        any_of(&named)
    );
    let (place, words) = started(facts, it, start);
    Diagnostic::new(&C82, prompt.name.span, message)
        .label(place, format!("1. {words}"))
        .label(prompt.name.span, "2. names no command that leads on")
        .help(format!("write what to run at the end: {}", lines(facts, start.place, targets)))
}

fn alone(
    facts: &Facts<'_>,
    it: &Prompted<'_>,
    start: &PromptStart,
    (command, left): (usize, AgentInState),
    targets: &[StateId],
) -> Diagnostic {
    let (name, state, last) = (it.name, facts.name(left.state), it.reading.commands[command].span);
    let named = names(facts, targets.iter().copied());
    let message = format!(
        "`{name}` leads its agent to `{state}` and has no command that leads on from there: it could be {}",
        any_of(&named)
    );
    let (place, words) = started(facts, it, start);
    Diagnostic::new(&C82, last, message)
        .label(place, format!("1. {words}"))
        .label(last, format!("2. the same agent goes on in `{state}`, and has no command there"))
        .help(format!(
            "write what it does there, and what to run at the end: {}",
            lines(facts, left, targets)
        ))
}

/// The commands for states, each with what its gate wants first.
fn lines(facts: &Facts<'_>, place: AgentInState, targets: &[StateId]) -> String {
    targets.iter().map(|to| line(facts, place, *to)).collect::<Vec<_>>().join("; ")
}

fn line(facts: &Facts<'_>, place: AgentInState, to: StateId) -> String {
    let command = format!("`orange task update --status {}`", facts.name(to));
    let transitions = facts.machine.between(place.state, to).map(|id| facts.machine.transition(id));
    let gates = transitions.map(|it| it.gates).find(|gates| gates.iter().any(|it| !it.sections().is_empty()));
    let words = |gate: &SectionGate<'_>| {
        let wanted: Vec<&str> = gate.wanted().map(Verdict::as_str).collect();
        match gate.asks_for_verdict() {
            true => format!("{} says {}", gate.section, wanted.join(" or ")),
            false => format!("{} is written", gate.section),
        }
    };
    let any = |gate: &Gate<'_>| gate.sections().iter().map(words).collect::<Vec<_>>().join(" or ");
    let words: Vec<String> = gates.into_iter().flatten().map(any).filter(|it| !it.is_empty()).collect();
    if words.is_empty() { command } else { format!("{command} when {}", words.join(" and ")) }
}
