//! What the lints of exit rules point at, and tell somebody to write.

use crate::lint::Facts;
use orange_codegen::model::{Condition, ExitRule, Gate};
use orange_codegen::span::Span;

/// Where a rule says when it applies: its artifact, how the agent ended, or its first line.
pub fn condition_of(facts: &Facts<'_>, rule: &ExitRule) -> Span {
    match &rule.condition {
        Condition::HasArtifact(gate) => facts.first_line(gate.span),
        Condition::Ended(ending) => facts.first_line(ending.span),
        Condition::NoArtifact | Condition::Always => facts.first_line(rule.span),
    }
}

/// The artifact that asks for what a gate asks for: `has_artifact: {section: "## Handoff", required: true}`.
pub fn artifact(gate: &Gate) -> String {
    format!("has_artifact: {}", wishes(gate, gate.fresh))
}

/// What a gate asks for, as it is written: `{section: "## Handoff", required: true}`.
pub fn wishes(gate: &Gate, fresh: bool) -> String {
    let mut text = format!("{{section: \"{}\"", gate.section.value);
    if let Some(verdict) = &gate.verdict {
        text += &format!(", verdict: {}", verdict.value);
    }
    for (flag, is_set) in [("required", gate.required), ("strict", gate.strict), ("fresh", fresh)] {
        if is_set {
            text += &format!(", {flag}: true");
        }
    }
    if !gate.fields.is_empty() {
        let names: Vec<&str> = gate.fields.iter().map(|it| it.value.as_str()).collect();
        text += &format!(", fields: [{}]", names.join(", "));
    }
    text + "}"
}

/// `a`, `a or b`, `a, b or c`.
pub fn any_of(mut words: Vec<String>) -> String {
    let Some(last) = words.pop() else { return String::new() };
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}
