//! Declarations of inputs and outputs: `words = ["web", "api"]`, or a `type` with its bounds.

use orange_core::plan::{LARGEST_NUMBER, MOST_ITEMS};

use super::decoder::{Decoder, Field, ObjectFields, shortened};
use super::keys::{INPUT, OUTPUT, Object};
use super::{TypedValue, header};
use crate::catalogue::{S04, S09};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::NodeKind;

/// The most inputs of a workflow, and outputs of a step.
const MAX_VALUES: usize = 100;

/// An input or an output.
#[derive(Clone, Debug)]
pub struct DeclaredValue {
    /// Its name, `[A-Za-z][A-Za-z0-9_-]*`.
    pub name: Spanned<String>,
    /// Type of its values.
    pub kind: ValueKind,
    /// Value of a start that gives none.
    pub default: Option<Spanned<TypedValue>>,
}

/// Type of an input or an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// One of these words.
    Words(Vec<Spanned<String>>),
    /// Any text.
    Text,
    /// A whole number within these bounds.
    Number {
        /// The least one.
        min: i64,
        /// The largest one.
        max: i64,
    },
    /// Yes or no.
    Bool,
    /// A list of texts.
    List {
        /// The most items.
        max_items: u16,
    },
}

impl ValueKind {
    /// Whole numbers without declared bounds.
    pub const ANY_NUMBER: ValueKind = ValueKind::Number { min: -LARGEST_NUMBER, max: LARGEST_NUMBER };

    /// Its values in words.
    pub fn values(&self) -> String {
        with_type(self, |it| it.values())
    }

    /// The type in words, with an article.
    pub(super) fn what(&self) -> &'static str {
        match self {
            ValueKind::Words(_) => "a word",
            ValueKind::Text => "a text",
            ValueKind::Number { .. } => "a number",
            ValueKind::Bool => "a yes or no",
            ValueKind::List { .. } => "a list",
        }
    }

    /// A test of such a value.
    pub(super) fn example(&self, name: &str) -> String {
        match self {
            ValueKind::Words(words) => {
                format!("{name} == '{}'", words.first().map_or("…", |it| it.value.as_str()))
            }
            ValueKind::Text => format!("{name} == '…'"),
            ValueKind::Number { min, .. } => format!("{name} > {}", (*min).max(0)),
            ValueKind::Bool => format!("{name} == true"),
            ValueKind::List { .. } => format!("'…' in {name}"),
        }
    }
}

