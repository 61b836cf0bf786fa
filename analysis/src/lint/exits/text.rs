//! Places that the lints of exit rules point at, and texts that they advise to write.

use crate::lint::Facts;
use orange_codegen::model::{Condition, ExitRule, Gate, RequiredFields, SectionGate};
use orange_codegen::span::Span;

/// Place where a rule says when it applies: its artifact, how the agent ended, or its first line.
pub fn condition_of(facts: &Facts<'_>, rule: &ExitRule) -> Span {
    let place = match &rule.condition {
        Condition::HasArtifact(gates) => gates.first().map_or(rule.span, Gate::place),
        Condition::Ended(ending) => ending.span,
        Condition::NoArtifact | Condition::Always | Condition::Overdue(_) | Condition::Spent => rule.span,
    };
    facts.first_line(place)
}

/// The condition of an exit rule with the demands of these gates: `has_artifact: {section: "## Handoff", required: true}`.
pub fn artifact(gates: &[Gate]) -> String {
    format!("has_artifact: {}", all_of(gates))
}

/// Gates as a workflow writes them: one, or `{all: […]}`.
pub fn all_of(gates: &[Gate]) -> String {
    let written = |gate: &Gate| match gate {
        Gate::Section(gate) => wishes(gate, gate.fresh),
        Gate::AnySection(gate) => gate.sections.first().map_or_else(String::new, |it| wishes(it, it.fresh)),
        Gate::Command(gate) => {
            let on = if gate.on_merge { ", on: merge" } else { "" };
            format!("{{command: {{argv: [{}]{on}}}}}", gate.argv.join(", "))
        }
        Gate::Checks(_) => "{checks: green}".to_owned(),
        Gate::Children(gate) => format!("{{children: {}}}", gate.wanted.as_str()),
    };
    // A gate with `verdicts: all` is in the list once for each reviewer.
    let mut each: Vec<String> = gates.iter().map(written).collect();
    each.dedup();
    match &each[..] {
        [one] => one.clone(),
        several => format!("{{all: [{}]}}", several.join(", ")),
    }
}

/// The demands of a gate, as a workflow writes them: `{section: "## Handoff", required: true}`.
pub fn wishes(gate: &SectionGate, fresh: bool) -> String {
    let mut text = format!("{{section: \"{}\"", gate.heading());
    if let Some(verdict) = &gate.verdict {
        text += &format!(", verdict: {}", verdict.value);
    }
    let words =
        Some(&gate.words).filter(|it| !it.is_empty() && gate.verdict.is_none()).map(|it| it.join(", "));
    match (gate.verdicts.map(|it| it.value.as_str()), words) {
        (Some(of), Some(words)) => text += &format!(", verdicts: {{{of}: [{words}]}}"),
        (Some(of), None) => text += &format!(", verdicts: {of}"),
        (None, Some(words)) => text += &format!(", verdicts: [{words}]"),
        (None, None) => {}
    }
    for (flag, is_set) in [("required", gate.required), ("strict", gate.strict), ("fresh", fresh)] {
        if is_set {
            text += &format!(", {flag}: true");
        }
    }
    if !gate.fields.names().is_empty() {
        let names: Vec<&str> = gate.fields.names().iter().map(|it| it.value.as_str()).collect();
        text += &match gate.fields {
            RequiredFields::Any(_) => format!(", fields: [{}]", names.join(", ")),
            RequiredFields::All(_) => format!(", fields: {{all: [{}]}}", names.join(", ")),
        };
    }
    text + "}"
}

/// `a`, `a or b`, `a, b or c`.
pub fn any_of(mut words: Vec<String>) -> String {
    let Some(last) = words.pop() else { return String::new() };
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}
