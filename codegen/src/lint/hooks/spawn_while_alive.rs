//! C62: an agent is started while another one may still be alive in the same worktree.

use std::collections::BTreeSet;

use super::C62;
use crate::diag::Diagnostic;
use crate::lint::Facts;
use crate::model::{Action, Hook, Transition};
use crate::search::task::{Agent, Event};
use crate::search::{EdgeId, HookIndex};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for (id, edge) in facts.search.edges() {
        let Some(transition) = edge.step.transition() else { continue };
        for (index, event) in facts.search.events(edge) {
            if matches!(event, Event::SpawnWhileAlive(_)) && told.insert((transition, *index)) {
                let at = (facts.transition(transition), facts.hook(transition, *index), *index);
                found.extend(finding(facts, id, at));
            }
        }
    }
    found
}

fn finding(
    facts: &Facts<'_>,
    id: EdgeId,
    (transition, hook, index): (&Transition, Option<&Hook>, HookIndex),
) -> Option<Diagnostic> {
    let hook = hook?;
    let run = facts.search.run_through(id);
    let prompt = match &hook.action {
        Action::SpawnAgent(spawn) | Action::SpawnReviewer(spawn) => {
            format!("`{}`", facts.workflow.prompts[usize::from(spawn.prompt.value.0)].name.value)
        }
        Action::AcquireWorkspace
        | Action::ReleaseWorkspace
        | Action::KillSession
        | Action::KillReviewer
        | Action::NotifyWorker { .. }
        | Action::SpawnNext
        | Action::PushBranch
        | Action::CreatePr
        | Action::DeleteRemoteBranch
        | Action::Increment { .. }
        | Action::SetField { .. }
        | Action::Notify { .. }
        | Action::RunCommand { .. } => return None,
    };
    let message = format!(
        "{} starts a second agent while the first may still be alive in the worktree",
        facts.arrow(transition)
    );
    let mut found = Diagnostic::new(&C62, facts.first_line(hook.span), message);
    // The last step into the state with an agent alive is where it should have been ended.
    let before = run.iter().rev().skip(1).map(|it| facts.search.edge(*it));
    let left = before
        .filter(|edge| facts.search.task(edge.to).worker == Agent::Live)
        .find_map(|edge| edge.step.transition());
    if let Some(left) = left {
        let left = facts.transition(left);
        let place = facts.first_line(left.span);
        found = found.label(place, format!("1. {} leaves the agent alive", facts.arrow(left)));
    }
    let kill = match (&hook.action, index) {
        (Action::SpawnReviewer(_), _) => "kill_reviewer",
        _ => "kill_session",
    };
    Some(
        found
            .label(facts.first_line(hook.span), format!("2. starts {prompt} in the same worktree"))
            .trace(facts.tell(&run, "2 live agents".to_owned()))
            .help(format!("put `- action: {kill}` before this hook, or end the agent on the way here")),
    )
}
