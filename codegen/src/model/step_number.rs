//! Numbers of step workflows, within bounds.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::decoder::{Decoder, Field};
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::Spanned;

/// A number within these bounds.
pub(super) fn number<N: TryFrom<u32> + Into<u32> + Copy + PartialOrd + Display>(
    decoder: &mut Decoder<'_>,
    field: &Field<'_>,
    range: RangeInclusive<N>,
) -> Option<Spanned<N>> {
    let bounds = (*range.start()).into()..=(*range.end()).into();
    let written = decoder.integer_meant_in(field, bounds)?;
    let number = N::try_from(written).ok().filter(|it| range.contains(it));
    if number.is_none() {
        let (least, most) = (range.start(), range.end());
        let message =
            format!("`{}` takes a number from {least} to {most}, and this is {written}", field.name);
        decoder.report(
            Diagnostic::new(&S04, field.value.span, message)
                .help(format!("write {least} or more, up to {most}")),
        );
    }
    number.map(|number| Spanned::new(number, field.value.span))
}
