//! D02: a transition is gone that the prompt of a running agent names or a declared actor asks for, or that was the last one out of a
//! state.

use std::collections::{BTreeSet, HashMap};

use super::both::{Both, TransitionPair, label};
use super::{ChangeFinding, D02, Side};
use crate::lint::Facts;
use orange_codegen::diag::{Diagnostic, Label};
use orange_codegen::model::{Actor, StateId, Transition};
use orange_codegen::span::Span;

/// Places in prompts that a message still points at.
const MAX_LABELS: usize = 4;

/// Loss that comes with a removed transition.
pub(super) enum Loss {
    /// Prompts tell agents to take it, here.
    Named(Vec<Span>),
    /// Programs ask for it as these declared actors.
    Asked(Vec<String>),
    /// Nothing else leads on.
    Last,
}

pub(super) fn find(both: &Both<'_>) -> Vec<ChangeFinding> {
    losses(both).into_iter().map(|(pair, loss)| change(both, &pair, &loss)).collect()
}

/// The transitions that are gone, or closed to agents whose prompts name them. A state that has become terminal has lost
/// all of them for that reason.
pub(super) fn losses<'b>(both: &Both<'b>) -> Vec<(TransitionPair<'b>, Loss)> {
    let asked = asked(both);
    let losses = both.pairs().filter_map(|pair| {
        let (from, to) = (pair.old[0].from.value, pair.old[0].to.value);
        let new = both.state(from)?;
        if both.new.state(new).terminal || !both.may_be_in(from) {
            return None;
        }
        let asked = asked.get(&(from, to)).into_iter().flatten();
        let mut named: Vec<Span> =
            asked.filter(|(actor, _)| !allows(&pair.new, *actor)).map(|(_, span)| *span).collect();
        named.sort_unstable();
        named.dedup();
        if !named.is_empty() {
            Some((pair, Loss::Named(named)))
        } else if let refused @ [_, ..] = &refused(both, &pair)[..] {
            Some((pair, Loss::Asked(refused.to_vec())))
        } else if pair.new.is_empty() && both.new.leaving(new).next().is_none() {
            Some((pair, Loss::Last))
        } else {
            None
        }
    });
    losses.collect()
}

/// By the ends of an old transition: which agents may ask for it and have a prompt that names it, and where.
fn asked(both: &Both<'_>) -> HashMap<(StateId, StateId), Vec<(Actor, Span)>> {
    let mut asked: HashMap<_, Vec<_>> = HashMap::new();
    let prompt_facts = &both.old.prompt_facts;
    for (reading, runs) in prompt_facts.readings.iter().zip(&prompt_facts.runs) {
        for (command, to) in reading.targets() {
            for place in runs.iter().flatten().filter(|it| it.may_request(both.old.machine, to)) {
                asked.entry((place.state, to)).or_default().push((place.actor, command.span));
            }
        }
    }
    asked
}

fn allows(transitions: &[&Transition], actor: Actor) -> bool {
    transitions.iter().any(|it| it.by.allows(actor))
}

/// The declared actors that could ask, and may not any more, by name. A new actor has a token of its own.
fn refused(both: &Both<'_>, pair: &TransitionPair<'_>) -> Vec<String> {
    let names = |facts: &Facts<'_>, transitions: &[&Transition]| -> BTreeSet<String> {
        let all = transitions.iter().flat_map(|it| it.by.declared());
        all.map(|it| facts.machine.actor_name(it).to_owned()).collect()
    };
    let new = names(both.new, &pair.new);
    names(both.old, &pair.old).into_iter().filter(|it| !new.contains(it)).collect()
}

fn change(both: &Both<'_>, pair: &TransitionPair<'_>, loss: &Loss) -> ChangeFinding {
    let old = pair.old[0];
    let arrow = both.old.arrow(old);
    let place = both.old.first_line(old.span);
    let lost = if pair.new.is_empty() { "is gone" } else { "is closed to agents" };
    let counterpart = counterpart(both, pair);
    match loss {
        Loss::Named(named) => {
            let message = format!("{arrow} {lost}, and the prompts of running agents name it");
            let finding = Diagnostic::new(&D02, place, message).label(place, format!("this {lost}"));
            let finding = named
                .iter()
                .take(MAX_LABELS)
                .fold(finding, |finding, span| finding.label(*span, "the prompt names it"));
            let help = "keep it until no agent is running that was started before, or end those agents and start them \
                        again: `orange task respawn` gives them the new prompts";
            ChangeFinding::on(Side::Old, finding.help(help)).beside(counterpart)
        }
        Loss::Asked(actors) => {
            let actors = actors.join("` and `");
            let lost = if pair.new.is_empty() { lost.to_owned() } else { format!("is closed to `{actors}`") };
            let message = format!("{arrow} {lost}, and programs ask for it as `{actors}`");
            let finding = Diagnostic::new(&D02, place, message).label(place, format!("this {lost}")).help(
                "keep the actor in `by` until no program asks with its token, or give the program a token of an actor that may ask: \
                 `orange project token`",
            );
            ChangeFinding::on(Side::Old, finding).beside(counterpart)
        }
        Loss::Last => {
            let from = both.old.name(old.from.value);
            let message = format!("{arrow} is gone, and nothing else leads on from `{from}`");
            let finding = Diagnostic::new(&D02, place, message)
                .label(place, "the transition that is gone")
                .help(format!("keep a transition out of `{from}` for the tasks that are there"));
            ChangeFinding::on(Side::Old, finding).beside(counterpart)
        }
    }
}

fn counterpart(both: &Both<'_>, pair: &TransitionPair<'_>) -> Option<Label> {
    let from: StateId = both.state(pair.old[0].from.value)?;
    match pair.new.first() {
        Some(new) => {
            let by: Vec<&str> = new.by.iter().map(|it| both.new.machine.actor_name(it)).collect();
            label(both.new.first_line(new.span), format!("for {} alone", by.join(" and ")))
        }
        None => label(both.new.state(from).name.span, "no such transition from here"),
    }
}
