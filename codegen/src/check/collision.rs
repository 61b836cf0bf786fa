//! A11: two names that would be one in the generated Rust.

use super::CheckContext;
use crate::catalogue::A11;
use crate::diag::Diagnostic;
use crate::names;
use crate::span::Span;

pub(super) fn check(context: &mut CheckContext<'_>) {
    let workflow = &context.draft.workflow;
    let states: Vec<_> = workflow.states.iter().map(|it| (it.name.value.as_str(), it.name.span)).collect();
    collisions(context, "states", &states, names::variant);
    let prompts: Vec<_> = workflow.prompts.iter().map(|it| (it.name.value.as_str(), it.name.span)).collect();
    collisions(context, "prompts", &prompts, names::variant);
    let counters = workflow.counters.iter().map(|it| (it.name.as_str(), it.declared.unwrap_or_default()));
    collisions(context, "counters", &counters.collect::<Vec<_>>(), names::field);
}

fn collisions(
    context: &mut CheckContext<'_>,
    kind: &str,
    names: &[(&str, Span)],
    rust_name: fn(&str) -> String,
) {
    for (first, second, rust) in names::collisions(names.iter().map(|(name, _)| *name), rust_name) {
        let ((a, first), (b, second)) = (names[first], names[second]);
        context.report(
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
