//! Gates: what one section of the body must say.

use orange_core::Heading;

use super::actors::actors;
use super::decoder::{Decoder, Field, Fields};
use super::keys::{GATE, WRITERS};
use super::{Gate, Verdict};
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::Spanned;

const VERDICTS: [(&str, Verdict); 2] =
    [(Verdict::Pass.as_str(), Verdict::Pass), (Verdict::Fail.as_str(), Verdict::Fail)];

/// A gate, or the artifact of an exit rule.
pub(super) fn gate(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Gate> {
    let fields = decoder.object(field.value, &GATE)?;
    let section = fields.get("section").and_then(|it| heading(decoder, &it));
    let gate = Gate {
        span: fields.span,
        section: section.clone().unwrap_or(Spanned::new(String::new(), fields.span)),
        required: flag(decoder, &fields, "required"),
        verdict: fields.get("verdict").and_then(|it| decoder.word(&it, &VERDICTS)),
        strict: flag(decoder, &fields, "strict"),
        fresh: flag(decoder, &fields, "fresh"),
        written_by: fields.get("written_by").map(|it| actors(decoder, &it, &WRITERS)),
        fields: fields.get("fields").map(|it| names(decoder, &it)).unwrap_or_default(),
    };
    if gate.strict && fields.get("verdict").is_none() {
        let at = fields.get("strict").map_or(fields.span, |it| it.key);
        let message = "`strict` says how a verdict is written, and this gate asks for none";
        decoder.report(
            Diagnostic::new(&S04, at, message)
                .help("add `verdict: PASS` or `verdict: FAIL`, or delete `strict`"),
        );
    }
    section.is_some().then_some(gate)
}

/// `true` only when it says so.
pub(super) fn flag(decoder: &mut Decoder<'_>, fields: &Fields<'_>, name: &str) -> bool {
    fields.get(name).and_then(|it| decoder.boolean(&it)).unwrap_or(false)
}

fn heading(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<String>> {
    let text = decoder.string(field)?.map(|it| it.trim().to_owned());
    let is_heading = Heading::parse(&text.value).is_some_and(|it| !it.text.is_empty());
    if is_heading && !text.value.contains('\n') {
        return Some(text);
    }
    let name = text.value.lines().next().unwrap_or_default().trim_matches(['#', ' ']);
    let name = if name.is_empty() { "Handoff" } else { name };
    decoder.report(
        Diagnostic::new(&S04, field.value.span, "`section` takes a heading of one line")
            .help(format!("write `section: \"## {name}\"`")),
    );
    None
}

/// The names of `fields`: each stands before a `:` at the start of a line.
fn names(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Vec<Spanned<String>> {
    let items = decoder.list(field);
    if items.is_empty() {
        let message = "`fields` names no field";
        decoder.report(Diagnostic::new(&S04, field.value.span, message).help("name one, or delete `fields`"));
    }
    items.iter().filter_map(|item| name(decoder, &field.item(item))).collect()
}

fn name(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<String>> {
    let name = decoder.string(field)?;
    let fits = !name.value.is_empty() && !name.value.contains([':', '\n']) && name.value.trim() == name.value;
    if !fits {
        let message = "a field is the word before the `:` of a line";
        decoder.report(Diagnostic::new(&S04, name.span, message).help("write it as `DONE`"));
    }
    fits.then_some(name)
}
