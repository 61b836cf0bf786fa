//! Watch rules: whether their facts can hold, what becomes of the feedback, and whether a task that has delegated comes on.

mod delegated_worktree;
mod delegation_uncovered;
mod feedback_unread;
mod feedback_without_exit;
mod fix_not_published;
#[cfg(test)]
mod tests;
mod watch_without_pull_request;

use std::collections::BTreeSet;

use orange_codegen::model::{FactKind, WatchRule};
use orange_core::action::Remote;
use orange_core::{Actor, StateId, TransitionId};

use super::Facts;
use crate::search::{ConfigurationId, Edge, SearchStep};

super::group! {
    CC0 "watch-without-pull-request" Warn watch_without_pull_request;
    CC1 "fix-not-published" Warn fix_not_published;
    CC2 "feedback-unread" Warn feedback_unread;
    CC3 "feedback-no-way-out" Warn feedback_without_exit;
    CC4 "delegation-uncovered" Warn delegation_uncovered;
    CC5 "delegated-holds-worktree" Warn delegated_worktree;
}

/// True if a person may lead a task on from a state, and not only cancel it.
fn is_persons(facts: &Facts<'_>, state: StateId) -> bool {
    let mut leaving = facts.workflow.transitions.iter().filter(|it| it.from.value == state);
    leaving.any(|it| it.by.allows(Actor::Human) && facts.machine.commands.cancel != Some(it.to.value))
}

/// True if a hook of this step has pushed the branch, or opened the pull request.
fn publishes(facts: &Facts<'_>, edge: &Edge) -> bool {
    let hooks = edge.step.transition().map_or(&[][..], |id| facts.machine.transition(id).hooks);
    hooks.iter().any(|it| it.action.traits().remote == Some(Remote::Adds))
}

/// True if some prompt tells an agent to push the branch or to open the pull request.
fn is_prompted(facts: &Facts<'_>) -> bool {
    let commands = ["git push", "gh pr create", "glab mr create", "orange task create-pr"];
    let mut prompts = facts.workflow.prompts.iter();
    prompts.any(|prompt| commands.iter().any(|it| prompt.text.value.contains(it)))
}

/// The watch rules about pull requests.
fn of_pull_requests<'f>(facts: &Facts<'f>) -> impl Iterator<Item = &'f WatchRule> {
    facts.workflow.watch.iter().filter(|rule| rule.fact.value.kind().is_of_pull_request())
}

/// The configurations to which a run comes from these by steps that `goes_on` accepts, themselves included.
fn reached(
    facts: &Facts<'_>,
    from: impl IntoIterator<Item = ConfigurationId>,
    goes_on: impl Fn(&Edge) -> bool,
) -> BTreeSet<ConfigurationId> {
    let mut open: Vec<ConfigurationId> = from.into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(at) = open.pop() {
        if seen.insert(at) {
            open.extend(facts.search.edges_from(at).iter().filter(|edge| goes_on(edge)).map(|edge| edge.to));
        }
    }
    seen
}

/// The steps in which a watch rule takes its transition, with the kind of its fact.
fn taken<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = (&'f Edge, TransitionId, FactKind)> {
    facts.search.edges().filter_map(|(_, edge)| {
        let SearchStep::Request { transition, watch: Some(rule), .. } = edge.step else { return None };
        Some((edge, transition, facts.machine.watch[usize::from(rule)].fact.kind()))
    })
}
