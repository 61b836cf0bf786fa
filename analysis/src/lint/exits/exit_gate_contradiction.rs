//! C41: what an exit rule applies to, the gate of its transition always refuses.

use super::C41;
use super::advance::{self, Advance, Candidate};
use super::cases::Cases;
use super::text::{any_of, artifact, condition_of};
use crate::lint::Facts;
use orange_codegen::catalogue::A10;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{SectionGate, Transition};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let cut = facts.exit_cases().iter().filter(|it| it.cut).map(|it| undecided(facts, it));
    cut.chain(facts.asked_cases().flat_map(|cases| of_state(facts, cases))).collect()
}

/// True if every transition that a rule can take is closed whenever the rule applies.
pub(super) fn is_contradiction(candidates: &[Candidate<'_>]) -> bool {
    !candidates.is_empty() && candidates.iter().all(|it| !it.is_open && !it.refused.is_empty())
}

fn of_state(facts: &Facts<'_>, cases: &Cases) -> Vec<Diagnostic> {
    let mut found: Vec<(&str, Diagnostic)> = Vec::new();
    for advance in advance::of(facts, cases.state) {
        let candidates = advance.candidates(facts, cases);
        if !is_contradiction(&candidates) {
            continue;
        }
        let Some(gate) = refusing(facts, cases, &candidates[0]) else { continue };
        let section = gate.section.value.as_str();
        // Rules of one state that all contradict the gates on one section have one cause.
        match found.iter_mut().find(|(known, _)| *known == section) {
            Some((_, first)) => *first = also(facts, first.clone(), &advance, gate),
            None => found.extend(finding(facts, cases, &advance, &candidates).map(|it| (section, it))),
        }
    }
    found.into_iter().map(|(_, it)| it).collect()
}

/// Adds a further rule to the finding.
fn also(facts: &Facts<'_>, found: Diagnostic, advance: &Advance<'_>, gate: &SectionGate) -> Diagnostic {
    found
        .label(condition_of(facts, facts.exit_rules[advance.rule]), "what this one applies to")
        .label(facts.first_line(gate.place), "is refused here, too")
}

fn finding(
    facts: &Facts<'_>,
    cases: &Cases,
    advance: &Advance<'_>,
    candidates: &[Candidate<'_>],
) -> Option<Diagnostic> {
    let rule = facts.exit_rules[advance.rule];
    let transition = facts.transition(candidates[0].transition);
    let (gate, case) = (refusing(facts, cases, &candidates[0])?, candidates[0].refused[0]);
    let arrow = facts.arrow(transition);
    let what = cases.tell(case, &gate.section.value)?;
    let message =
        format!("this exit rule takes {arrow}, whose gate refuses everything that the rule applies to");
    let others = elsewhere(facts, cases, advance, candidates);
    let elsewhere = others.map_or(String::new(), |it| format!(", or lead to {it}"));
    Some(
        Diagnostic::new(&C41, condition_of(facts, rule), message)
            .label(condition_of(facts, rule), format!("1. applies with {what}"))
            .label(facts.first_line(gate.place), "2. refuses that, so every such end counts as a crash")
            .help(format!(
                "let the rule ask for what the gate asks for, `{}`{elsewhere}",
                artifact(&transition.gates)
            )),
    )
}

/// The gate that refuses the first case which is refused.
pub(super) fn refusing<'f>(
    facts: &Facts<'f>,
    cases: &Cases,
    candidate: &Candidate<'_>,
) -> Option<&'f SectionGate> {
    let transition: &Transition = facts.transition(candidate.transition);
    let section = cases.refused_section(candidate.refused.first()?, candidate.transition)?;
    transition.section_gates().find(|it| it.section.value == section)
}

/// The states to which some gate lets through what the rule applies with.
fn elsewhere(
    facts: &Facts<'_>,
    cases: &Cases,
    advance: &Advance<'_>,
    candidates: &[Candidate<'_>],
) -> Option<String> {
    let case = candidates[0].refused[0];
    let all = advance::of(facts, cases.state);
    let mut names: Vec<String> = all
        .iter()
        .filter(|it| it.to != advance.to)
        .filter(|it| facts.machine.between(cases.state, it.to).any(|id| cases.passes(case, id)))
        .map(|it| format!("`{}`", facts.name(it.to)))
        .collect();
    names.dedup();
    (!names.is_empty()).then(|| any_of(names))
}

fn undecided(facts: &Facts<'_>, cases: &Cases) -> Diagnostic {
    let state = facts.state(cases.state);
    let message = format!(
        "what the exit rules of `{}` make of everything that can be written was not decided: they and the gates \
         behind them distinguish more than {} combinations",
        state.name.value,
        cases.all.len()
    );
    Diagnostic::new(&A10, state.name.span, message).help("let the rules of one state read fewer sections")
}
