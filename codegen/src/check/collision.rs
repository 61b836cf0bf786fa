//! A11: two names that would be one in the generated Rust.

use super::CheckContext;
use crate::catalogue::A11;
use crate::diag::Diagnostic;
use crate::names;
use crate::span::Span;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let workflow = &context.draft.workflow;
    let states: Vec<_> = workflow.states.iter().map(|it| (it.name.value.as_str(), it.name.span)).collect();
    collisions(context.found, "states", &states, names::variant);
    let prompts: Vec<_> = workflow.prompts.iter().map(|it| (it.name.value.as_str(), it.name.span)).collect();
    collisions(context.found, "prompts", &prompts, names::variant);
    let counters = workflow.counters.iter().map(|it| (it.name.as_str(), it.declared.unwrap_or_default()));
    collisions(context.found, "counters", &counters.collect::<Vec<_>>(), names::field);
}

/// Reports names of one kind that would be one in Rust.
pub(super) fn collisions(
    found: &mut Vec<Diagnostic>,
    kind: &str,
    names: &[(&str, Span)],
    rust_name: fn(&str) -> String,
) {
    for (first, second, rust) in names::collisions(names.iter().map(|(name, _)| *name), rust_name) {
        let ((a, first), (b, second)) = (names[first], names[second]);
        found.push(
            Diagnostic::new(
                &A11,
                second,
                format!("the {kind} `{a}` and `{b}` have the same name in Rust: `{rust}`"),
            )
            .label(first, "one")
            .label(second, "the other")
            .help("rename one of the two"),
        );
    }
}
