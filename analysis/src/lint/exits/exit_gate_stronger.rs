//! C42: an exit rule applies with something that the gate on its way refuses.

use super::C42;
use super::advance::{self, Advance, Way};
use super::cases::Cases;
use super::exit_gate_contradiction::is_contradiction;
use super::text::{artifact, condition_of};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts.asked_cases().flat_map(|cases| of_state(facts, cases)).collect()
}

fn of_state(facts: &Facts<'_>, cases: &Cases) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for advance in advance::of(facts, cases.state) {
        let ways = advance.ways(facts, cases);
        if !is_contradiction(&ways) {
            found.extend(ways.iter().filter_map(|way| finding(facts, cases, &advance, way)));
        }
    }
    // Several clauses or transitions can say the same of one rule.
    found.dedup_by(|one, other| one.span == other.span && one.message == other.message);
    found
}

fn finding(facts: &Facts<'_>, cases: &Cases, advance: &Advance<'_>, way: &Way<'_>) -> Option<Diagnostic> {
    let rule = facts.exit_rules[advance.rule];
    let transition = facts.transition(way.transition);
    let (gate, case) = (transition.gate.as_ref()?, way.refused.first()?);
    let what = cases.tell(case, &gate.section.value)?;
    let message = format!(
        "this exit rule applies with {what}, and the gate of {} then refuses",
        facts.arrow(transition)
    );
    Some(
        Diagnostic::new(&C42, condition_of(facts, rule), message)
            .label(condition_of(facts, rule), format!("1. applies with {what}"))
            .label(facts.first_line(gate.span), "2. refuses that, so the agent's end counts as a crash")
            .help(format!("let the rule ask for what the gate asks for: `{}`", artifact(gate))),
    )
}
