//! C42: an exit rule applies with something that the gate of its transition refuses.

use super::C42;
use super::advance::{self, Advance, Candidate};
use super::cases::Cases;
use super::exit_gate_contradiction::{is_contradiction, refusing};
use super::text::{artifact, condition_of};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts.asked_cases().flat_map(|cases| of_state(facts, cases)).collect()
}

fn of_state(facts: &Facts<'_>, cases: &Cases) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for advance in advance::of(facts, cases.state) {
        let candidates = advance.candidates(facts, cases);
        if !is_contradiction(&candidates) {
            found
                .extend(candidates.iter().filter_map(|candidate| finding(facts, cases, &advance, candidate)));
        }
    }
    // Several clauses or transitions can say the same of one rule.
    found.dedup_by(|one, other| one.span == other.span && one.message == other.message);
    found
}

fn finding(
    facts: &Facts<'_>,
    cases: &Cases,
    advance: &Advance<'_>,
    candidate: &Candidate<'_>,
) -> Option<Diagnostic> {
    let rule = facts.exit_rules[advance.rule];
    let transition = facts.transition(candidate.transition);
    let (gate, case) = (refusing(facts, cases, candidate)?, candidate.refused.first()?);
    let what = cases.tell(case, &gate.section.value)?;
    let message = format!(
        "this {} applies with {what}, and the gate of {} then refuses",
        rule.what(),
        facts.arrow(transition)
    );
    let help = match facts.machine.exit_rules[advance.rule].after() {
        Some(_) => "name a state here to which a transition without a gate leads".to_owned(),
        None => format!("let the rule ask for what the gate asks for: `{}`", artifact(&transition.gates)),
    };
    Some(
        Diagnostic::new(&C42, condition_of(facts, rule), message)
            .label(condition_of(facts, rule), format!("1. applies with {what}"))
            .label(facts.first_line(gate.place), "2. refuses that, so the agent's end counts as a crash")
            .help(help),
    )
}
