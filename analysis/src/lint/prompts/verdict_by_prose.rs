//! C88: a verdict is read from prose, since its gate is not strict and the prompt does not ask for a line of its own.

use orange_core::{Gate as CoreGate, check_gate, has_word};

use super::C88;
use super::shared::{Prompted, Teller, asked_section, prompts, telling, verdict_gates};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Gate, Verdict};
use orange_codegen::span::Span;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    prompts(facts).filter_map(|it| in_prompt(facts, &it)).collect()
}

fn in_prompt(facts: &Facts<'_>, it: &Prompted<'_>) -> Option<Diagnostic> {
    let text = &it.prompt.text.value;
    let asks = || has_word(text, Verdict::Pass.as_str()) || has_word(text, Verdict::Fail.as_str());
    if it.reading.verdict_line || !asks() || says_first_line(text) {
        return None;
    }
    let loose: Vec<&Gate> = verdict_gates(facts, &telling(facts.prompt_facts, Teller::Prompt(it.id)))
        .filter(|gate| !gate.strict)
        .collect();
    let gate =
        loose.iter().find(|it| it.verdict.is_some_and(|it| it.value == Verdict::Pass)).or(loose.first())?;
    let asked = asked_section(it, &gate.section.value)?;
    misread(gate).then(|| finding(it, gate, asked))
}

/// Whether the agent is told where the verdict stands: the gate then reads nothing before it.
fn says_first_line(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["first line", "first word", "begin with", "begins with", "start with", "starts with"]
        .iter()
        .any(|it| text.contains(it))
}

/// What a reviewer may write, and a reader understands as FAIL.
const PROSE: &str = "All tests pass.\nFAIL: it leaks";

/// The core itself says how it reads that.
fn misread(gate: &Gate) -> bool {
    let section = gate.section.value.as_str();
    let read = |verdict| CoreGate {
        section,
        required: false,
        verdict: Some(verdict),
        strict: gate.strict,
        fields: &[],
        fresh: false,
    };
    check_gate(&read(Verdict::Pass), &format!("{section}\n{PROSE}\n"), &[]).is_ok()
}

fn finding(it: &Prompted<'_>, gate: &Gate, asked: Span) -> Diagnostic {
    let section = &gate.section.value;
    let message = format!(
        "`{}` lets its agent write prose before the verdict of `{section}`, and the gate takes the first line with PASS or FAIL",
        it.name
    );
    let verdict = gate.verdict.as_ref().map_or(gate.section.span, |it| it.span);
    Diagnostic::new(&C88, asked, message)
        .label(asked, "1. the verdict may stand anywhere in it")
        .label(verdict, "2. `All tests pass.` and then `FAIL: it leaks` is read as PASS")
        .help(format!(
            "add `strict: true` to the gates and exit rules that read `{section}`, and tell the agent: the first line must \
             be `Verdict: PASS` or `Verdict: FAIL`"
        ))
}
