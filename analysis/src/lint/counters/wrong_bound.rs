//! C2B: a prompt says a bound of a counter that no guard has.

use super::C2B;
use super::literal_equals_bound::{Literal, literals, turn};
use super::shared::{guards, name};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::guard::Compare;
use orange_codegen::model::Prompt;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let guards = guards(facts);
    let compared: Vec<&Compare> = guards.iter().flat_map(|it| it.guard.expr.comparisons()).collect();
    let mut found = Vec::new();
    for prompt in &facts.workflow.prompts {
        found
            .extend(literals(facts, prompt).iter().filter_map(|it| in_literal(facts, prompt, it, &compared)));
    }
    found
}

fn in_literal(
    facts: &Facts<'_>,
    prompt: &Prompt,
    it: &Literal<'_>,
    compared: &[&Compare],
) -> Option<Diagnostic> {
    let of_counter = || compared.iter().filter(|compare| compare.counter == it.counter);
    let first = of_counter().next()?;
    if of_counter().any(|compare| turn(compare.op, compare.value) == Some(it.turn)) {
        return None;
    }
    let text = |span: orange_codegen::span::Span| &facts.source.text[span.range()];
    let (said, name) = (it.text, name(facts, it.counter));
    let message = format!("the prompt `{}` says `{said}`, and no guard turns there", prompt.name.value);
    Some(
        Diagnostic::new(&C2B, it.span, message)
            .label(it.span, "the agent counts up to this")
            .label(first.span, format!("the guard says `{}`", text(first.span)))
            .help(format!("say the guard's bound of `{name}`, or leave the number out: `orange task next` lists the transitions that are open")),
    )
}
