//! Typed values: what a mission is started with, and what a completion reports besides its result and summary.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Largest whole number of a value, and the least one without its sign: JSON readers that hold numbers as floats keep it exact.
pub const LARGEST_NUMBER: i64 = (1 << 53) - 1;

/// The most items of a list that declares no limit.
pub const MOST_ITEMS: u16 = 1_000;

/// The number of an output, in the order of its step's declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutputId(pub u16);

/// The number of an input, in the order of the plan's declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputId(pub u16);

/// A value that a completion of a step reports besides result and summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output<'a> {
    /// Its name in conditions and reports.
    pub name: &'a str,
    /// Type of its values.
    pub kind: ValueType<'a>,
}

/// A value that a mission is started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input<'a> {
    /// Its name in conditions, prompts and starts.
    pub name: &'a str,
    /// Type of its values.
    pub kind: ValueType<'a>,
    /// Value of a start that gives none; without one, a start must give it.
    pub default: Option<Literal<'a>>,
}

/// Type of an input or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType<'a> {
    /// One of these words.
    Words(&'a [&'a str]),
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

/// A value that a workflow writes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Literal<'a> {
    /// `'web'`
    Text(&'a str),
    /// `20`
    Number(i64),
    /// `true`
    Bool(bool),
    /// `["web", "api"]`
    List(&'a [&'a str]),
}

/// A value that was reported or given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(untagged))]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Number(i64),
    /// A word or any text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

/// A value as a condition sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRef<'v> {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Number(i64),
    /// A word or any text.
    Text(&'v str),
    /// A list of texts.
    List(&'v [String]),
}

impl ValueType<'_> {
    /// The most items of a list of this type; 0 of another type.
    pub fn most_items(&self) -> usize {
        match self {
            ValueType::List { max_items } => usize::from(*max_items),
            ValueType::Words(_) | ValueType::Text | ValueType::Number { .. } | ValueType::Bool => 0,
        }
    }
}

impl OutputId {
    /// Its place in the declarations of its step.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl InputId {
    /// Its place in the declarations of the plan.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl ValueType<'_> {
    /// Whole numbers without declared bounds.
    pub const ANY_NUMBER: ValueType<'static> =
        ValueType::Number { min: -LARGEST_NUMBER, max: LARGEST_NUMBER };

    /// True if the type has this value.
    pub fn has(&self, value: &Value) -> bool {
        match (self, value) {
            (ValueType::Words(words), Value::Text(it)) => words.contains(&it.as_str()),
            (ValueType::Text, Value::Text(_)) | (ValueType::Bool, Value::Bool(_)) => true,
            (ValueType::Number { min, max }, Value::Number(it)) => (min..=max).contains(&it),
            (ValueType::List { max_items }, Value::List(items)) => items.len() <= usize::from(*max_items),
            (
                ValueType::Words(_)
                | ValueType::Text
                | ValueType::Number { .. }
                | ValueType::Bool
                | ValueType::List { .. },
                _,
            ) => false,
        }
    }

    /// The value of this type that a text means, as the text of `NAME=VALUE`. A list has it as its only item.
    pub fn read(&self, text: &str) -> Option<Value> {
        let value = match self {
            ValueType::Words(_) | ValueType::Text => Value::Text(text.to_owned()),
            ValueType::Number { .. } => Value::Number(text.trim().parse().ok()?),
            ValueType::Bool => Value::Bool(match text.trim() {
                "true" | "yes" => true,
                "false" | "no" => false,
                _ => return None,
            }),
            ValueType::List { .. } if text.is_empty() => Value::List(Vec::new()),
            ValueType::List { .. } => Value::List(Vec::from([text.to_owned()])),
        };
        self.has(&value).then_some(value)
    }

    /// Its values in words, as the end of "takes …".
    pub fn values(&self) -> String {
        match self {
            ValueType::Words(words) => {
                let words: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
                match &words[..] {
                    [] => "no word".to_owned(),
                    [word] => word.clone(),
                    [words @ .., last] => format!("{} or {last}", words.join(", ")),
                }
            }
            ValueType::Text => "a text".to_owned(),
            ValueType::Number { min, max } => match (*min > -LARGEST_NUMBER, *max < LARGEST_NUMBER) {
                (true, true) => format!("a whole number from {min} to {max}"),
                (true, false) => format!("a whole number of {min} or more"),
                (false, true) => format!("a whole number of at most {max}"),
                (false, false) => "a whole number".to_owned(),
            },
            ValueType::Bool => "`true` or `false`".to_owned(),
            ValueType::List { max_items: 1 } => "a list of at most one text".to_owned(),
            ValueType::List { max_items } => format!("a list of at most {max_items} texts"),
        }
    }
}

