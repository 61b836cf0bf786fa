//! What every workflow begins with: its name and version.

use super::decoder::{Decoder, Fields, shortened};
use crate::catalogue::{S04, S05};
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::syntax::Kind;

/// The only version of the language so far.
const VERSION: u32 = 1;

/// The workflow's name: `[a-z][a-z0-9-]*`.
pub(super) fn name(decoder: &mut Decoder<'_>, fields: &Fields<'_>) -> Option<Spanned<String>> {
    let name = decoder.string(&fields.get("name")?)?;
    let fits = name.value.starts_with(|it: char| it.is_ascii_lowercase())
        && name.value.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-');
    if !fits {
        let message = format!("`{}` is no name for a workflow", shortened(&name.value));
        decoder.report(
            Diagnostic::new(&S04, name.span, message)
                .help("a small letter first, then small letters, digits and `-`: `my-flow-2`"),
        );
    }
    fits.then_some(name)
}

/// The version of the language; 1 where nothing else can be understood.
pub(super) fn version(decoder: &mut Decoder<'_>, fields: &Fields<'_>) -> u32 {
    let Some(field) = fields.get("version") else { return VERSION };
    let written = match &field.value.kind {
        Kind::Scalar(scalar) if !scalar.is_null() => &scalar.text.value,
        Kind::Scalar(_) | Kind::Sequence(_) | Kind::Mapping(_) => {
            decoder.integer(&field);
            return VERSION;
        }
    };
    if *written != VERSION.to_string() {
        let message = format!("version `{}` of the workflow language is not supported", shortened(written));
        decoder.report(Diagnostic::new(&S05, field.value.span, message).help("write `version: 1`"));
    }
    VERSION
}
