//! C60: an agent is left alive when its task ends, or when its worktree is given away.

use orange_core::{Actor, TransitionId};

use super::C60;
use super::places::{first_steps, numbered, put_before};
use crate::lint::Facts;
use crate::search::EdgeId;
use orange_codegen::diag::{Diagnostic, Fix};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let steps = first_steps(facts, |edge| facts.outliving(edge).is_some());
    let steps = steps
        .into_iter()
        .filter(|(edge, id)| !starts_it_too_early(facts, *id) && !facts.follows_release(*edge));
    steps.filter_map(|(edge, id)| finding(facts, edge, id)).collect()
}

/// An agent that is started before the worktree is released: that is hook-order's.
fn starts_it_too_early(facts: &Facts<'_>, id: TransitionId) -> bool {
    let hooks = facts.machine.transition(id).hooks;
    let spawn = hooks.iter().position(|it| it.spawn().is_some());
    spawn.is_some_and(|at| hooks[at..].iter().any(|it| it.action.releases()))
}

fn finding(facts: &Facts<'_>, edge: EdgeId, id: TransitionId) -> Option<Diagnostic> {
    let agent = facts.outliving(facts.search.edge(edge))?;
    let run = facts.search.run_through(edge);
    let transition = facts.transition(id);
    let place = facts.first_line(transition.span);
    let is_over = facts.machine.state(transition.to.value).terminal;
    let (ends, part) = match is_over {
        true => ("ends the task", "ends the task and not the session"),
        false => ("gives the worktree back", "gives the worktree back and does not end the session"),
    };
    let mut story = facts.life(&run[..run.len() - 1], agent);
    story.push((place, part.to_owned()));
    let release = released(facts, id);
    story.extend(release.map(|at| {
        let hook = &transition.hooks[at];
        (facts.first_line(hook.span), "the next task gets the worktree that it still works in".to_owned())
    }));
    let message = format!("{} {ends} while the {agent} may still be alive", facts.arrow(transition));
    let found = numbered(Diagnostic::new(&C60, place, message), story);
    let help = match transition.hooks.is_empty() {
        true => "end it in this transition: `hooks: [{action: kill_session}]`",
        false => "put `- action: kill_session` before the other hooks",
    };
    Some(found.trace(facts.tell(&run, end(agent))).help(help).fix_if(fix(facts, id)))
}

fn end(agent: Actor) -> String {
    format!("the {agent} is still alive")
}

fn released(facts: &Facts<'_>, id: TransitionId) -> Option<usize> {
    facts.machine.transition(id).hooks.iter().position(|it| it.action.releases())
}

fn fix(facts: &Facts<'_>, id: TransitionId) -> Option<Fix> {
    put_before(facts, facts.transition(id).hooks.first()?, "kill_session")
}
