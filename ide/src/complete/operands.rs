//! Completion of values that a mission has: `plan.risk`, `inputs.target`, in conditions, placeholders and lists of items.

use orange_codegen::model::keys::NameKind;
use orange_codegen::model::{Field, Verdict};

use super::CompletionKind;
use crate::project::Project;

/// The signs behind which the right side of a comparison stands.
const SIGNS: [&str; 2] = ["==", "!="];

/// The words that can stand behind the beginning of a value: steps and `inputs`, then the fields of one, or the inputs.
pub(super) fn operand(project: &Project<'_>, before: &str) -> Vec<(String, CompletionKind)> {
    let named = |kind, names: Vec<String>| {
        names.into_iter().map(move |it| (it, CompletionKind::Name(kind))).collect::<Vec<_>>()
    };
    let inputs = project.names(NameKind::Inputs);
    match last_word(before).strip_suffix('.') {
        Some("inputs") => named(NameKind::Inputs, inputs),
        Some(step) => {
            let fields = Field::OF_ALL.map(|it| (it.0.to_owned(), CompletionKind::Word));
            named(NameKind::Outputs, project.outputs(step)).into_iter().chain(fields).collect()
        }
        None => {
            let word = (!inputs.is_empty()).then(|| ("inputs".to_owned(), CompletionKind::Word));
            named(NameKind::Steps, project.names(NameKind::Steps)).into_iter().chain(word).collect()
        }
    }
}

/// The words that can stand in a condition.
pub(super) fn condition(project: &Project<'_>, before: &str) -> Vec<(String, CompletionKind)> {
    let left = before.trim_end().trim_end_matches('\'').trim_end();
    if let Some(left) = SIGNS.iter().find_map(|it| left.strip_suffix(it)) {
        return compared(project, last_word(left.trim_end()));
    }
    let mut words = operand(project, before);
    if last_word(before).is_empty() {
        words.extend(["all", "any"].map(|it| (it.to_owned(), CompletionKind::Word)));
    }
    words
}

/// The words that a result can be; those of an output stand in its declaration.
fn compared(project: &Project<'_>, operand: &str) -> Vec<(String, CompletionKind)> {
    let (step, field) = operand.rsplit_once('.').unwrap_or((operand, ""));
    if Some(field) != Field::Result.word() {
        let words = project.words_of(step, field).into_iter();
        return words.map(|it| (it, CompletionKind::Word)).collect();
    }
    let mut results = project.results(Some(step));
    results.retain(|it| !it.is_empty());
    if results.is_empty() {
        results.extend([Verdict::PASS, Verdict::FAIL].map(|it| it.as_str().to_owned()));
    }
    results.into_iter().map(|it| (it, CompletionKind::Name(NameKind::Results))).collect()
}

/// The name at the end of a text, with its dots.
fn last_word(text: &str) -> &str {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    &text[text.trim_end_matches(is_part).len()..]
}