/// A Rust type of typed values, such as the field of an output in generated code.
pub trait FromValue: Sized {
    /// The value as this type; `None` of a value of another type.
    fn from_value(value: &Value) -> Option<Self>;
}

impl FromValue for String {
    fn from_value(value: &Value) -> Option<String> {
        match value {
            Value::Text(it) => Some(it.clone()),
            Value::Bool(_) | Value::Number(_) | Value::List(_) => None,
        }
    }
}

impl FromValue for i64 {
    fn from_value(value: &Value) -> Option<i64> {
        match value {
            Value::Number(it) => Some(*it),
            Value::Bool(_) | Value::Text(_) | Value::List(_) => None,
        }
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Option<bool> {
        match value {
            Value::Bool(it) => Some(*it),
            Value::Number(_) | Value::Text(_) | Value::List(_) => None,
        }
    }
}

impl FromValue for Vec<String> {
    fn from_value(value: &Value) -> Option<Vec<String>> {
        match value {
            Value::List(it) => Some(it.clone()),
            Value::Bool(_) | Value::Number(_) | Value::Text(_) => None,
        }
    }
}

impl Literal<'_> {
    /// The value that it writes down.
    pub fn value(&self) -> Value {
        match self {
            Literal::Text(it) => Value::Text((*it).to_owned()),
            Literal::Number(it) => Value::Number(*it),
            Literal::Bool(it) => Value::Bool(*it),
            Literal::List(items) => Value::List(items.iter().map(|it| (*it).to_owned()).collect()),
        }
    }

    /// The literal as a condition has it.
    pub fn text(&self) -> String {
        match self {
            Literal::Text(it) => format!("'{it}'"),
            Literal::Number(it) => it.to_string(),
            Literal::Bool(it) => it.to_string(),
            Literal::List(items) => {
                let items: Vec<String> = items.iter().map(|it| format!("'{it}'")).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }
}

impl Value {
    /// The value as a condition sees it.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Bool(it) => ValueRef::Bool(*it),
            Value::Number(it) => ValueRef::Number(*it),
            Value::Text(it) => ValueRef::Text(it),
            Value::List(items) => ValueRef::List(items),
        }
    }

    /// The value as text, a list with one item a line.
    pub fn text(&self) -> String {
        self.as_ref().text()
    }
}

impl ValueRef<'_> {
    /// The value as text, a list with one item a line.
    pub fn text(self) -> String {
        match self {
            ValueRef::Bool(it) => it.to_string(),
            ValueRef::Number(it) => it.to_string(),
            ValueRef::Text(it) => it.to_owned(),
            ValueRef::List(items) => items.join("\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORE: ValueType<'static> = ValueType::Number { min: 0, max: 10 };
    const RISK: ValueType<'static> = ValueType::Words(&["low", "high"]);

    #[test]
    fn a_type_has_its_own_values_only() {
        for (kind, text, expect) in [
            (SCORE, "7", Some(Value::Number(7))),
            (SCORE, "11", None),
            (SCORE, "-1", None),
            (SCORE, "7.5", None),
            (SCORE, "high", None),
            (SCORE, "", None),
            (ValueType::ANY_NUMBER, "9007199254740991", Some(Value::Number(LARGEST_NUMBER))),
            (ValueType::ANY_NUMBER, "9007199254740992", None),
            (RISK, "low", Some(Value::Text("low".to_owned()))),
            (RISK, "Low", None),
            (ValueType::Bool, "yes", Some(Value::Bool(true))),
            (ValueType::Bool, "0", None),
            (ValueType::Text, "", Some(Value::Text(String::new()))),
            (ValueType::List { max_items: 0 }, "a", None),
            (ValueType::List { max_items: 2 }, "", Some(Value::List(Vec::new()))),
        ] {
            assert_eq!(kind.read(text), expect, "{kind:?} {text}");
        }
        assert!(!RISK.has(&Value::Number(1)) && !SCORE.has(&Value::Text("7".to_owned())));
    }

    #[test]
    fn types_say_which_values_they_have() {
        let number = |min, max| ValueType::Number { min, max };
        for (kind, expect) in [
            (RISK, "`low` or `high`"),
            (ValueType::Words(&["a", "b", "c"]), "`a`, `b` or `c`"),
            (SCORE, "a whole number from 0 to 10"),
            (number(3, LARGEST_NUMBER), "a whole number of 3 or more"),
            (number(-LARGEST_NUMBER, 3), "a whole number of at most 3"),
            (ValueType::ANY_NUMBER, "a whole number"),
            (ValueType::List { max_items: 6 }, "a list of at most 6 texts"),
        ] {
            assert_eq!(kind.values(), expect);
        }
    }
}
