//! C48: exit rules of a state in which their agent never runs.

use std::collections::BTreeMap;

use orange_core::StateId;

use super::C48;
use super::text::condition_of;
use crate::lint::Facts;
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::model::{ExitRule, Transition};

/// Transitions to a state, and rules of one, that a message still points at.
const MAX_LABELS: usize = 3;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    if facts.search.cut().is_some() {
        return Vec::new();
    }
    let ruled = facts.exit_cases().iter().map(|it| it.state);
    let reached = ruled.filter(|it| facts.nearest[usize::from(it.0)].is_some());
    let dead: Vec<StateId> = reached.filter(|it| facts.lives().ends(*it).is_none()).collect();
    if dead.is_empty() {
        return Vec::new();
    }
    let endings = endings(facts);
    let places = |state: &StateId| endings.get(state).map_or(&[][..], Vec::as_slice);
    dead.iter().filter_map(|state| finding(facts, *state, places(state))).collect()
}

fn finding(facts: &Facts<'_>, state: StateId, endings: &[&Transition]) -> Option<Diagnostic> {
    let (name, agent) = (facts.name(state), facts.machine.state(state).agent);
    // A time passes without an agent, too.
    let untimed = |rule: &usize| facts.machine.exit_rules[*rule].after().is_none();
    let rules: Vec<&ExitRule> =
        facts.machine.exit_rules_of(state).filter(untimed).map(|rule| facts.exit_rules[rule]).collect();
    let message = format!("the exit rules of `{name}` never apply: no {agent} is ever alive there");
    let mut found = Diagnostic::new(&C48, condition_of(facts, rules.first()?), message);
    for it in endings.iter().take(MAX_LABELS) {
        found = found.label(facts.first_line(it.span), format!("1. {} ends the session", facts.arrow(it)));
    }
    for rule in rules.iter().take(MAX_LABELS) {
        found = found.label(condition_of(facts, rule), format!("2. is for a {agent} that ends in `{name}`"));
    }
    let edits = rules.iter().map(|rule| edit::remove_entry(&facts.source.text, rule.span));
    let fix = edits.collect::<Option<Vec<_>>>().map(|edits| {
        let title = format!("delete the exit rules of `{name}`");
        Fix { title, edits, safe: false }
    });
    Some(found.help("delete them, or leave the agent alive in the transitions to this state").fix_if(fix))
}

/// By state: the transitions to it that end the session.
fn endings<'f>(facts: &Facts<'f>) -> BTreeMap<StateId, Vec<&'f Transition>> {
    let mut endings: BTreeMap<StateId, Vec<&Transition>> = BTreeMap::new();
    for transition in &facts.transitions {
        if transition.hooks.iter().any(|it| it.action.ends_session()) {
            endings.entry(transition.to.value).or_default().push(transition);
        }
    }
    endings
}