/// The `inputs` of a workflow.
pub(super) fn inputs(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Vec<DeclaredValue> {
    values(decoder, field, "input", &INPUT)
}

/// The `outputs` of a step.
pub(super) fn outputs(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Vec<DeclaredValue> {
    let outputs = values(decoder, field, "output", &OUTPUT);
    let is_common = |name: &str| orange_core::plan::Field::OF_ALL.iter().any(|it| it.0 == name);
    for output in outputs.iter().filter(|it| is_common(&it.name.value)) {
        let message = format!("every step has `{}` already", output.name.value);
        let found = Diagnostic::new(&S04, output.name.span, message);
        decoder.report(found.help("give the output another name; words for `result` stand in `results`"));
    }
    outputs.into_iter().filter(|it| !is_common(&it.name.value)).collect()
}

fn values(
    decoder: &mut Decoder<'_>,
    field: &Field<'_>,
    kind: &str,
    object: &'static Object,
) -> Vec<DeclaredValue> {
    let mut entries = decoder.names(field);
    if entries.len() > MAX_VALUES {
        decoder.report(crate::syntax::limits::exceeded(field.name, MAX_VALUES, field.key));
        entries.truncate(MAX_VALUES);
    }
    let mut found = Vec::new();
    for entry in entries {
        header::check_identifier(decoder, &entry.name, kind, "risk");
        let name = Spanned::new(entry.name.value.to_owned(), entry.name.span);
        let Some(fields) = decoder.object(entry.value, object) else { continue };
        let Some(value) = value_kind(decoder, &fields, &name) else { continue };
        let has_default = object.slot("default").is_some();
        let written = has_default.then(|| fields.get("default")).flatten();
        let default = written.and_then(|it| default(decoder, &it, &value));
        found.push(DeclaredValue { name, kind: value, default });
    }
    found
}

fn value_kind(
    decoder: &mut Decoder<'_>,
    fields: &ObjectFields<'_>,
    name: &Spanned<String>,
) -> Option<ValueKind> {
    const TYPES: [(&str, &str); 4] =
        [("text", "text"), ("number", "number"), ("bool", "bool"), ("list", "list")];
    let written = fields.get("type");
    if let Some(words) = fields.get("words") {
        only_with(decoder, fields, &["words"]);
        let words = super::steps::words(decoder, &words, "word");
        if words.is_empty() {
            let message = format!("`{}` has no words, so that it has no value", shortened(&name.value));
            decoder.report(
                Diagnostic::new(&S04, name.span, message).help("write `words = [\"low\", \"high\"]`"),
            );
            return None;
        }
        return Some(ValueKind::Words(words));
    }
    let Some(written) = written else {
        let message = format!("`{}` has no type", shortened(&name.value));
        let help = "add `words = [\"…\"]`, or `type` with \"text\", \"number\", \"bool\" or \"list\"";
        decoder.report(Diagnostic::new(&S09, name.span, message).help(help));
        return None;
    };
    Some(match decoder.word(&written, &TYPES)?.value {
        "number" => {
            only_with(decoder, fields, &["type", "min", "max"]);
            let min = fields.get("min").and_then(|it| whole(decoder, &it));
            let max = fields.get("max").and_then(|it| whole(decoder, &it));
            let (least, most) =
                (min.map_or(-LARGEST_NUMBER, |it| it.value), max.map_or(LARGEST_NUMBER, |it| it.value));
            if let Some(min) = min.filter(|_| least > most) {
                let message = format!("no number is at least {least} and at most {most}");
                decoder.report(
                    Diagnostic::new(&S04, min.span, message).help("write a `min` that is at most `max`"),
                );
                return None;
            }
            ValueKind::Number { min: least, max: most }
        }
        "list" => {
            only_with(decoder, fields, &["type", "max_items"]);
            let most = fields.get("max_items").and_then(|it| {
                let number = decoder.integer_meant_in(&it, 0..=u32::from(MOST_ITEMS))?;
                let fits = u16::try_from(number).ok().filter(|it| *it <= MOST_ITEMS);
                if fits.is_none() {
                    let message = format!("a list has at most {MOST_ITEMS} items");
                    let found = Diagnostic::new(&S04, it.value.span, message);
                    decoder.report(found.help(format!("write a number up to {MOST_ITEMS}")));
                }
                fits
            });
            ValueKind::List { max_items: most.unwrap_or(MOST_ITEMS) }
        }
        word => {
            only_with(decoder, fields, &["type"]);
            if word == "bool" { ValueKind::Bool } else { ValueKind::Text }
        }
    })
}

/// Reports keys that say nothing of values of this type.
fn only_with(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>, known: &[&str]) {
    for key in ["type", "words", "min", "max", "max_items"] {
        if let Some(field) = fields.get(key).filter(|_| !known.contains(&key)) {
            let message = format!("`{key}` does not go with `{}`", known[0]);
            decoder.report(Diagnostic::new(&S04, field.key, message).help(format!("delete `{key}`")));
        }
    }
}

/// A whole number, which may be negative.
fn whole(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<i64>> {
    let text = decoder.scalar(field)?;
    let number = text.value.parse().ok().filter(|it: &i64| it.unsigned_abs() <= LARGEST_NUMBER as u64);
    if number.is_none() {
        let message = format!("`{}` takes a whole number", field.name);
        let found = Diagnostic::new(&S04, text.span, message);
        decoder.report(found.help(format!("write a number from -{LARGEST_NUMBER} to {LARGEST_NUMBER}")));
    }
    number.map(|it| Spanned::new(it, text.span))
}

/// The default of an input, which is one of its values.
fn default(decoder: &mut Decoder<'_>, field: &Field<'_>, kind: &ValueKind) -> Option<Spanned<TypedValue>> {
    let span = field.value.span;
    let value = match kind {
        ValueKind::List { .. } => {
            let is_list = matches!(field.value.kind, NodeKind::Sequence(_));
            let items = if is_list { decoder.list(field) } else { &[] };
            let items: Vec<String> =
                items.iter().filter_map(|it| decoder.scalar(&field.item(it))).map(|it| it.value).collect();
            is_list.then_some(TypedValue::List(items))
        }
        ValueKind::Words(_) | ValueKind::Text => decoder.scalar(field).map(|it| TypedValue::Text(it.value)),
        ValueKind::Number { .. } => whole(decoder, field).map(|it| TypedValue::Number(it.value)),
        ValueKind::Bool => decoder.boolean(field).map(TypedValue::Bool),
    };
    let is_value = value.as_ref().is_none_or(|it| with_type(kind, |of| of.has(it)));
    let is_other = matches!(kind, ValueKind::List { .. }) && value.is_none();
    if !is_value || is_other {
        report_default(decoder, span, &kind.values());
        return None;
    }
    value.map(|it| Spanned::new(it, span))
}

fn report_default(decoder: &mut Decoder<'_>, span: Span, takes: &str) {
    let found = Diagnostic::new(&S04, span, "the input does not take this default");
    decoder.report(found.help(format!("the input takes {takes}")));
}

/// Calls this with the type of a lowered plan.
fn with_type<T>(kind: &ValueKind, call: impl FnOnce(orange_core::plan::ValueType<'_>) -> T) -> T {
    use orange_core::plan::ValueType;
    match kind {
        ValueKind::Words(words) => {
            let words: Vec<&str> = words.iter().map(|it| it.value.as_str()).collect();
            call(ValueType::Words(&words))
        }
        ValueKind::Text => call(ValueType::Text),
        ValueKind::Number { min, max } => call(ValueType::Number { min: *min, max: *max }),
        ValueKind::Bool => call(ValueType::Bool),
        ValueKind::List { max_items } => call(ValueType::List { max_items: *max_items }),
    }
}
