//! C11: two states whose names differ by nothing but case, `-` and `_`.

use std::collections::HashMap;

use super::C11;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut first = HashMap::new();
    let mut found = Vec::new();
    for (_, state) in facts.states() {
        let Some(earlier) = first.get(&letters(&state.name.value)) else {
            first.insert(letters(&state.name.value), &state.name);
            continue;
        };
        let (one, other): (&str, &str) = (&earlier.value, &state.name.value);
        found.push(
            Diagnostic::new(&C11, state.name.span, format!("`{one}` and `{other}` are almost one name"))
                .label(earlier.span, "1. the one")
                .label(state.name.span, "2. the other")
                .help("if one state is meant, delete the other; else give it a name that distinguishes them"),
        );
    }
    found
}

fn letters(name: &str) -> String {
    name.chars().filter(|it| !matches!(it, '-' | '_')).map(|it| it.to_ascii_lowercase()).collect()
}
