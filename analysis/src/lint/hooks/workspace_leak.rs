//! C61: a task ends, and its worktree stays bound to it.

use orange_core::{Hook, TransitionId};

use super::C61;
use super::places::{first_steps, numbered, put_after, put_before};
use crate::lint::Facts;
use crate::lint::agents::StoryLabel;
use crate::search::{Edge, EdgeId};
use orange_codegen::diag::{Diagnostic, Fix};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    // A release that an agent prevents is `workspace-conflict`'s.
    let releases = |edge: &Edge| edge.step.transition().is_some_and(|id| releases(facts, id));
    let steps = first_steps(facts, |edge| facts.keeps_workspace(edge) && !releases(edge));
    let steps = steps.into_iter().filter(|(edge, _)| !facts.follows_release(*edge));
    steps.map(|(edge, id)| finding(facts, edge, id)).collect()
}

fn finding(facts: &Facts<'_>, edge: EdgeId, id: TransitionId) -> Diagnostic {
    let run = facts.search.run_through(edge);
    let transition = facts.transition(id);
    let place = facts.first_line(transition.span);
    let message = format!("{} ends the task and keeps its worktree", facts.arrow(transition));
    let mut story: Vec<StoryLabel> = acquired(facts, &run).into_iter().collect();
    story.push((place, "ends the task and does not release it".to_owned()));
    let help = match transition.hooks.is_empty() {
        true => "give it back in this transition: `hooks: [{action: release_workspace}]`",
        false => "add `- action: release_workspace`, behind the hook that ends the session",
    };
    numbered(Diagnostic::new(&C61, place, message), story)
        .trace(facts.tell(&run, "one worktree of the pool is gone for good".to_owned()))
        .help(help)
        .fix_if(fix(facts, id))
}

/// True if a hook of a transition is to give the worktree back.
fn releases(facts: &Facts<'_>, id: TransitionId) -> bool {
    facts.machine.transition(id).hooks.iter().any(|it| it.action.releases())
}

/// The last hook in a run that bound the worktree.
fn acquired(facts: &Facts<'_>, run: &[EdgeId]) -> Option<StoryLabel> {
    run.iter().rev().find_map(|it| {
        let id = facts.search.edge(*it).step.transition()?;
        let hooks = facts.machine.transition(id).hooks;
        let at = hooks.iter().position(|it| it.action.acquires())?;
        Some((facts.first_line(facts.transition(id).hooks[at].span), "binds a worktree".to_owned()))
    })
}

/// Behind what ends agents, and before everything else.
fn fix(facts: &Facts<'_>, id: TransitionId) -> Option<Fix> {
    let kills = |it: &Hook<'_>| it.action.traits().ends.is_some();
    let hooks = &facts.transition(id).hooks;
    let after = facts.machine.transition(id).hooks.iter().rposition(kills);
    match after {
        Some(at) => put_after(facts, &hooks[at], "release_workspace"),
        None => put_before(facts, hooks.first()?, "release_workspace"),
    }
}
