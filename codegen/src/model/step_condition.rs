//! Conditions of steps: expressions over what steps report and what a mission is started with. Names are resolved, and types fit.

mod parse;

use std::ops::Range;

use orange_core::plan::{InputId, Items, Operand, Relation};

use self::parse::{Parsed, ParsedComparison, ParsedLiteral, ParsedTest};
use super::decoder::{self, Decoder, shortened};
use super::keys::NameKind;
use super::step_scope::StepScope;
use super::step_values::ValueKind;
use super::{Compared, ConditionTest, Expression, Field, StepCondition, StepId, TypedValue};
use crate::catalogue::{B04, B05, B06, B32, B33, B47};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::suggest;
use crate::syntax::Text;

/// The word before the name of an input.
pub(super) const INPUTS: &str = "inputs";

/// The condition that a value holds.
pub(super) fn condition(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    field: &decoder::Field<'_>,
) -> Option<StepCondition> {
    let text = decoder.text(field)?;
    match parse::parse(&text.value) {
        Ok(parsed) => {
            let mut resolver = Resolver { decoder, scope, text };
            let expression = resolver.expression(&parsed)?;
            Some(StepCondition { text: text.value.trim().to_owned(), span: text.span, expression })
        }
        Err(fault) => {
            let span = text.locate(fault.range.start, fault.range.end);
            decoder.report(Diagnostic::new(&B04, span, fault.message).help(fault.help));
            None
        }
    }
}

/// A name in a condition or a placeholder, as bytes of the text.
pub(super) struct NamedPart {
    pub(super) kind: NameKind,
    pub(super) range: Range<usize>,
    /// The step of a result or an output.
    pub(super) step: Option<Range<usize>>,
}

/// The names in a condition.
pub(super) fn names(text: &str) -> Vec<NamedPart> {
    fn collect(parsed: Parsed, found: &mut Vec<ParsedTest>) {
        match parsed {
            Parsed::Or(parts) | Parsed::And(parts) => parts.into_iter().for_each(|it| collect(it, found)),
            Parsed::Not(part) => collect(*part, found),
            Parsed::Test(test) => found.push(test),
        }
    }
    let mut tests = Vec::new();
    if let Ok(parsed) = parse::parse(text) {
        collect(parsed, &mut tests);
    }
    let named = tests.into_iter().flat_map(|ParsedTest { operand, step, field, is, .. }| {
        let words = match is {
            ParsedComparison::Is(_, _, ParsedLiteral::Text(word)) | ParsedComparison::Has(word) => vec![word],
            ParsedComparison::In(words) => words,
            ParsedComparison::Is(..) | ParsedComparison::Alone => Vec::new(),
        };
        let is_result = Some(&text[field]) == Field::Result.word() && &text[step.clone()] != INPUTS;
        let words = if is_result { words } else { Vec::new() };
        let result = move |range| NamedPart { kind: NameKind::Results, range, step: Some(step.clone()) };
        operand_names(text, operand).into_iter().chain(words.into_iter().map(result))
    });
    named.collect()
}

/// The names in a part of a text that names a value: `inputs.target`, `plan.risk`.
pub(super) fn operand_names(text: &str, range: Range<usize>) -> Vec<NamedPart> {
    let Some(dot) = text[range.clone()].rfind('.') else { return Vec::new() };
    let (of, name) = (range.start..range.start + dot, range.start + dot + 1..range.end);
    if &text[of.clone()] == INPUTS {
        return vec![NamedPart { kind: NameKind::Inputs, range: name, step: None }];
    }
    let step = NamedPart { kind: NameKind::Steps, range: of.clone(), step: None };
    if name.is_empty() || Field::OF_ALL.iter().any(|it| it.0 == &text[name.clone()]) {
        return vec![step];
    }
    vec![step, NamedPart { kind: NameKind::Outputs, range: name, step: Some(of) }]
}

struct Resolver<'r, 'd, 's> {
    decoder: &'r mut Decoder<'d>,
    scope: &'r StepScope<'s>,
    text: &'r Text,
}

/// A value that a condition reads, with its type.
struct Read {
    of: Operand,
    /// Place of the name of the step or input.
    name: Span,
    kind: ValueKind,
}

