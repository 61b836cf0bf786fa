//! C6D: a worker has to build and commit, and gets permissions with which it cannot.

use std::collections::BTreeSet;

use orange_core::{Actor, Hook, Permissions, Transition, TransitionId};

use super::C6D;
use super::places::numbered;
use crate::lint::steps::each;
use crate::lint::{Facts, StepFacts};
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (id, transition) in (0..).map(TransitionId).zip(facts.machine.transitions) {
        let worker = transition.hooks.iter().rposition(|it| is_reduced_worker(facts, transition, it));
        if let Some(at) = worker.filter(|_| seen.insert(facts.transition(id).declaration)) {
            found.extend(finding(facts, id, at));
        }
    }
    found
}

/// The steps of workers with reduced permissions whose work a review judges, or that are to correct what it found.
pub(super) fn find_in_steps(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    let reduced = facts.all().filter(|(_, it)| it.permissions == Permissions::Reduced);
    let workers = reduced.filter(|(id, _)| facts.has_role(*id, "worker") && !facts.is_reviewer(*id));
    each(workers, |(id, step)| {
        let reviewers = facts.all().filter(|(id, _)| facts.is_reviewer(*id));
        let mut edges = reviewers.flat_map(|(_, it)| it.depends_on.iter().map(move |on| (it, on)));
        let judged = edges.find(|(_, on)| on.value == id).map(|(it, on)| (&it.id.value, on.span));
        let sent = step.requeue.first().map(|it| facts.name(it.value));
        let (name, place) = (&step.id.value, step.id.span);
        let (message, second) = match (judged, sent) {
            (Some((judge, span)), _) => (
                format!("`{name}` has reduced permissions for the work that `{judge}` judges"),
                Some((span, "waits for the result of its work".to_owned())),
            ),
            (None, Some(sent)) => (
                format!("`{name}` has reduced permissions, and corrects what `{sent}` then looks at again"),
                None,
            ),
            (None, None) => return None,
        };
        let first = (place, "cannot commit in a sandbox, or is asked before each command".to_owned());
        let story = std::iter::once(first).chain(second).collect();
        let found = numbered(Diagnostic::new(&C6D, place, message), story);
        Some(found.help(format!("delete `permissions` in `{name}`: without it, they are full")))
    })
}

/// True if it starts the worker of the state that the transition leads to, with reduced permissions.
fn is_reduced_worker(facts: &Facts<'_>, transition: &Transition<'_>, hook: &Hook<'_>) -> bool {
    let agent = facts.machine.state(transition.to).agent;
    let is_worker = |it: &orange_core::Spawn| it.actor() == Actor::Worker && agent == Actor::Worker;
    hook.spawn().is_some_and(|it| it.permissions == Permissions::Reduced && is_worker(it))
}

/// Only work has a result that a gate asks for. One who writes a plan or asks questions can do so with less.
fn finding(facts: &Facts<'_>, id: TransitionId, at: usize) -> Option<Diagnostic> {
    let transition = facts.transition(id);
    let mut leaving = facts.leaving(transition.to.value);
    let gate = leaving.find_map(|(id, it)| {
        let leads_on = facts.machine.state(facts.machine.transition(id).to).agent != Actor::Worker;
        let is_judged = it.section_gates().any(|gate| gate.asks_for_verdict());
        it.section_gates().next().filter(|_| leads_on && !is_judged)
    })?;
    let prompt = facts.machine.transition(id).hooks[at].spawn()?.prompt;
    let prompt = facts.machine.prompt(prompt).name;
    let hook = transition.hooks[at].span;
    let place = facts.first_line(hook);
    let message = format!(
        "{} gives `{prompt}`, which works until there is `{}`, reduced permissions",
        facts.arrow(transition),
        gate.section.value
    );
    let story = vec![
        (place, "cannot commit in a sandbox, or is asked before each command".to_owned()),
        (gate.section.span, "asks for the result of its work".to_owned()),
    ];
    let found = numbered(Diagnostic::new(&C6D, place, message), story);
    Some(found.help("write `permissions: full` in this hook").fix_if(fix(facts, hook)))
}

fn fix(facts: &Facts<'_>, hook: Span) -> Option<Fix> {
    const KEY: &str = "permissions: reduced";
    let at = hook.start as usize + facts.source.text.get(hook.range())?.find(KEY)?;
    let word = Span::new((at + KEY.len() - "reduced".len()) as u32, (at + KEY.len()) as u32);
    let fix = edit::replace_word(&facts.source.text, word, "reduced", "full")?;
    Some(Fix { safe: false, ..fix })
}
