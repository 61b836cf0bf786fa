//! Two workflows compared: one with itself has no difference, and whatever is taken out of one is noticed.

#![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

use std::fs;

use orange_analysis::evolution::{Comparison, compare};
use orange_codegen::{Checked, Source, compile, edit, lower};
use orange_tests::generate;
use orange_tests::plan::{Plan, PlannedOutcome, PlannedRule, PlannedTransition};

/// More states than these take long to search, over and over again.
const MOST_STATES: usize = 3;

const SHIPPED: [&str; 5] = ["default", "minimal", "persistent", "pull-request", "split"];

fn checked(text: &str) -> Option<(Checked, Source)> {
    let source = Source::new("flow.yml", text);
    Some((compile(&source).checked?, source))
}

fn difference(old: &str, new: &str) -> Option<Comparison> {
    let [old, new] = [checked(old)?, checked(new)?];
    compare((&old.0, &old.1), (&new.0, &new.1)).ok()
}

fn shipped(name: &str) -> String {
    fs::read_to_string(format!("../workflows/{name}.yml")).unwrap()
}

fn plans() -> impl Iterator<Item = Plan> {
    (0..120).map(generate::plan).filter(|plan| plan.states.len() <= MOST_STATES)
}

#[track_caller]
fn is_silent(old: &str, new: &str) {
    let codes: Vec<_> = difference(old, new).unwrap().changes.iter().map(|it| it.finding.code()).collect();
    assert!(codes.is_empty(), "{codes:?}\n{old}\n{new}");
}

#[test]
fn a_workflow_does_not_differ_from_itself() {
    SHIPPED.map(shipped).iter().for_each(|text| is_silent(text, text));
    plans().map(|plan| plan.to_string()).for_each(|text| is_silent(&text, &text));
}

#[test]
fn the_order_of_transitions_says_nothing() {
    for mut plan in plans() {
        let old = plan.to_string();
        plan.transitions.reverse();
        is_silent(&old, &plan.to_string());
    }
}

#[test]
fn what_is_taken_out_of_a_shipped_workflow_is_noticed() {
    for text in SHIPPED.map(shipped) {
        let (whole, _) = checked(&text).unwrap();
        for transition in &lower::state_machine(&whole).unwrap().transitions {
            let edit = edit::remove_entry(&text, transition.span).unwrap();
            let mut mutant = text.clone();
            mutant.replace_range(edit.span.range(), &edit.text);
            let found = difference(&text, &mutant).unwrap();
            assert!(!found.changes.is_empty(), "{mutant}");
        }
    }
}

#[test]
fn what_is_taken_out_of_any_workflow_is_noticed() {
    let mut looked_at = 0;
    for plan in plans() {
        let whole = plan.to_string();
        for mutant in without_a_transition(&plan).chain(without_a_state(&plan)) {
            // Without a state there may be none left that tasks could begin in.
            let Some(found) = difference(&whole, &mutant.to_string()) else { continue };
            assert!(!found.changes.is_empty(), "{whole}\n{mutant}");
            looked_at += 1;
        }
    }
    assert!(looked_at > 50, "only {looked_at} mutants compile");
}

#[test]
fn a_state_that_tasks_may_be_in_breaks_them_when_it_is_gone() {
    for (name, state) in [("default", "reviewing"), ("minimal", "working"), ("persistent", "planning")] {
        let text = shipped(name);
        let renamed = text.replace(state, "elsewhere");
        let found = difference(&text, &renamed).unwrap();
        let codes: Vec<_> = found.changes.iter().map(|it| it.finding.code()).collect();
        assert!(found.is_breaking() && codes.contains(&"D01"), "{name}: {codes:?}");
        assert!(found.fates.contains_key(state), "{name}: {:?}", found.fates);
    }
}

fn without_a_transition(plan: &Plan) -> impl Iterator<Item = Plan> {
    (0..plan.transitions.len()).map(|at| {
        let mut mutant = plan.clone();
        mutant.transitions.remove(at);
        mutant
    })
}

fn without_a_state(plan: &Plan) -> impl Iterator<Item = Plan> {
    (0..plan.states.len()).map(|gone| without(plan, gone))
}

/// The plan without a state and everything that names it.
fn without(plan: &Plan, gone: usize) -> Plan {
    let mut mutant = plan.clone();
    mutant.states.remove(gone);
    mutant.crash = plan.crash.and_then(|it| moved(it, gone));
    mutant.transitions = plan.transitions.iter().filter_map(|it| kept_transition(it, gone)).collect();
    mutant.rules = plan.rules.iter().filter_map(|it| kept_rule(it, gone)).collect();
    mutant
}

fn kept_transition(transition: &PlannedTransition, gone: usize) -> Option<PlannedTransition> {
    let (from, to) = (moved(transition.from, gone)?, moved(transition.to, gone)?);
    Some(PlannedTransition { from, to, ..transition.clone() })
}

fn kept_rule(rule: &PlannedRule, gone: usize) -> Option<PlannedRule> {
    let outcome = match &rule.outcome {
        PlannedOutcome::Then(to) => PlannedOutcome::Then(moved(*to, gone)?),
        PlannedOutcome::ThenWhen(clauses) => {
            let clauses = clauses.iter().map(|(when, to)| Some((when.clone(), moved(*to, gone)?)));
            PlannedOutcome::ThenWhen(clauses.collect::<Option<_>>()?)
        }
        PlannedOutcome::Crash { .. } | PlannedOutcome::MarkDead | PlannedOutcome::Wait(_) => {
            rule.outcome.clone()
        }
    };
    Some(PlannedRule { status: moved(rule.status, gone)?, outcome, ..rule.clone() })
}

/// The number of a state when another one is gone.
fn moved(state: usize, gone: usize) -> Option<usize> {
    match state.cmp(&gone) {
        std::cmp::Ordering::Less => Some(state),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(state - 1),
    }
}
