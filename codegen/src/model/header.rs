//! The keys that every workflow begins with: its name and version.

use super::decoder::{Decoder, ObjectFields, shortened};
use crate::catalogue::{S04, S05};
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::syntax::NodeKind;

/// The version of a workflow that gives none.
const FIRST: u32 = 1;

/// The workflow's name: `[a-z][a-z0-9-]*`.
pub(super) fn name(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Option<Spanned<String>> {
    let name = decoder.string(&fields.get("name")?)?;
    let fits = is_name(&name.value);
    if !fits {
        let message = format!("`{}` is not a name for a workflow", shortened(&name.value));
        decoder.report(
            Diagnostic::new(&S04, name.span, message)
                .help("a small letter first, then small letters, digits and `-`: `my-flow-2`"),
        );
    }
    fits.then_some(name)
}

/// True if this can name a workflow or an actor: `[a-z][a-z0-9-]*`.
pub(super) fn is_name(word: &str) -> bool {
    word.starts_with(|it: char| it.is_ascii_lowercase())
        && word.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
}

/// Reports a name that Rust could not spell. It is kept: what refers to it is right.
pub(super) fn check_identifier(decoder: &mut Decoder<'_>, name: &Spanned<&str>, kind: &str, example: &str) {
    let fits = name.value.starts_with(|it: char| it.is_ascii_alphabetic())
        && name.value.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-');
    if !fits {
        let message = format!("`{}` is not a name for a {kind}", shortened(name.value));
        let help = format!(
            "a letter from A to Z or a to z first, then such letters, digits, `_` and `-`: `{example}`"
        );
        decoder.report(Diagnostic::new(&S04, name.span, message).help(help));
    }
}

/// The workflow's version, as its author counts: an integer from 1; 1 where none is given or it cannot be understood.
pub(super) fn version(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Spanned<u32> {
    let Some(field) = fields.get("version") else { return Spanned::new(FIRST, fields.span) };
    let span = field.value.span;
    let written = match &field.value.kind {
        NodeKind::Scalar(scalar) if !scalar.is_null() => &scalar.text.value,
        NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Mapping(_) => {
            decoder.integer(&field);
            return Spanned::new(FIRST, span);
        }
    };
    let digits = written.starts_with(|it: char| matches!(it, '1'..='9'))
        && written.bytes().all(|it| it.is_ascii_digit());
    let version = digits.then(|| written.parse().ok()).flatten();
    if version.is_none() {
        let message = format!("`{}` is not a version: versions count from 1", shortened(written));
        let help = format!("write a whole number from 1 to {}, one more for each change", u32::MAX);
        decoder.report(Diagnostic::new(&S05, span, message).help(help));
    }
    Spanned::new(version.unwrap_or(FIRST), span)
}
