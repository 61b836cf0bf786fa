//! C87: a prompt or a message shows a verdict that no gate can read.

use super::C87;
use super::shared::{Instructions, all_instructions, any_of, verdict_gates};
use crate::lint::Facts;
use crate::lint::prompt_facts::VerdictWord;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{SectionGate, Verdict};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    all_instructions(facts).filter_map(|it| in_prompt(facts, &it)).collect()
}

fn in_prompt(facts: &Facts<'_>, it: &Instructions<'_>) -> Option<Diagnostic> {
    let is_known =
        |word: &str| [Verdict::Pass, Verdict::Fail].iter().any(|it| it.as_str().eq_ignore_ascii_case(word));
    let unknown: Vec<&VerdictWord> = it.reading.verdicts.iter().filter(|it| !is_known(&it.word)).collect();
    let first = unknown.first()?;
    let gate = verdict_gates(facts, it).next()?;
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
    let message = format!(
        "{} shows the verdict {}, and gates read PASS and FAIL alone",
        it.name(facts),
        any_of(&words)
    );
    let mut found = Diagnostic::new(&C87, first.span, message);
    for word in unknown {
        found = found.label(word.span, "no gate reads this word");
    }
    let read = gate.verdict.as_ref().map_or(gate.section.span, |it| it.span);
    found.label(read, "the gate reads PASS or FAIL").help("write `Verdict: PASS` or `Verdict: FAIL`")
}
