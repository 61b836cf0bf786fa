//! C6B: an agent can destroy something with one request that no gate holds back.

use orange_core::action::Remote;
use orange_core::{Actor, Hook, TransitionId};

use super::C6B;
use super::places::{first_steps, numbered};
use crate::lint::Facts;
use crate::search::{Edge, EdgeId, SearchStep};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let steps = first_steps(facts, |edge| asks(facts, edge).is_some());
    steps.into_iter().filter_map(|(edge, id)| finding(facts, edge, id)).collect()
}

/// The agent that asks, where nothing has to be written before and the branch is removed.
fn asks(facts: &Facts<'_>, edge: &Edge) -> Option<Actor> {
    let SearchStep::Request { transition, by: by @ (Actor::Worker | Actor::Reviewer), .. } = edge.step else {
        return None;
    };
    let transition = facts.machine.transition(transition);
    (transition.gates.is_empty() && removes(transition.hooks).is_some()).then_some(by)
}

fn removes(hooks: &[Hook<'_>]) -> Option<usize> {
    hooks.iter().position(|it| it.action.traits().remote == Some(Remote::Deletes))
}

fn finding(facts: &Facts<'_>, edge: EdgeId, id: TransitionId) -> Option<Diagnostic> {
    let agent = asks(facts, facts.search.edge(edge))?;
    let transition = facts.transition(id);
    let hook = &transition.hooks[removes(facts.machine.transition(id).hooks)?];
    let place = facts.first_line(hook.span);
    let to = facts.name(transition.to.value);
    let message = format!(
        "the {agent} can delete the remote branch with one `orange task update --status {to}`, and no gate asks for anything"
    );
    let story = vec![
        (facts.first_line(transition.span), format!("lets the {agent} ask, and has no gate")),
        (place, "removes the branch from the remote".to_owned()),
    ];
    let run = facts.search.run_through(edge);
    // The agent may, although a person usually does.
    let trace = facts.tell_asked_by(&run, agent, "the remote branch is gone".to_owned());
    Some(
        numbered(Diagnostic::new(&C6B, place, message), story)
            .trace(trace)
            .help("write `by: human` in this transition, or give it a gate"),
    )
}
