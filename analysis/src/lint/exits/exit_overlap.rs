//! C45: an exit rule never applies, because the rules before it apply whenever it would.

use orange_core::Condition;

use super::C45;
use super::cases::{Cases, EndCase};
use super::text::condition_of;
use crate::lint::Facts;
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;

/// Rules that a message still points at.
const MAX_LABELS: usize = 4;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let complete = facts.asked_cases().filter(|it| !it.cut);
    complete.flat_map(|cases| of_state(facts, cases)).collect()
}

fn of_state(facts: &Facts<'_>, cases: &Cases) -> Vec<Diagnostic> {
    let rules = facts.machine.exit_rules_of(cases.state);
    let untimed = rules.filter(|rule| facts.machine.exit_rules[*rule].after().is_none());
    let never = untimed.filter(|rule| cases.all.iter().all(|case| case.rule != Some(*rule)));
    never.filter_map(|rule| finding(facts, cases, rule)).collect()
}

fn finding(facts: &Facts<'_>, cases: &Cases, rule: usize) -> Option<Diagnostic> {
    let place = condition_of(facts, facts.exit_rules[rule]);
    let earlier = earlier(facts, cases, rule);
    let message = match earlier.len() {
        0 => return None,
        1 => "this exit rule never applies: the one before it does whenever it would",
        _ => "this exit rule never applies: one of those before it does whenever it would",
    };
    let found = earlier.iter().take(MAX_LABELS).fold(Diagnostic::new(&C45, place, message), |found, it| {
        found.label(condition_of(facts, facts.exit_rules[*it]), "1. is tried first, and applies then")
    });
    let remove = edit::remove_entry(&facts.source.text, facts.exit_rules[rule].span);
    let fix = remove.map(|edit| Fix { title: "delete the rule".to_owned(), edits: vec![edit], safe: false });
    let help = "put the rule that asks for more before the one that asks for less, or delete this one";
    Some(found.label(place, "2. is never come to").help(help).fix_if(fix))
}

/// The rules that decide where this one's condition holds.
fn earlier(facts: &Facts<'_>, cases: &Cases, rule: usize) -> Vec<usize> {
    let mut earlier: Vec<usize> = cases
        .all
        .iter()
        .filter(|case| applies(facts, cases, case, rule))
        .filter_map(|case| case.rule)
        .collect();
    earlier.sort_unstable();
    earlier.dedup();
    earlier
}

fn applies(facts: &Facts<'_>, cases: &Cases, case: &EndCase, rule: usize) -> bool {
    match facts.machine.exit_rules[rule].condition {
        Condition::Always => true,
        Condition::Artifact(_) | Condition::Ended(_) | Condition::Overdue(_) | Condition::Spent => {
            cases.holds(facts, case, rule)
        }
        Condition::NoArtifact => {
            let is_artifact =
                |rule: &usize| matches!(facts.machine.exit_rules[*rule].condition, Condition::Artifact(_));
            let mut artifacts = facts.machine.exit_rules_of(cases.state).filter(is_artifact);
            artifacts.all(|rule| !cases.holds(facts, case, rule))
        }
    }
}
