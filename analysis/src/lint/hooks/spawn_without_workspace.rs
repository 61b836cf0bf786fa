//! C63: an agent is started and no worktree is bound.

use super::C63;
use super::hook_order::is_misplaced;
use super::places::{Raised, numbered, put_before, raised};
use crate::lint::Facts;
use crate::lint::agents::StoryLabel;
use crate::search::task::Event;
use crate::search::{Edge, EdgeId};
use orange_codegen::diag::{Diagnostic, Level};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let is_such = |event| event == Event::SpawnWithoutWorkspace;
    if !facts.search.happens(is_such) {
        return Vec::new();
    }
    let lost = facts.never_bound();
    let is_first = |edge: &Edge, _, _| !lost[edge.from as usize] && !facts.was_never_started(edge);
    let raised = raised(facts, is_such, is_first).into_iter();
    raised.filter(|it| !is_misplaced(facts, it)).map(|it| finding(facts, &it)).collect()
}

fn finding(facts: &Facts<'_>, it: &Raised<'_>) -> Diagnostic {
    let run = facts.search.run_through(it.edge);
    let place = facts.first_line(it.hook.span);
    let hook = &facts.machine.transition(it.id).hooks[usize::from(it.index)];
    let prompt = hook.spawn().map_or("", |spawn| facts.machine.prompt(spawn.prompt).name);
    let arrow = facts.arrow(facts.transition(it.id));
    let is_always = facts.search.cut().is_none() && is_always(facts, it);
    let (level, bound) = if is_always { (Level::Deny, "is bound") } else { (C63.level, "may be bound") };
    let message = format!("{arrow} starts `{prompt}` where no worktree {bound}");
    let mut story: Vec<StoryLabel> = released(facts, &run).into_iter().collect();
    story.push((place, "has no worktree to start an agent in, and fails".to_owned()));
    numbered(Diagnostic::new(&C63, place, message), story)
        .at_level(level)
        .trace(facts.tell(&run, "no worktree, no agent".to_owned()))
        .help("put `- action: acquire_workspace` before this hook; a worktree that is bound already stays")
        .fix_if(put_before(facts, it.hook, "acquire_workspace"))
}

/// True if this event happens at the hook in every step that runs it.
pub(super) fn is_always(facts: &Facts<'_>, it: &Raised<'_>) -> bool {
    let declaration = |id| facts.transition(id).declaration;
    let same = |edge: &&Edge| edge.step.transition().is_some_and(|id| declaration(id) == declaration(it.id));
    let mut edges = facts.search.edges().map(|(_, edge)| edge).filter(same);
    edges.all(|edge| facts.search.events(edge).contains(&(it.index, it.event)))
}

/// The last hook in a run that gave the worktree back.
fn released(facts: &Facts<'_>, run: &[EdgeId]) -> Option<StoryLabel> {
    run.iter().rev().find_map(|it| {
        let id = facts.search.edge(*it).step.transition()?;
        let hooks = facts.machine.transition(id).hooks;
        let at = hooks.iter().position(|it| it.action.releases())?;
        Some((facts.first_line(facts.transition(id).hooks[at].span), "gives the worktree back".to_owned()))
    })
}
