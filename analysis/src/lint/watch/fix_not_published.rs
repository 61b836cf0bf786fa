//! CC1: a fact of a pull request sends a task back to an agent, and its fix is not pushed on the way to the state that watches.

use std::collections::BTreeMap;

use orange_codegen::diag::Diagnostic;
use orange_core::StateId;

use super::{CC1, Facts, is_prompted, of_pull_requests, publishes, reached, taken};
use crate::search::{ConfigurationId, Edge};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    if is_prompted(facts) {
        return Vec::new();
    }
    let opened = facts.search.edges().map(|(_, edge)| edge).filter(|edge| publishes(facts, edge));
    let published = reached(facts, opened.map(|edge| edge.to), |_| true);
    // By state: the configurations to which its rules lead from where a pull request can be.
    let mut after: BTreeMap<StateId, Vec<ConfigurationId>> = BTreeMap::new();
    let taken =
        taken(facts).filter(|(edge, _, kind)| kind.is_of_pull_request() && published.contains(&edge.from));
    for (edge, _, _) in taken {
        after.entry(facts.search.task(edge.from).status).or_default().push(edge.to);
    }
    after.into_iter().filter_map(|(state, to)| finding(facts, state, to)).collect()
}

fn finding(facts: &Facts<'_>, state: StateId, to: Vec<ConfigurationId>) -> Option<Diagnostic> {
    let status = |at: ConfigurationId| facts.search.task(at).status;
    // A step into a state that watches ends the search there.
    let goes_on = |edge: &Edge| !publishes(facts, edge) && status(edge.from) != state;
    let unpublished = reached(facts, to, goes_on);
    let is_back = |edge: &Edge| {
        unpublished.contains(&edge.from)
            && status(edge.from) != state
            && status(edge.to) == state
            && !publishes(facts, edge)
    };
    let mut edges = facts.search.edges().map(|(_, edge)| edge).filter(|edge| is_back(edge));
    let back = edges.find_map(|edge| edge.step.transition())?;
    let rule = of_pull_requests(facts).find(|rule| rule.status.value == state)?;
    let name = facts.name(state);
    let message =
        format!("a task that this rule sends back comes to `{name}` again, and its fix is not pushed");
    let found = Diagnostic::new(&CC1, rule.fact.span, message);
    let found = found.label(
        facts.first_line(facts.transition(back).span),
        format!("leads to `{name}` and pushes nothing"),
    );
    Some(found.help("push the branch there: `- {action: push_branch, on_failure: stop}`"))
}
