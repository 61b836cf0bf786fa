//! C6D: a worker has to build and commit, and gets permissions with which it cannot.

use std::collections::BTreeSet;

use orange_core::{Actor, Hook, Permissions, Transition, TransitionId};

use super::C6D;
use super::places::numbered;
use crate::lint::Facts;
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
        let is_judged = it.section_gates().any(|gate| gate.verdict.is_some());
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
