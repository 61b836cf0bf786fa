//! C44: something can stand in the artifacts of which no exit rule says what becomes of it.

use orange_core::Condition;

use super::C44;
use super::cases::{Cases, EndCase, SectionStanding};
use super::text::{any_of, condition_of};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::Outcome;

/// Rules and contents that a message still names.
const MAX_LABELS: usize = 4;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts
        .asked_cases()
        .flat_map(|cases| unmatched(facts, cases).into_iter().chain(no_verdict(facts, cases)))
        .collect()
}

/// No rule applies, so that nothing happens.
fn unmatched(facts: &Facts<'_>, cases: &Cases) -> Option<Diagnostic> {
    let open: Vec<&EndCase> = cases.all.iter().filter(|case| case.rule.is_none()).collect();
    let first = open.first()?;
    let how = match &cases.headings().collect::<Vec<_>>()[..] {
        [] => "for any other reason".to_owned(),
        [heading] => format!("with {}", any_of(descriptions(cases, &open, heading))),
        headings => {
            let descriptions: Vec<String> = headings.iter().filter_map(|it| cases.tell(first, it)).collect();
            format!("with {}", descriptions.join(" and "))
        }
    };
    let status = facts.name(cases.state);
    let message = format!(
        "an agent that ends in `{status}` {how} is shown as dead and nothing more: no exit rule applies"
    );
    let rules = facts.machine.exit_rules_of(cases.state);
    let place = rules.clone().last().map(|rule| condition_of(facts, facts.exit_rules[rule]))?;
    let found = rules.take(MAX_LABELS).fold(Diagnostic::new(&C44, place, message), |found, rule| {
        found.label(condition_of(facts, facts.exit_rules[rule]), "does not apply then")
    });
    Some(found.help(format!(
        "say what becomes of it in a last rule: `- {{status: {status}, no_artifact: true, action: crash, stuck_after: 2}}`"
    )))
}

/// Something is written, and the rule for what is not there decides, because the verdict is none that a rule reads.
fn no_verdict(facts: &Facts<'_>, cases: &Cases) -> Option<Diagnostic> {
    let (rule, heading) = cases.all.iter().find_map(|case| {
        let rule = case.rule.filter(|rule| takes_for_absent(facts, *rule))?;
        Some((rule, cases.headings().find(|it| is_written_without(facts, cases, case, it))?))
    })?;
    let taken = cases.all.iter().filter(|it| it.rule == Some(rule));
    let taken: Vec<&EndCase> = taken.filter(|it| is_written_without(facts, cases, it, heading)).collect();
    let what = any_of(descriptions(cases, &taken, heading));
    let status = facts.name(cases.state);
    let place = condition_of(facts, facts.exit_rules[rule]);
    let message =
        format!("in `{status}`, {what} is taken for no artifact: no exit rule says what becomes of it");
    let readers = verdict_rules(facts, cases, heading);
    let found = readers.take(MAX_LABELS).fold(Diagnostic::new(&C44, place, message), |found, reader| {
        found.label(condition_of(facts, facts.exit_rules[reader]), "1. does not apply then")
    });
    Some(found.label(place, "2. applies then, as if nothing were written").help(format!(
        "say before this rule what becomes of it, for example \
         `- {{status: {status}, has_artifact: {{section: \"{heading}\"}}, action: mark_dead}}`"
    )))
}

/// True if it is a rule for an absent artifact, after which artifacts that are there are not looked at.
fn takes_for_absent(facts: &Facts<'_>, rule: usize) -> bool {
    let is_for_absent = matches!(facts.machine.exit_rules[rule].condition, Condition::NoArtifact);
    let goes_on = match facts.exit_rules[rule].outcome {
        Outcome::Then(_) | Outcome::ThenWhen(_) | Outcome::Crash { respawn: false, .. } => true,
        Outcome::Crash { respawn: true, .. } | Outcome::MarkDead | Outcome::Wait { .. } => false,
    };
    is_for_absent && goes_on
}

fn is_written_without(facts: &Facts<'_>, cases: &Cases, case: &EndCase, heading: &str) -> bool {
    cases.standing(case, heading) == Some(SectionStanding::Written)
        && !cases.is_read(case, heading)
        && verdict_rules(facts, cases, heading).next().is_some()
}

/// The rules of the state that read a verdict there.
fn verdict_rules<'r>(
    facts: &'r Facts<'_>,
    cases: &'r Cases,
    heading: &'r str,
) -> impl Iterator<Item = usize> + 'r {
    facts.machine.exit_rules_of(cases.state).filter(move |rule| {
        let mut artifacts = facts.machine.exit_rules[*rule].condition.section_gates();
        artifacts.any(|gate| gate.section == heading && gate.asks_for_verdict())
    })
}

/// Contents of a section in these cases, in words, each once.
fn descriptions(cases: &Cases, of: &[&EndCase], heading: &str) -> Vec<String> {
    let mut descriptions: Vec<String> = of.iter().filter_map(|case| cases.tell(case, heading)).collect();
    descriptions.sort_unstable();
    descriptions.dedup();
    descriptions.truncate(MAX_LABELS);
    descriptions
}
