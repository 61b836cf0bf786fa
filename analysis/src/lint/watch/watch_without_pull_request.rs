//! CC0: a watch rule is about a pull request, and neither a hook nor an agent opens one before.

use std::collections::BTreeSet;

use orange_codegen::diag::Diagnostic;
use orange_core::StateId;

use super::{CC0, Facts, is_prompted, of_pull_requests, publishes, reached};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    if facts.search.cut().is_some() || is_prompted(facts) {
        return Vec::new();
    }
    let opened = facts.search.edges().map(|(_, edge)| edge).filter(|edge| publishes(facts, edge));
    let reached = reached(facts, opened.map(|edge| edge.to), |_| true);
    let states: BTreeSet<StateId> = reached.into_iter().map(|at| facts.search.task(at).status).collect();
    // One finding for each state: the same hook is missing for all of its rules.
    let mut reported = BTreeSet::new();
    let without = of_pull_requests(facts).filter(|rule| !states.contains(&rule.status.value));
    let found = without.filter(|rule| reported.insert(rule.status.value)).map(|rule| {
        let name = facts.name(rule.status.value);
        let message = format!("no hook opens the pull request for which this rule of `{name}` waits");
        Diagnostic::new(&CC0, rule.fact.span, message).label(rule.fact.span, "never holds without one").help(
            format!(
                "open it on the way to `{name}`: `- action: create_pr`; or push the branch there, and let a person open it"
            ),
        )
    });
    found.collect()
}
