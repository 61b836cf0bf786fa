//! C05: agents and the engine can lead a task round for ever, and nobody is asked.

use std::collections::BTreeSet;

use orange_core::{CRASH_COUNT, CounterId, Hook, TransitionId};

use super::C05;
use super::reasons::counters;
use crate::lint::Facts;
use crate::lint::unattended::{Lasso, Unattended, starts};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let loops = Unattended::within_budget(facts).loops();
    let is_crowded = |lasso: &&Lasso| lasso.turn.iter().any(|id| facts.is_crowded(facts.search.edge(*id)));
    loops.iter().filter(|it| !is_crowded(it)).filter_map(|lasso| finding(facts, lasso)).collect()
}

fn finding(facts: &Facts<'_>, lasso: &Lasso) -> Option<Diagnostic> {
    let transitions = transitions(facts, lasso);
    let first = facts.transition(*transitions.first()?);
    let why = why(facts, &transitions)?;
    let mut states: Vec<&str> = vec![facts.name(first.from.value)];
    states.extend(transitions.iter().map(|id| facts.name(facts.transition(*id).to.value)));
    let round = states.join(" → ");
    let message = format!("agents and the engine can go round for ever, `{round}`: {}", why.words);
    let edges = lasso.turn.iter().map(|id| facts.search.edge(*id));
    let agents: u64 = edges.map(|edge| starts(facts, edge)).sum();
    let run: Vec<_> = lasso.run.iter().chain(&lasso.turn).copied().collect();
    let end = format!("and so on; {}", agents_started(agents));
    let found = Diagnostic::new(&C05, facts.first_line(first.span), message);
    let found = (1..).zip(&transitions).fold(found, |found, (number, id)| {
        let transition = facts.transition(*id);
        found.label(facts.first_line(transition.span), format!("{number}. {}", facts.arrow(transition)))
    });
    Some(found.trace(facts.tell_loop(&run, lasso.turn.len(), end)).help(why.help))
}

fn agents_started(agents: u64) -> String {
    match agents {
        0 => "no agent is started in a turn".to_owned(),
        1 => "1 agent is started in every turn".to_owned(),
        many => format!("{many} agents are started in every turn"),
    }
}

/// The transitions of one turn, in order.
fn transitions(facts: &Facts<'_>, lasso: &Lasso) -> Vec<TransitionId> {
    lasso.turn.iter().filter_map(|id| facts.search.edge(*id).step.transition()).collect()
}

/// Reason why nothing ends the loop.
struct Why {
    words: String,
    help: String,
}

/// `None` where a guard in the loop compares a counter that no hook counts: another check reports that.
fn why(facts: &Facts<'_>, transitions: &[TransitionId]) -> Option<Why> {
    let rising: BTreeSet<CounterId> = rising(facts, transitions).collect();
    let read: BTreeSet<CounterId> = transitions.iter().flat_map(|id| counters(facts, *id)).collect();
    let name = |id: &CounterId| facts.workflow.counters[usize::from(id.0)].name.as_str();
    if read.iter().any(|it| facts.search.counters.slot(*it).is_none()) {
        return None;
    }
    if let Some(why) = read.iter().find_map(|id| set_back(facts, transitions, *id)) {
        return Some(why);
    }
    let (words, counter) = match (read.first(), rising.first()) {
        (Some(read), _) if rising.contains(read) => {
            (format!("the guards on it hold however far `{}` rises", name(read)), Some(name(read)))
        }
        (Some(&CRASH_COUNT), _) => ("every transition sets `crash_count` back to 0".to_owned(), None),
        (Some(read), _) => (format!("`{}` does not rise on it", name(read)), Some(name(read))),
        (None, Some(rising)) => {
            (format!("`{}` rises, and no guard on it compares that", name(rising)), Some(name(rising)))
        }
        (None, None) => ("nothing on it counts the turns".to_owned(), None),
    };
    Some(Why { words, help: help(facts, transitions, counter) })
}

/// The loop sets its own bound back.
fn set_back(facts: &Facts<'_>, transitions: &[TransitionId], counter: CounterId) -> Option<Why> {
    let resets = |id: &&TransitionId| {
        facts.machine.transition(**id).hooks.iter().any(|hook| hook.resets() == Some(counter))
    };
    let arrow = facts.arrow(facts.transition(*transitions.iter().find(resets)?));
    let name = &facts.workflow.counters[usize::from(counter.0)].name;
    Some(Why {
        words: format!("{arrow} sets `{name}` back"),
        help: format!(
            "delete that `reset` of `{name}`, or let nobody but a person take {arrow}: `by: human`"
        ),
    })
}

fn rising(facts: &Facts<'_>, transitions: &[TransitionId]) -> impl Iterator<Item = CounterId> {
    let hooks = transitions.iter().flat_map(|id| facts.machine.transition(*id).hooks);
    hooks.filter_map(Hook::raises).filter(|it| *it != CRASH_COUNT)
}

fn help(facts: &Facts<'_>, transitions: &[TransitionId], counter: Option<&str>) -> String {
    let counter = counter.unwrap_or("review_round");
    let arrow = |id: Option<&TransitionId>| id.map_or(String::new(), |id| facts.arrow(facts.transition(*id)));
    format!(
        "count the turns, `increment: {counter}` on {}, let {} ask for fewer, `when: \"{counter} < 2\"`, and lead \
         the others to a person; or let nobody but a person take one of them: `by: human`",
        arrow(transitions.first()),
        arrow(transitions.last()),
    )
}
