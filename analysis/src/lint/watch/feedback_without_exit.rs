//! CC3: a fact is no longer acted on when a counter is used up, and no person is asked in that state.

use std::collections::BTreeSet;

use orange_codegen::diag::Diagnostic;
use orange_codegen::guard::decide::gap;
use orange_codegen::model::WatchRule;
use orange_core::{Fact, StateId};

use super::{CC3, Facts, is_persons};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let watched: BTreeSet<(StateId, Fact)> =
        facts.workflow.watch.iter().map(|rule| (rule.status.value, rule.fact.value)).collect();
    watched.into_iter().filter_map(|(state, fact)| of_fact(facts, state, fact)).collect()
}

fn of_fact(facts: &Facts<'_>, state: StateId, fact: Fact) -> Option<Diagnostic> {
    if is_persons(facts, state) {
        return None;
    }
    let covers = |rule: &&WatchRule| rule.status.value == state && fact.implies(rule.fact.value);
    let rules: Vec<&WatchRule> = facts.workflow.watch.iter().filter(covers).collect();
    let guards: Option<Vec<_>> = rules.iter().map(|rule| Some(&rule.when.as_ref()?.expr)).collect();
    let witness = gap(&guards?, &facts.workflow.counters, &mut facts.work.borrow_mut()).ok()??;
    let (name, last) = (facts.name(state), rules.last()?);
    let message =
        format!("`{fact}` is ignored in `{name}` when {}, and no person is asked there", witness.range);
    let found = Diagnostic::new(&CC3, last.when.as_ref()?.clause, message).witness(witness);
    Some(found.help("add a rule for the other values that leads to a state in which a person decides"))
}
