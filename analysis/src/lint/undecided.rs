//! A10: the search was cut. The finding names what makes it large.

use std::collections::HashSet;

use orange_codegen::catalogue::A10;
use orange_codegen::diag::Diagnostic;
use orange_codegen::guard::Compare;
use orange_codegen::span::Span;

use super::Facts;
use super::counters::shared;
use crate::search::Cut;

/// The least number in a guard that is too large to be a bound of rounds.
const FAR: u32 = 20;

/// The part of a workflow that makes its search large.
enum LargestPart<'f> {
    /// A counter that a guard compares with a large number.
    Counter(&'f Compare),
    /// Headings of sections that count for something after a task has left a state.
    Sections(Vec<&'f str>),
}

pub(super) fn finding(facts: &Facts<'_>, cut: Cut) -> Diagnostic {
    let message = format!("the search stopped before it had seen every case: {cut}");
    let found = |place: Span| Diagnostic::new(&A10, place, message.clone());
    let holds = |help: &str| format!("what is proved holds for every case that was searched; {help}");
    let name = facts.workflow.name.span;
    match cut {
        Cut::Counters(_) => found(name).help("compare fewer counters in guards, or split the workflow"),
        Cut::Sections(_) => found(name).help("let gates read fewer sections, or split the workflow"),
        Cut::Contents(_) => {
            let section = facts.search.sections.iter().find(|it| it.is_cut).map_or("", |it| it.heading);
            found(place_of(facts, section))
                .help(format!("let the gates on `{section}` ask for fewer fields, or all for the same"))
        }
        Cut::Stopped => found(name).help(holds("search again to see the others")),
        Cut::Configurations(_) | Cut::Steps(_) => match largest(facts) {
            Some(LargestPart::Counter(it)) => {
                let counter = shared::name(facts, it.counter);
                found(it.span)
                    .label(
                        it.span,
                        format!("every value of `{counter}` up to {} is a case of its own", it.value),
                    )
                    .help(holds(&format!("compare `{counter}` with a smaller number")))
            }
            Some(LargestPart::Sections(headings)) => {
                let all: Vec<String> = headings.iter().map(|it| format!("`{it}`")).collect();
                let help = "so that what is old counts for nothing";
                found(headings.first().map_or(name, |it| place_of(facts, it)))
                    .help(holds(&format!("write `fresh: true` in the gates on {}, {help}", all.join(", "))))
            }
            None => found(name).help(holds(
                "let a state read fewer sections, compare fewer counters, or split the workflow",
            )),
        },
    }
}

/// The part that tells most cases apart, if a change of it can help.
fn largest<'f>(facts: &Facts<'f>) -> Option<LargestPart<'f>> {
    let search = facts.search;
    let sections: Vec<_> = search.sections.iter().enumerate().filter(|(_, it)| !it.is_forgotten).collect();
    let (mut values, mut contents) = (HashSet::new(), HashSet::new());
    for (_, task) in search.configurations() {
        values.insert(search.counters.values(task));
        contents.insert(sections.iter().map(|(at, _)| task.section(*at)).collect::<Vec<_>>());
    }
    let compared = facts.transitions.iter().filter_map(|it| it.when.as_ref());
    let compared = compared.flat_map(|it| it.expr.comparisons());
    let far = compared.max_by_key(|it| it.value).filter(|it| it.value >= FAR);
    match far.filter(|_| values.len() >= contents.len()) {
        Some(it) => Some(LargestPart::Counter(it)),
        None if contents.len() > 1 => {
            Some(LargestPart::Sections(sections.iter().map(|(_, it)| it.heading).collect()))
        }
        None => None,
    }
}

/// The place of the first gate that reads a section.
fn place_of(facts: &Facts<'_>, heading: &str) -> Span {
    let gates = facts.transitions.iter().flat_map(|it| it.section_gates());
    let rules = facts.exit_rules.iter().flat_map(|it| it.condition.section_gates());
    let mut gates = gates.chain(rules).filter(|gate| gate.section.value == heading);
    gates.next().map_or(facts.workflow.name.span, |gate| facts.first_line(gate.place))
}
