//! C87: a prompt or a message shows a verdict that no gate can read.

use super::C87;
use super::shared::{Instructions, all_instructions, any_of, verdict_gates, verdict_lines};
use crate::lint::prompt_facts::{VerdictWord, asked_results};
use crate::lint::steps::{each, prompt_text};
use crate::lint::{Facts, StepFacts};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::SectionGate;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    all_instructions(facts).filter_map(|it| in_prompt(facts, &it)).collect()
}

/// The prompts of steps that ask for a result which the report of the step may not have.
pub(super) fn find_in_steps(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all(), |(id, step)| {
        let declared = facts.plan.results_of(id);
        let text = prompt_text(&step.prompt);
        let asked = asked_results(&text, declared);
        let unknown: Vec<&str> = asked.into_iter().filter(|it| !declared.contains(it)).collect();
        if declared.is_empty() || unknown.is_empty() {
            return None;
        }
        let (name, known) = (&step.id.value, any_of(declared));
        let message = format!(
            "the prompt of `{name}` asks for the result {}, and the step may report {known} alone",
            any_of(&unknown)
        );
        let mut found = Diagnostic::new(&C87, step.prompt.span, message);
        if let Some(first) = step.results.first() {
            found = found.label(step.prompt.span, "asks for it").label(first.span, "declared here");
        }
        Some(found.help(format!("write {known} in the prompt, or add the word to `results` of `{name}`")))
    })
}

fn in_prompt(facts: &Facts<'_>, it: &Instructions<'_>) -> Option<Diagnostic> {
    let gates: Vec<&SectionGate> = verdict_gates(facts, it).collect();
    let is_known =
        |word: &str| gates.iter().flat_map(|gate| gate.words()).any(|known| known.eq_ignore_ascii_case(word));
    let unknown: Vec<&VerdictWord> = it.reading.verdicts.iter().filter(|it| !is_known(&it.word)).collect();
    let (first, gate) = unknown.first().zip(gates.first())?;
    Some(finding(facts, it, (first, &unknown), gate))
}

fn finding(
    facts: &Facts<'_>,
    it: &Instructions<'_>,
    (first, unknown): (&VerdictWord, &[&VerdictWord]),
    gate: &SectionGate,
) -> Diagnostic {
    let mut words: Vec<&str> = unknown.iter().map(|it| it.word.as_str()).collect();
    words.dedup();
    let known: Vec<&str> = gate.words().collect();
    let message = format!(
        "{} shows the verdict {}, and gates read {} alone",
        it.name(facts),
        any_of(&words),
        known.join(" and ")
    );
    let mut found = Diagnostic::new(&C87, first.span, message);
    for word in unknown {
        found = found.label(word.span, "no gate reads this word");
    }
    let read = gate.verdict_place().unwrap_or(gate.section.span);
    let reads = format!("the gate reads {}", known.join(" or "));
    found.label(read, reads).help(format!("write {}", verdict_lines(gate)))
}
