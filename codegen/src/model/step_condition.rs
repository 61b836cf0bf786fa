//! Conditions of steps: `step.field == 'value'`, and nothing else.

use std::ops::Range;

use super::decoder::{self, Decoder, shortened};
use super::step_scope::StepScope;
use super::{Field, StepCondition, StepId};
use crate::catalogue::{B04, B05, B06};
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::syntax::Text;

/// Quotes that people and their editors write around a word.
const QUOTES: [char; 7] = ['\'', '"', '`', '‘', '’', '“', '”'];

const FIELDS: [Field; 2] = [Field::Result, Field::Summary];

/// The parts of a condition, as ranges of its text.
struct Parts {
    step: Range<usize>,
    field: Range<usize>,
    value: Range<usize>,
}

/// A mistake that keeps a text from being a condition.
struct ConditionFault {
    range: Range<usize>,
    message: String,
    help: String,
}

/// The condition that a value holds.
pub(super) fn condition(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    field: &decoder::Field<'_>,
) -> Option<StepCondition> {
    let text = decoder.text(field)?;
    let written = text.value.as_str();
    let parts = match parse(written) {
        Ok(parts) => parts,
        Err(fault) => {
            let span = text.locate(fault.range.start, fault.range.end);
            decoder.report(Diagnostic::new(&B04, span, fault.message).help(fault.help));
            return None;
        }
    };
    let step = step(decoder, scope, text, parts.step);
    let value = Spanned::new(
        written[parts.value.clone()].to_owned(),
        text.locate(parts.value.start, parts.value.end),
    );
    Some(StepCondition {
        text: written.trim().to_owned(),
        span: text.span,
        field: part(decoder, text, parts.field)?,
        step: step?,
        value,
    })
}

fn step(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    text: &Text,
    range: Range<usize>,
) -> Option<Spanned<StepId>> {
    let name = Spanned::new(&text.value[range.clone()], text.locate(range.start, range.end));
    let id = scope.steps.id(name.value);
    if id.is_none() {
        decoder.unknown(&B05, ("step", "steps"), &name, scope.steps.names());
    }
    id.map(|id| Spanned::new(StepId(id), name.span))
}

fn part(decoder: &mut Decoder<'_>, text: &Text, range: Range<usize>) -> Option<Field> {
    let name = Spanned::new(&text.value[range.clone()], text.locate(range.start, range.end));
    let found = FIELDS.into_iter().find(|it| it.as_str() == name.value);
    if found.is_none() {
        decoder.unknown(&B06, ("field", "fields"), &name, FIELDS.iter().map(|it| it.as_str()));
    }
    found
}

/// The step that a condition names, and the value if that is a result of it, as bytes of its text.
pub(super) fn names(text: &str) -> Option<(Range<usize>, Option<Range<usize>>)> {
    let Parts { step, field, value } = parse(text).ok()?;
    Some((step, (text[field] == *Field::Result.as_str()).then_some(value)))
}

fn parse(text: &str) -> Result<Parts, ConditionFault> {
    let fault = |range: Range<usize>, message: &str, help: &str| ConditionFault {
        range,
        message: message.to_owned(),
        help: help.to_owned(),
    };
    let whole = trimmed(text, 0..text.len());
    const FORM: &str = "write `step.field == 'value'`: `review.result == 'PASS'`";
    let Some(at) = text.find("==") else {
        let operator =
            ["!=", "=~", "<=", ">=", "<", ">", "="].into_iter().find_map(|it| Some((text.find(it)?, it)));
        return Err(match operator {
            Some((at, "=")) => fault(at..at + 1, "`=` compares nothing", "write `==`"),
            Some((at, operator)) => fault(
                at..at + operator.len(),
                &format!("a condition has no `{operator}`"),
                "write a condition with `==` for each value that is meant, on a step of its own",
            ),
            None => fault(whole, "this is not a condition", FORM),
        });
    };
    let (left, right) = (trimmed(text, 0..at), trimmed(text, at + 2..text.len()));
    let value = &text[right.clone()];
    let inner = value.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    let Some(inner) = inner.filter(|it| !it.contains('\'')) else {
        let one_word = value.trim_matches(QUOTES);
        let is_word = !one_word.is_empty() && !one_word.contains(['\'', '"', ' ', '=', '&', '|']);
        return Err(match is_word {
            true => fault(
                right,
                "the value stands between single quotes",
                &format!("write `'{}'`", shortened(one_word)),
            ),
            false => fault(right, "a condition is one comparison", FORM),
        });
    };
    let name = &text[left.clone()];
    let Some(dot) = name.rfind('.').filter(|dot| *dot > 0 && dot + 1 < name.len()) else {
        return Err(fault(left, "a condition reads a field of a step", FORM));
    };
    let start = right.start + 1;
    Ok(Parts {
        step: left.start..left.start + dot,
        field: left.start + dot + 1..left.end,
        value: start..start + inner.len(),
    })
}

/// The range without the blanks at its ends.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    start..start + part.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<(&str, &str, &str), (&str, &str)>) {
        let found = parse(text);
        let found = match &found {
            Ok(parts) => {
                Ok((&text[parts.step.clone()], &text[parts.field.clone()], &text[parts.value.clone()]))
            }
            Err(fault) => Err((&text[fault.range.clone()], fault.message.as_str())),
        };
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn a_condition_is_one_comparison_with_a_value() {
        check("review.result == 'PASS'", Ok(("review", "result", "PASS")));
        check("  a-b.summary=='lgtm, almost' ", Ok(("a-b", "summary", "lgtm, almost")));
        check("a.b.result == ''", Ok(("a.b", "result", "")));
    }

    #[test]
    fn everything_else_is_refused_at_its_place() {
        check("review.result != 'FAIL'", Err(("!=", "a condition has no `!=`")));
        check("review.result = 'FAIL'", Err(("=", "`=` compares nothing")));
        check("review.result == PASS", Err(("PASS", "the value stands between single quotes")));
        check("review.result == \"PASS\"", Err(("\"PASS\"", "the value stands between single quotes")));
        check("review.result == 'PASS", Err(("'PASS", "the value stands between single quotes")));
        check(
            "a.result == 'x' && b.result == 'y'",
            Err(("'x' && b.result == 'y'", "a condition is one comparison")),
        );
        check("review == 'PASS'", Err(("review", "a condition reads a field of a step")));
        check(" always ", Err(("always", "this is not a condition")));
        check("", Err(("", "this is not a condition")));
    }
}
