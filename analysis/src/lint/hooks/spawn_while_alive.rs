//! C62: an agent is started while another one may still be alive in the same worktree.

use std::collections::BTreeSet;

use orange_core::{Action, Actor, Hook, StateId};

use super::C62;
use super::hook_order::is_misplaced;
use super::places::{Raised, numbered, put_before, raised};
use crate::lint::Facts;
use crate::search::task::Event;
use crate::search::{Edge, EdgeId, OWN_HOOK};
use orange_codegen::diag::Diagnostic;
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let is_such = |event| matches!(event, Event::SpawnWhileAlive(_));
    if !facts.search.happens(is_such) {
        return Vec::new();
    }
    let hooks = raised(
        facts,
        is_such,
        |edge, index, event| matches!(event, Event::SpawnWhileAlive(alive) if facts.crowds(edge, index, alive)),
    );
    let mut reported: BTreeSet<StateId> = hooks.iter().map(|it| facts.machine.transition(it.id).to).collect();
    let hooks = hooks.iter().filter(|it| !is_misplaced(facts, it));
    let mut found: Vec<_> = hooks.filter_map(|it| by_transition(facts, it)).collect();
    // Where a finding names a transition into a state already, starting its agent again is the same fault.
    for (id, edge) in facts.search.edges() {
        let before = facts.search.task(edge.from);
        let own =
            facts.second_agents(edge).find(|(index, _)| *index == OWN_HOOK && before.workspace.is_some());
        if let Some((_, alive)) = own
            && !reported.contains(&before.status)
            && !facts.is_meant_beside(edge, alive)
        {
            reported.insert(before.status);
            found.extend(by_respawn(facts, (id, edge), before.status, alive));
        }
    }
    found
}

/// An agent that is started while this one is alive.
struct Second<'f> {
    edge: EdgeId,
    /// Transition or state that starts it, in words; `span` is the place in the source.
    starts: String,
    span: Span,
    hook: &'f Hook<'f>,
    alive: Actor,
}

fn by_transition(facts: &Facts<'_>, it: &Raised<'_>) -> Option<Diagnostic> {
    let Event::SpawnWhileAlive(alive) = it.event else { return None };
    let hook = &facts.machine.transition(it.id).hooks[usize::from(it.index)];
    let kill = kill(hook, alive);
    let second = Second {
        edge: it.edge,
        starts: facts.arrow(facts.transition(it.id)),
        span: facts.first_line(it.hook.span),
        hook,
        alive,
    };
    let help = format!("put `- action: {kill}` before this hook, or end the {alive} before this transition");
    Some(finding(facts, &second)?.help(help).fix_if(put_before(facts, it.hook, kill)))
}

fn by_respawn(
    facts: &Facts<'_>,
    (id, edge): (EdgeId, &Edge),
    status: StateId,
    alive: Actor,
) -> Option<Diagnostic> {
    let hook = facts.machine.state(status).respawn.as_ref()?;
    let second = Second {
        edge: id,
        starts: format!("a respawn in `{}`", facts.name(status)),
        span: facts.state(status).respawn_prompt.as_ref()?.span,
        hook,
        alive,
    };
    let run = facts.search.run_to(edge.from);
    let entered = run.iter().rev().find_map(|it| facts.search.edge(*it).step.transition());
    let arrow_before = entered
        .map(|it| format!(": `- action: {}` in {}", kill(hook, alive), facts.arrow(facts.transition(it))));
    let help = format!("end the {alive} before this transition{}", arrow_before.unwrap_or_default());
    Some(finding(facts, &second)?.help(help))
}

fn finding(facts: &Facts<'_>, second: &Second<'_>) -> Option<Diagnostic> {
    let Second { starts, span, alive, .. } = second;
    let spawn = second.hook.spawn()?;
    // The engine never starts a second agent of one actor.
    let (message, end) = match spawn.actor() == *alive {
        true => (
            format!("{starts} starts a second {alive} while the first may still be alive in the worktree"),
            format!("the first {alive} is still alive, and the second is refused"),
        ),
        false => (
            format!(
                "{starts} starts a {} while the {alive} may still be alive in the worktree",
                spawn.actor()
            ),
            "2 live agents".to_owned(),
        ),
    };
    let run = facts.search.run_through(second.edge);
    let mut story = facts.life(&run[..run.len() - 1], *alive);
    let prompt = facts.machine.prompt(spawn.prompt).name;
    story.push((*span, format!("starts `{prompt}` in the same worktree")));
    Some(numbered(Diagnostic::new(&C62, *span, message), story).trace(facts.tell(&run, end)))
}

/// The hook that ends the agent and leaves as much alone as it can.
fn kill(hook: &Hook<'_>, alive: Actor) -> &'static str {
    let kill = if hook.action.starts_beside() && alive == Actor::Reviewer {
        Action::KillReviewer
    } else {
        Action::KillSession
    };
    kill.name()
}
