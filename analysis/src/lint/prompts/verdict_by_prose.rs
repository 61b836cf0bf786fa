//! C88: a gate takes the first line with PASS or FAIL for the verdict, and the prompt shows no line `Verdict: …`.

use orange_core::has_word;

use super::C88;
use super::shared::{
    InstructionOrigin, Prompted, instructions, named_section, prompts, verdict_gates, verdict_lines,
};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{SectionGate, Verdict};
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    prompts(facts).filter_map(|it| in_prompt(facts, &it)).collect()
}

fn in_prompt(facts: &Facts<'_>, it: &Prompted<'_>) -> Option<Diagnostic> {
    let text = &it.prompt.text.value;
    let loose: Vec<&SectionGate> =
        verdict_gates(facts, &instructions(facts.prompt_facts, InstructionOrigin::Prompt(it.id)))
            .filter(|gate| !gate.strict)
            .collect();
    let gate = loose.iter().find(|it| it.wants(Verdict::PASS.as_str())).or(loose.first())?;
    if it.reading.verdict_line || !gate.words().any(|word| has_word(text, word)) {
        return None;
    }
    let named = named_section(it, &gate.section.value)?;
    Some(finding(it, gate, named))
}

fn finding(it: &Prompted<'_>, gate: &SectionGate, named: Span) -> Diagnostic {
    let section = &gate.section.value;
    let message = format!(
        "`{}` shows no line `Verdict: …` for `{section}`, and the gate takes the first line with {}",
        it.name,
        gate.words().collect::<Vec<_>>().join(" or ")
    );
    let verdict = gate.verdict_place().unwrap_or(gate.section.span);
    Diagnostic::new(&C88, named, message)
        .label(named, "1. the agent may write prose before the verdict")
        .label(verdict, "2. `All tests pass.` and then `FAIL: it leaks` is read as PASS")
        .help(format!(
            "add `strict: true` to the gates and exit rules that read `{section}`, and write in the prompt: the first line \
             must be {}",
            verdict_lines(gate)
        ))
}
