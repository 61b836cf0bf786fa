//! C82: a prompt never tells its agent which status to set.

use super::C82;
use super::shared::{Prompted, any_of, names, prompts, started};
use crate::diag::Diagnostic;
use crate::lint::Facts;
use crate::lint::told::{Mood, Start};
use crate::model::{Outcome, StateId};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let advances = advances(facts);
    let silent = prompts(facts).filter(|it| !it.reading.names_a_command());
    let found = silent.filter_map(|it| {
        let start = it.starts.iter().find(|start| {
            let by_itself = advances[usize::from(start.place.state.0)] && it.reading.ends;
            !by_itself && !ways(facts, start).is_empty()
        })?;
        Some(finding(facts, &it, start))
    });
    found.collect()
}

/// By state: whether an exit rule leads on when the agent has ended.
fn advances(facts: &Facts<'_>) -> Vec<bool> {
    let mut advances = vec![false; facts.machine.states.len()];
    for rule in &facts.exit_rules {
        advances[usize::from(rule.status.value.0)] |= match rule.outcome {
            Outcome::Then(_) | Outcome::ThenWhen(_) => true,
            Outcome::Crash { .. } | Outcome::MarkDead => false,
        };
    }
    advances
}

/// The states that the agent could ask for; to give a task up is not its way, and where a person is waited for none is.
fn ways(facts: &Facts<'_>, start: &Start) -> Vec<StateId> {
    let place = start.place;
    if facts.state(place.state).wait.is_some() {
        return Vec::new();
    }
    let cancel = facts.machine.commands.cancel;
    let targets = facts.machine.targets(place.state).filter(|to| Some(*to) != cancel);
    targets.filter(|to| place.may(facts.machine, *to)).collect()
}

fn finding(facts: &Facts<'_>, it: &Prompted<'_>, start: &Start) -> Diagnostic {
    let Prompted { name, prompt, reading, .. } = it;
    let ways = ways(facts, start);
    let named = names(facts, ways.iter().copied());
    let state = facts.name(start.place.state);
    let message = format!(
        "`{name}` never tells its agent which status to set: from `{state}` it could set {}",
        any_of(&named)
    );
    let (place, words) = started(facts, it, start);
    let mut found = Diagnostic::new(&C82, prompt.name.span, message)
        .label(place, format!("1. {words}"))
        .label(prompt.name.span, "2. names no `--status` for it to set");
    if let Some(forbidden) = reading.commands.iter().find(|it| it.mood == Mood::Negated) {
        found = found.label(forbidden.span, "3. only what it must not set");
    }
    let lines = ways.iter().map(|to| line(facts, start, *to)).collect::<Vec<_>>().join("; ");
    found.help(format!("say what to run at the end: {lines}"))
}

/// The command for a way, with what its gate wants first.
fn line(facts: &Facts<'_>, start: &Start, to: StateId) -> String {
    let command = format!("`orange task update --status {}`", facts.name(to));
    let gate = facts.machine.between(start.place.state, to).find_map(|id| facts.transition(id).gate.as_ref());
    match gate.map(|gate| (&gate.section.value, &gate.verdict)) {
        Some((section, Some(verdict))) => format!("{command} when {section} says {}", verdict.value),
        Some((section, None)) => format!("{command} when {section} is written"),
        None => command,
    }
}
