//! Values that a mission is started with, and outputs of a report: which are missing, unknown or of another type.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{FromValue, Output, Plan, Value, ValueType};

/// Values by name.
pub type Inputs = BTreeMap<String, Value>;

/// Reason for which values do not fit their declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum ValueFault {
    /// A declared value is missing.
    Missing {
        /// Name of the value.
        name: String,
        /// The values that it takes, in words.
        takes: String,
    },
    /// A value is not declared.
    Unknown {
        /// Name of the value.
        name: String,
        /// The declared names.
        known: Vec<String>,
    },
    /// A value is not of its type.
    Mistyped {
        /// Name of the value.
        name: String,
        /// The values that it takes, in words.
        takes: String,
    },
    /// A value that is not a list is given twice.
    Twice {
        /// Name of the value.
        name: String,
    },
}

impl Plan<'_> {
    /// The inputs of a mission that is started with these: defaults added.
    ///
    /// # Errors
    /// The first value that is missing, unknown or of another type.
    pub fn start_inputs(&self, mut given: Inputs) -> Result<Inputs, ValueFault> {
        let declared: Vec<(&str, ValueType<'_>)> = self.inputs.iter().map(|it| (it.name, it.kind)).collect();
        for input in self.inputs {
            if let Some(default) = input.default.filter(|_| !given.contains_key(input.name)) {
                given.insert(input.name.into(), default.value());
            }
        }
        check(&declared, &given)?;
        Ok(given)
    }
}

impl Plan<'_> {
    /// Values for inputs of which some are written as texts: those that the declared type can read have that type then.
    pub fn read_texts(&self, given: Inputs) -> Inputs {
        let read = |(name, value): (String, Value)| {
            let kind = self.inputs.iter().find(|it| it.name == name).map(|it| it.kind);
            let read = match &value {
                Value::Text(text) => kind.and_then(|it| it.read(text)),
                Value::Bool(_) | Value::Number(_) | Value::List(_) => None,
            };
            (name, read.unwrap_or(value))
        };
        given.into_iter().map(read).collect()
    }
}

