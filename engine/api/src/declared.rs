//! Declarations of inputs and outputs of step workflows.

use orange_core::plan::{Input, LARGEST_NUMBER, Literal, MOST_ITEMS, Output, Value, ValueType};
use serde::{Deserialize, Serialize};

/// An input of a step workflow, or an output of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DeclaredValue {
    /// Name in conditions, reports and starts.
    pub name: String,
    /// `words`, `text`, `number`, `bool` or `list`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The words of which its value is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    /// The largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// The most items of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u16>,
    /// Value of a start that gives none; absent where a start must give it, and of an output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<serde_json::Value>"))]
    pub default: Option<Value>,
}

impl DeclaredValue {
    /// The declaration of an output.
    pub fn of_output(output: &Output<'_>) -> DeclaredValue {
        DeclaredValue::of(output.name, &output.kind)
    }

    /// The declaration of an input.
    pub fn of_input(input: &Input<'_>) -> DeclaredValue {
        let default = input.default.as_ref().map(Literal::value);
        DeclaredValue { default, ..DeclaredValue::of(input.name, &input.kind) }
    }

    fn of(name: &str, kind: &ValueType<'_>) -> DeclaredValue {
        let named = |kind: &str| DeclaredValue {
            name: name.to_owned(),
            kind: kind.to_owned(),
            ..DeclaredValue::default()
        };
        match kind {
            ValueType::Words(words) => {
                DeclaredValue { words: words.iter().map(|it| (*it).to_owned()).collect(), ..named("words") }
            }
            ValueType::Text => named("text"),
            ValueType::Number { min, max } => {
                let bound = |it: i64| (it.abs() < LARGEST_NUMBER).then_some(it);
                DeclaredValue { min: bound(*min), max: bound(*max), ..named("number") }
            }
            ValueType::Bool => named("bool"),
            ValueType::List { max_items } => DeclaredValue { max_items: Some(*max_items), ..named("list") },
        }
    }

    /// The output that lives as long as the process; `None` for the type of another version.
    pub fn leak_output(self) -> Option<Output<'static>> {
        let (name, kind, _) = self.leak()?;
        Some(Output { name, kind })
    }

    /// The input that lives as long as the process; `None` for the type of another version.
    pub fn leak_input(self) -> Option<Input<'static>> {
        let (name, kind, default) = self.leak()?;
        Some(Input { name, kind, default: default.map(leaked) })
    }

    fn leak(self) -> Option<(&'static str, ValueType<'static>, Option<Value>)> {
        let kind = match self.kind.as_str() {
            "words" => ValueType::Words(leaked_words(self.words)),
            "text" => ValueType::Text,
            "number" => ValueType::Number {
                min: self.min.unwrap_or(-LARGEST_NUMBER),
                max: self.max.unwrap_or(LARGEST_NUMBER),
            },
            "bool" => ValueType::Bool,
            "list" => ValueType::List { max_items: self.max_items.unwrap_or(MOST_ITEMS) },
            _ => return None,
        };
        Some((self.name.leak(), kind, self.default))
    }

    /// Its values in words: `` `low` or `high` ``.
    pub fn takes(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        match self.kind.as_str() {
            "words" => ValueType::Words(&words).values(),
            "number" => {
                let (min, max) = (self.min.unwrap_or(-LARGEST_NUMBER), self.max.unwrap_or(LARGEST_NUMBER));
                ValueType::Number { min, max }.values()
            }
            "bool" => ValueType::Bool.values(),
            "list" => ValueType::List { max_items: self.max_items.unwrap_or(MOST_ITEMS) }.values(),
            _ => ValueType::Text.values(),
        }
    }
}

fn leaked(value: Value) -> Literal<'static> {
    match value {
        Value::Text(it) => Literal::Text(it.leak()),
        Value::Number(it) => Literal::Number(it),
        Value::Bool(it) => Literal::Bool(it),
        Value::List(items) => Literal::List(leaked_words(items)),
    }
}

fn leaked_words(words: Vec<String>) -> &'static [&'static str] {
    words.into_iter().map(|it| &*it.leak()).collect::<Vec<&'static str>>().leak()
}