impl Resolver<'_, '_, '_> {
    fn expression(&mut self, parsed: &Parsed) -> Option<Expression> {
        // Every part is resolved, so that all faults are reported.
        let mut all = |parts: &[Parsed]| {
            let parts: Vec<Option<Expression>> = parts.iter().map(|it| self.expression(it)).collect();
            parts.into_iter().collect::<Option<Vec<Expression>>>()
        };
        match parsed {
            Parsed::Or(parts) => all(parts).map(Expression::Or),
            Parsed::And(parts) => all(parts).map(Expression::And),
            Parsed::Not(part) => self.expression(part).map(|it| Expression::Not(Box::new(it))),
            Parsed::Test(test) => self.test(test).map(Expression::Test),
        }
    }

    fn span(&self, range: &Range<usize>) -> Span {
        self.text.locate(range.start, range.end)
    }

    fn word(&self, range: &Range<usize>) -> Spanned<String> {
        Spanned::new(self.text.value[range.clone()].to_owned(), self.span(range))
    }

    fn test(&mut self, test: &ParsedTest) -> Option<ConditionTest> {
        let Read { of, name, kind } = self.operand(test)?;
        let what = &self.text.value[test.operand.clone()];
        let items = self.items(test, of, &kind)?;
        let is = match &test.is {
            ParsedComparison::Alone => match kind {
                ValueKind::Bool => Compared::Is(
                    Relation::Equal,
                    Spanned::new(TypedValue::Bool(true), self.span(&test.operand)),
                ),
                ValueKind::Words(_) | ValueKind::Text | ValueKind::Number { .. } | ValueKind::List { .. } => {
                    let message = format!("`{what}` is {}, and only a yes or no stands alone", kind.what());
                    return self.mistyped(&test.operand, message, format!("write `{}`", kind.example(what)));
                }
            },
            ParsedComparison::Is(relation, sign, literal) => {
                self.comparison(what, &kind, *relation, sign, literal)?
            }
            ParsedComparison::In(words) => {
                match &kind {
                    ValueKind::Words(_) | ValueKind::Text => {}
                    ValueKind::Number { .. } | ValueKind::Bool | ValueKind::List { .. } => {
                        let message = format!("`{what}` is {}, and `in [ … ]` looks for words", kind.what());
                        return self.mistyped(
                            &test.operand,
                            message,
                            format!("write `{}`", kind.example(what)),
                        );
                    }
                }
                for word in words {
                    self.declared_word(what, &kind, word)?;
                }
                Compared::In(words.iter().map(|it| self.word(it)).collect())
            }
            ParsedComparison::Has(word) => match kind {
                ValueKind::List { .. } => Compared::Has(self.word(word)),
                ValueKind::Words(_) | ValueKind::Text | ValueKind::Number { .. } | ValueKind::Bool => {
                    let message = format!("`{what}` is {}, and `'…' in` looks into a list", kind.what());
                    return self.mistyped(&test.operand, message, format!("write `{}`", kind.example(what)));
                }
            },
        };
        Some(ConditionTest { span: self.span(&test.range), of, items, name, is })
    }

    /// The items over which a test ranges: a fan-out has a value for each of its items, and everything else has one value.
    fn items(&mut self, test: &ParsedTest, of: Operand, kind: &ValueKind) -> Option<Option<Items>> {
        let what = &self.text.value[test.operand.clone()];
        match (&test.items, has_items(self.scope, of)) {
            (None, false) => Some(None),
            (Some((items, _)), true) => Some(Some(*items)),
            (Some((items, range)), false) => {
                let items = items.as_str();
                let message = format!("`{what}` is one value: `{items}` ranges over the items of a fan-out");
                let found = Diagnostic::new(&B33, self.span(range), message);
                self.decoder.report(found.help(format!("delete `{items}`")));
                None
            }
            (None, true) => {
                let message = format!("`{what}` has a value for each item of a fan-out");
                let example = kind.example(what);
                let help = format!("write `any {example}`, or `all {example}`");
                let found = Diagnostic::new(&B33, self.span(&test.operand), message);
                self.decoder.report(found.help(help));
                None
            }
        }
    }

    fn mistyped<T>(&mut self, range: &Range<usize>, message: String, help: String) -> Option<T> {
        let span = self.span(range);
        self.decoder.report(Diagnostic::new(&B47, span, message).help(help));
        None
    }

    fn comparison(
        &mut self,
        what: &str,
        kind: &ValueKind,
        relation: Relation,
        sign: &Range<usize>,
        literal: &ParsedLiteral,
    ) -> Option<Compared> {
        let (range, value) = match literal {
            ParsedLiteral::Text(range) => {
                (range, TypedValue::Text(self.text.value[range.clone()].to_owned()))
            }
            ParsedLiteral::Number(number, range) => (range, TypedValue::Number(*number)),
            ParsedLiteral::Bool(it, range) => (range, TypedValue::Bool(*it)),
        };
        let fits = match (kind, &value) {
            (ValueKind::Words(_) | ValueKind::Text, TypedValue::Text(_))
            | (ValueKind::Number { .. }, TypedValue::Number(_))
            | (ValueKind::Bool, TypedValue::Bool(_)) => true,
            (
                ValueKind::Words(_)
                | ValueKind::Text
                | ValueKind::Number { .. }
                | ValueKind::Bool
                | ValueKind::List { .. },
                _,
            ) => false,
        };
        if !fits {
            let other = match value {
                TypedValue::Text(_) => "a text",
                TypedValue::Number(_) => "a number",
                TypedValue::Bool(_) => "a yes or no",
                TypedValue::List(_) => "a list",
            };
            let message = format!("`{what}` is {}, and this is {other}", kind.what());
            return self.mistyped(range, message, format!("write `{}`", kind.example(what)));
        }
        if relation.is_order() && !matches!(kind, ValueKind::Number { .. }) {
            let message = format!("`{what}` is {}, and only numbers have an order", kind.what());
            return self.mistyped(sign, message, "compare it with `==`, `!=` or `in [ … ]`".to_owned());
        }
        if matches!(literal, ParsedLiteral::Text(_)) {
            self.declared_word(what, kind, range)?;
        }
        Some(Compared::Is(relation, Spanned::new(value, self.span(range))))
    }

    /// Reports a word that a declaration does not have.
    fn declared_word(&mut self, what: &str, kind: &ValueKind, word: &Range<usize>) -> Option<()> {
        let ValueKind::Words(words) = kind else { return Some(()) };
        let written = &self.text.value[word.clone()];
        if words.iter().any(|it| it.value == *written) {
            return Some(());
        }
        let message = format!("`{what}` is never `{}`", shortened(written));
        let help = suggest::help(written, "words", words.iter().map(|it| it.value.as_str()));
        let span = self.span(word);
        self.decoder.report(Diagnostic::new(&B47, span, message).help_if(help));
        None
    }

    fn operand(&mut self, test: &ParsedTest) -> Option<Read> {
        let (name, field) = (self.word(&test.step), self.word(&test.field));
        let Some(step) = self.scope.steps.id(&name.value) else {
            if name.value == INPUTS {
                return self.input(&field);
            }
            self.decoder.unknown(&B05, ("step", "steps"), &name.as_str(), self.scope.steps.names());
            return None;
        };
        let step = StepId(step);
        let Some((found, kind)) = self.scope.field(step, &field.value) else {
            let known = self.scope.fields(step);
            match self.scope.outputs_of(step).is_empty() {
                true => self.decoder.unknown(&B06, ("field", "fields"), &field.as_str(), known),
                false => self.decoder.unknown(&B32, ("output", "fields"), &field.as_str(), known),
            }
            return None;
        };
        Some(Read { of: Operand::Step(step, found), name: name.span, kind })
    }

    fn input(&mut self, name: &Spanned<String>) -> Option<Read> {
        let at = self.scope.input(self.decoder, name)?;
        let kind = self.scope.inputs[at].kind.clone();
        match kind {
            ValueKind::Words(_) | ValueKind::Number { .. } | ValueKind::Bool => {}
            ValueKind::Text | ValueKind::List { .. } => {
                let message = format!(
                    "the input `{}` is {}, and conditions read words, numbers, and yes or no",
                    name.value,
                    kind.what()
                );
                let help = format!("declare `words` for `{}`", name.value);
                self.decoder.report(Diagnostic::new(&B47, name.span, message).help(help));
                return None;
            }
        }
        Some(Read { of: Operand::Input(InputId(at as u16)), name: name.span, kind })
    }
}

/// True if an operand has a value for each item of a fan-out.
pub(super) fn has_items(scope: &StepScope<'_>, of: Operand) -> bool {
    match of {
        Operand::Step(_, Field::Ran | Field::Rounds) | Operand::Input(_) => false,
        Operand::Step(step, Field::Result | Field::Summary | Field::Output(_)) => scope.is_fan_out(step),
    }
}

/// The range without the blanks at its ends.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    start..start + part.trim().len()
}
