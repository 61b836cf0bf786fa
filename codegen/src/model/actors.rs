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
    let named = fields.iter().filter_map(|it| decoder.word(it, &words));
    named.fold(Actors::NONE, |all, actor| all.with(actor.value))
}
