//! C8A: a gate takes its verdict from anywhere in a section, so that prose passes it.

use super::C8A;
use crate::lint::Facts;
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::model::SectionGate;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut loose: Vec<(&str, Vec<&SectionGate>)> = Vec::new();
    for gate in gates(facts).filter(|gate| gate.asks_for_verdict() && !gate.strict) {
        let section = gate.heading();
        match loose.iter_mut().find(|(heading, _)| *heading == section) {
            // One that stands between several states was written once.
            Some((_, same)) if same.iter().any(|it| it.span == gate.span) => {}
            Some((_, same)) => same.push(gate),
            None => loose.push((section, vec![gate])),
        }
    }
    loose.iter_mut().for_each(|(_, gates)| gates.sort_by_key(|gate| gate.span.start));
    loose.iter().filter_map(|(section, gates)| finding(facts, section, gates)).collect()
}

/// The gates of transitions, then the artifacts of exit rules.
fn gates<'f>(facts: &Facts<'f>) -> impl Iterator<Item = &'f SectionGate> {
    let artifacts = facts.exit_rules.iter().flat_map(|rule| rule.condition.section_gates());
    let gates = facts.transitions.iter().flat_map(|transition| transition.section_gates());
    gates.chain(artifacts).collect::<Vec<_>>().into_iter()
}

/// All gates on a section are one finding: a verdict that one of them reads otherwise than the rest is no help.
fn finding(facts: &Facts<'_>, section: &str, gates: &[&SectionGate]) -> Option<Diagnostic> {
    let (first, others) = gates.split_first()?;
    let place = |gate: &SectionGate| gate.verdict_place().unwrap_or(gate.section.span);
    let message =
        format!("the verdict of `{section}` is taken from the first line of it that has PASS or FAIL");
    let found = Diagnostic::new(&C8A, place(first), message)
        .label(place(first), "`This cannot pass: the tests are red.` is read as PASS");
    let found = others.iter().fold(found, |found, gate| found.label(place(gate), "here, too"));
    let edits = gates.iter().map(|gate| edit::put_first(facts.source, gate.span, ("strict", "true")));
    let fix = edits.collect::<Option<_>>();
    Some(
        found
            .help(format!(
                "add `strict: true`, and write in the prompt that the first line of `{section}` must be `Verdict: PASS` or \
                 `Verdict: FAIL`"
            ))
            .fix_if(fix.map(|edits| Fix { title: "ask for a line of its own".to_owned(), edits, safe: false })),
    )
}