/// Checks the outputs of a report against the declarations.
///
/// # Errors
/// The first one that is missing, unknown or of another type.
pub fn check_outputs(declared: &[Output<'_>], reported: &Inputs) -> Result<(), ValueFault> {
    let declared: Vec<(&str, ValueType<'_>)> = declared.iter().map(|it| (it.name, it.kind)).collect();
    check(&declared, reported)
}

/// A declared output of a report, as a Rust type.
///
/// # Errors
/// It is missing, unknown or of another type.
pub fn output<T: FromValue>(declared: &[Output<'_>], name: &str, reported: &Inputs) -> Result<T, ValueFault> {
    let Some(output) = declared.iter().find(|it| it.name == name) else {
        return Err(ValueFault::Unknown {
            name: name.into(),
            known: declared.iter().map(|it| it.name.into()).collect(),
        });
    };
    let Some(value) = reported.get(name) else {
        return Err(ValueFault::Missing { name: name.into(), takes: output.kind.values() });
    };
    T::from_value(value).ok_or_else(|| mistyped(name.into(), &output.kind))
}

/// The values of `NAME=VALUE` texts. A list given several times has one item of each.
///
/// # Errors
/// The first one that is unknown, of another type, or given twice.
pub fn given(
    declared: &[(&str, ValueType<'_>)],
    texts: impl IntoIterator<Item = (String, String)>,
) -> Result<Inputs, ValueFault> {
    let mut values = Inputs::new();
    for (name, text) in texts {
        let Some((_, kind)) = declared.iter().find(|(it, _)| *it == name) else {
            return Err(unknown(declared, name));
        };
        let value = match (values.remove(&name), kind.read(&text)) {
            (_, None) => return Err(mistyped(name, kind)),
            (None, Some(value)) => value,
            (Some(Value::List(mut items)), Some(Value::List(more))) => {
                items.extend(more);
                Value::List(items)
            }
            (Some(_), Some(_)) => return Err(ValueFault::Twice { name }),
        };
        if !kind.has(&value) {
            return Err(mistyped(name, kind));
        }
        values.insert(name, value);
    }
    Ok(values)
}

fn check(declared: &[(&str, ValueType<'_>)], values: &Inputs) -> Result<(), ValueFault> {
    for (name, value) in values {
        match declared.iter().find(|(it, _)| it == name) {
            None => return Err(unknown(declared, name.clone())),
            Some((_, kind)) if !kind.has(value) => return Err(mistyped(name.clone(), kind)),
            Some(_) => {}
        }
    }
    match declared.iter().find(|(it, _)| !values.contains_key(*it)) {
        Some((name, kind)) => Err(ValueFault::Missing { name: (*name).into(), takes: kind.values() }),
        None => Ok(()),
    }
}

fn unknown(declared: &[(&str, ValueType<'_>)], name: String) -> ValueFault {
    ValueFault::Unknown { name, known: declared.iter().map(|(it, _)| (*it).into()).collect() }
}

fn mistyped(name: String, kind: &ValueType<'_>) -> ValueFault {
    ValueFault::Mistyped { name, takes: kind.values() }
}

impl ValueFault {
    /// The fault in a sentence; `kind` is `input` or `output`.
    pub fn words(&self, kind: &str) -> String {
        match self {
            ValueFault::Missing { name, takes } => {
                format!("the {kind} `{name}` is missing: it takes {takes}")
            }
            ValueFault::Unknown { name, known } if known.is_empty() => {
                format!("there is no {kind} `{name}`: none is declared")
            }
            ValueFault::Unknown { name, known } => {
                format!("there is no {kind} `{name}`; declared: {}", known.join(", "))
            }
            ValueFault::Mistyped { name, takes } => format!("the {kind} `{name}` takes {takes}"),
            ValueFault::Twice { name } => {
                format!("the {kind} `{name}` is given twice, and is not a list: give it once")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use alloc::string::ToString;

    use super::*;
    use crate::plan::{Input, Literal};

    const PLAN: Plan<'static> = Plan {
        inputs: &[
            Input {
                name: "target",
                kind: ValueType::Words(&["web", "api"]),
                default: Some(Literal::Text("web")),
            },
            Input { name: "count", kind: ValueType::Number { min: 1, max: 9 }, default: None },
            Input {
                name: "parts",
                kind: ValueType::List { max_items: 2 },
                default: Some(Literal::List(&[])),
            },
        ],
        ..Plan::EMPTY
    };

    fn started(texts: &[(&str, &str)]) -> Result<Inputs, String> {
        let declared: Vec<_> = PLAN.inputs.iter().map(|it| (it.name, it.kind)).collect();
        let texts = texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        given(&declared, texts).and_then(|it| PLAN.start_inputs(it)).map_err(|it| it.words("input"))
    }

    #[test]
    fn a_start_has_every_input_and_defaults() {
        let inputs = started(&[("count", "3")]).unwrap();
        assert_eq!(inputs["target"], Value::Text("web".to_owned()));
        assert_eq!((&inputs["count"], &inputs["parts"]), (&Value::Number(3), &Value::List(Vec::new())));
        let inputs = started(&[("parts", "a"), ("count", "3"), ("parts", "b"), ("target", "api")]).unwrap();
        assert_eq!(inputs["parts"], Value::List(["a", "b"].map(ToString::to_string).to_vec()));
        assert_eq!(inputs["target"], Value::Text("api".to_owned()));
    }

    #[test]
    fn a_start_without_or_with_other_values_is_refused() {
        for (texts, expect) in [
            (&[][..], "the input `count` is missing: it takes a whole number from 1 to 9"),
            (&[("count", "10")], "the input `count` takes a whole number from 1 to 9"),
            (&[("count", "1"), ("target", "app")], "the input `target` takes `web` or `api`"),
            (&[("tarjet", "web")], "there is no input `tarjet`; declared: target, count, parts"),
            (
                &[("count", "1"), ("count", "1")],
                "the input `count` is given twice, and is not a list: give it once",
            ),
            (
                &[("parts", "a"), ("parts", "b"), ("parts", "c")],
                "the input `parts` takes a list of at most 2 texts",
            ),
        ] {
            assert_eq!(started(texts), Err(expect.to_owned()));
        }
    }
}
