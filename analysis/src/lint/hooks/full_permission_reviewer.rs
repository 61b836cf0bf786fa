//! C6C: the agent that writes the verdict may change what it judges.

use std::collections::BTreeSet;

use orange_core::{Hook, Permissions, Transition, TransitionId};

use super::C6C;
use super::places::numbered;
use crate::lint::steps::each;
use crate::lint::{Facts, StepFacts};
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::model::{Step, WorktreeUse};
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (id, transition) in (0..).map(TransitionId).zip(facts.machine.transitions) {
        let judge = transition.hooks.iter().rposition(|it| is_full_judge(facts, transition, it));
        if let Some(at) = judge.filter(|_| seen.insert(facts.transition(id).declaration)) {
            found.extend(finding(facts, id, at));
        }
    }
    found
}

/// The steps that review with full permissions.
pub(super) fn find_in_steps(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    // What a step changes that only reads makes the mission pause.
    let writes = |it: &Step| it.worktree.value != WorktreeUse::Read;
    let full = facts.all().filter(|(_, it)| it.permissions == Permissions::Full && writes(it));
    each(full.filter(|(id, _)| facts.is_reviewer(*id)), |(_, step)| {
        let (name, place) = (&step.id.value, step.id.span);
        let found = Diagnostic::new(&C6C, place, format!("`{name}` reviews with full permissions"))
            .label(place, "may change the code that it judges");
        Some(found.help(format!("write `permissions = \"reduced\"` in `{name}`: without it, they are full")))
    })
}

/// True if it starts the agent of the state that the transition leads to, with full permissions. Whether that one judges is asked
/// when there is such a state.
fn is_full_judge(facts: &Facts<'_>, transition: &Transition<'_>, hook: &Hook<'_>) -> bool {
    let agent = facts.machine.state(transition.to).agent;
    hook.spawn().is_some_and(|it| it.permissions == Permissions::Full && it.actor() == agent)
}

fn finding(facts: &Facts<'_>, id: TransitionId, at: usize) -> Option<Diagnostic> {
    let transition = facts.transition(id);
    let mut gates = facts.leaving(transition.to.value).flat_map(|(_, it)| it.section_gates());
    let (gate, verdict) = gates.find_map(|gate| Some((gate, gate.verdict_place()?)))?;
    let prompt = facts.machine.transition(id).hooks[at].spawn()?.prompt;
    let prompt = facts.machine.prompt(prompt).name;
    let hook = transition.hooks[at].span;
    let place = facts.first_line(hook);
    let message = format!(
        "{} gives `{prompt}`, which writes the verdict in `{}`, full permissions",
        facts.arrow(transition),
        gate.section.value
    );
    let story = vec![
        (place, "may change the code that it judges".to_owned()),
        (verdict, "goes by its verdict".to_owned()),
    ];
    let found = numbered(Diagnostic::new(&C6C, place, message), story);
    Some(found.help("write `permissions: reduced` in this hook").fix_if(fix(facts, hook)))
}

fn fix(facts: &Facts<'_>, hook: Span) -> Option<Fix> {
    const KEY: &str = "permissions: full";
    let at = hook.start as usize + facts.source.text.get(hook.range())?.find(KEY)?;
    let word = Span::new((at + KEY.len() - "full".len()) as u32, (at + KEY.len()) as u32);
    let fix = edit::replace_word(&facts.source.text, word, "full", "reduced")?;
    Some(Fix { safe: false, ..fix })
}
