//! Lists of actors.

use super::decoder::{Decoder, Field};
use super::{Actor, Actors};
use crate::catalogue::S04;
use crate::diag::Diagnostic;

/// The actors that `by` or `written_by` names, all of them among `known`.
pub(super) fn actors(decoder: &mut Decoder<'_>, field: &Field<'_>, known: &[Actor]) -> Actors {
    let words: Vec<_> = known.iter().map(|actor| (actor.as_str(), *actor)).collect();
    let fields = decoder.one_or_list(field);
    if fields.is_empty() {
        let found = Diagnostic::new(&S04, field.value.span, format!("`{}` names nobody", field.name));
        let all = "leave `by` out for anyone, or write `by: [engine]` for the engine alone";
        let help = if field.name == "by" { all } else { "name who writes it: `written_by: reviewer`" };
        decoder.report(found.help(help));
    }
    let known: Vec<_> = known.iter().map(|it| it.as_str()).collect();
    if let Some(help) = decoder.writer().words_instead(field.name, field.value, &known) {
        let message = format!("`{}` takes a word, or a list of words", field.name);
        decoder.report(Diagnostic::new(&S04, field.value.span, message).help(help));
        return Actors::NONE;
    }
    let named = fields.iter().filter_map(|it| decoder.word(it, &words));
    named.fold(Actors::NONE, |all, actor| all.with(actor.value))
}
