//! `exit` and `on_output`: how an agent ended.

use super::Ending;
use super::decoder::{Decoder, Field, ObjectFields};
use super::keys::EXIT;
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::Spanned;

/// The largest exit status: the parent of a process gets one byte.
const LAST_CODE: u32 = 255;

/// The last signal that there is on Linux.
const LAST_SIGNAL: u32 = 64;

/// The end of an agent that a rule describes; nothing when a part of it was not understood.
pub(super) fn ending(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Option<Ending> {
    let (exit, output) = (fields.get("exit"), fields.get("on_output"));
    let first = exit.or(output)?;
    // Both are read before either may stop, so that both report their faults.
    let (exit, said) = (exit.map(|it| numbers(decoder, &it)), output.map(|it| said(decoder, &it)));
    let (codes, signals) = exit.unwrap_or_else(|| Some((Vec::new(), Vec::new())))?;
    let output = match said {
        Some(said) => Some(said?),
        None => None,
    };
    Some(Ending { span: first.key.to(first.value.span), codes, signals, output, after: None })
}

fn numbers(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<(Vec<i32>, Vec<i32>)> {
    let fields = decoder.object(field.value, &EXIT)?;
    let mut read = |key, range| {
        let items = fields.get(key).map(|it| decoder.one_or_list(&it)).unwrap_or_default();
        let numbers: Vec<_> = items.iter().map(|it| number(decoder, it, range)).collect();
        numbers.into_iter().collect::<Option<Vec<i32>>>()
    };
    let (codes, signals) = (read("code", (0, LAST_CODE)), read("signal", (1, LAST_SIGNAL)));
    let (codes, signals) = (codes?, signals?);
    if codes.is_empty() && signals.is_empty() {
        let found = Diagnostic::new(&S04, field.value.span, "`exit` names no status and no signal");
        decoder.report(found.help("write `exit: {code: 75}` or `exit: {signal: 9}`, or delete `exit`"));
        return None;
    }
    Some((codes, signals))
}

fn number(decoder: &mut Decoder<'_>, field: &Field<'_>, (first, last): (u32, u32)) -> Option<i32> {
    let number = decoder.integer(field)?;
    if !(first..=last).contains(&number) {
        let message = format!("no agent ends with `{}: {number}`", field.name);
        let help = format!("write a number from {first} to {last}");
        decoder.report(Diagnostic::new(&S04, field.value.span, message).help(help));
        return None;
    }
    i32::try_from(number).ok()
}

/// One line, whatever the author made of it: line ends count as spaces in what agents say, too.
fn said(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<String>> {
    let text = decoder.string(field)?.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    if text.value.is_empty() {
        let found = Diagnostic::new(&S04, text.span, "`on_output` is empty, and so would hold for every end");
        decoder.report(found.help("write what stands in the last lines, for example `\"rate limit\"`"));
    }
    Some(text).filter(|it| !it.value.is_empty())
}
