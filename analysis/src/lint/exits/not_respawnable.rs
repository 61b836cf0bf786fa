//! C4A: an agent's end leaves a task in a state where it cannot be started again, and which it needs an agent to leave.

use orange_core::{Actor, StateId};

use super::C4A;
use super::text::any_of;
use crate::lint::{ActorKind, Facts};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Outcome, Transition};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let ruled = facts.exit_cases().iter().map(|it| it.state);
    ruled.filter_map(|state| of_state(facts, state)).collect()
}

fn of_state(facts: &Facts<'_>, id: StateId) -> Option<Diagnostic> {
    let (state, agent) = (facts.state(id), facts.machine.state(id).agent);
    if state.respawn_prompt.is_some() {
        return None;
    }
    let is_helped = facts.leaving(id).any(|(at, it)| helps(facts, it, facts.actor_kinds[at.0 as usize]));
    let (rule, edge) = facts.machine.exit_rules_of(id).find_map(|at| {
        let is_wrong = match facts.exit_rules[at].outcome {
            // Without a prompt, a wait is an error.
            Outcome::Then(_) | Outcome::ThenWhen(_) | Outcome::Wait { .. } => false,
            // It asks for what there is not, whatever else there is.
            Outcome::Crash { respawn, .. } => respawn || !is_helped,
            Outcome::MarkDead => !is_helped,
        };
        Some((facts.exit_rules[at], facts.lives().decided(at).filter(|_| is_wrong)?))
    })?;
    let name = &state.name.value;
    let transitions = if is_helped { String::new() } else { leaving(facts, id) };
    let message = format!("a {agent} that ends in `{name}` cannot be started again there{transitions}");
    let respawns = matches!(rule.outcome, Outcome::Crash { respawn: true, .. });
    let stays =
        if respawns { "1. cannot start it again" } else { "1. leaves it at that, for a person to look at" };
    let rule = facts.first_line(rule.span);
    Some(
        Diagnostic::new(&C4A, rule, message)
            .label(rule, stays)
            .label(state.name.span, "2. has no `respawn_prompt`, so `orange task respawn` refuses")
            .trace(facts.tell(&facts.search.run_through(edge), format!("a dead {agent}")))
            .help(format!("add `respawn_prompt: {}` to the state", prompt(facts, id, agent))),
    )
}

/// True if a transition starts an agent, or leads a person's task to a good end.
fn helps(facts: &Facts<'_>, transition: &Transition, actor_kind: ActorKind) -> bool {
    let to = transition.to.value;
    let is_good_end = facts.state(to).terminal && facts.workflow.commands.cancel != Some(to);
    transition.hooks.iter().any(|hook| hook.spawn.is_some())
        || (is_good_end && actor_kind == ActorKind::Person)
}

fn leaving(facts: &Facts<'_>, id: StateId) -> String {
    let mut names: Vec<String> =
        facts.leaving(id).map(|(_, it)| format!("`{}`", facts.name(it.to.value))).collect();
    names.dedup();
    if names.is_empty() {
        String::new()
    } else {
        format!(", and no transition from there (to {}) starts one", any_of(names))
    }
}

/// The prompt that an agent of this kind runs with in a state, the one that it is first started with there before others.
fn prompt<'f>(facts: &Facts<'f>, id: StateId, agent: Actor) -> &'f str {
    let spawned = facts.machine.transitions.iter().filter(|it| it.to == id).flat_map(|it| it.hooks);
    let into = spawned.filter_map(|it| it.spawn()).find(|it| it.actor() == agent).map(|it| it.prompt);
    let running = facts.prompt_facts.prompt_in(id).map(|it| usize::from(it.0));
    let prompt = into.map(|it| usize::from(it.0)).or(running);
    prompt.map_or("PROMPT", |at| facts.workflow.prompts[at].name.value.as_str())
}
