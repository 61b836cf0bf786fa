//! CC5: a task keeps its worktree while it waits for the tasks that it has created, which need one.

use std::collections::BTreeSet;

use orange_codegen::diag::Diagnostic;
use orange_codegen::model::FactKind;
use orange_core::{StateId, TransitionId, Workspace};

use super::{CC5, Facts};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let rules = facts.workflow.watch.iter().filter(|rule| rule.fact.value.kind() == FactKind::Children);
    let waiting: BTreeSet<StateId> = rules.map(|rule| rule.status.value).collect();
    let keeps = |transition: &TransitionId| {
        let arrivals = facts.search.edges().map(|(_, edge)| edge);
        arrivals.filter(|edge| edge.step.transition() == Some(*transition)).any(|edge| {
            let task = facts.search.task(edge.to);
            task.workspace == Some(Workspace::Worktree) && waiting.contains(&task.status)
        })
    };
    let into = (0u32..).map(TransitionId).zip(&facts.transitions);
    let into = into.filter(|(_, it)| waiting.contains(&it.to.value) && it.from.value != it.to.value);
    let mut reported = BTreeSet::new();
    let found =
        into.filter(|(id, _)| keeps(id)).filter(|(_, it)| reported.insert(it.declaration)).map(|(_, it)| {
            let name = facts.name(it.to.value);
            let message = format!(
                "a task keeps its worktree in `{name}`, and the tasks for which it waits may need it"
            );
            Diagnostic::new(&CC5, facts.first_line(it.span), message)
                .help("add `- {action: release_workspace}` to its hooks, after the session has ended")
        });
    found.collect()
}
