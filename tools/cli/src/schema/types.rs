//! A JSON Schema, as far as the workflow language needs one.

use std::collections::BTreeMap;

use serde::Serialize;

/// A schema; what is absent allows everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Schema {
    #[serde(rename = "$schema", skip_serializing_if = "is_absent")]
    pub(super) dialect: Option<&'static str>,
    #[serde(rename = "$ref", skip_serializing_if = "is_absent")]
    pub(super) reference: Option<String>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) title: Option<&'static str>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) description: Option<&'static str>,
    #[serde(rename = "type", skip_serializing_if = "is_absent")]
    pub(super) kind: Option<ValueType>,
    #[serde(rename = "const", skip_serializing_if = "is_absent")]
    pub(super) constant: Option<String>,
    #[serde(rename = "enum", skip_serializing_if = "is_absent")]
    pub(super) words: Vec<&'static str>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) pattern: Option<&'static str>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) examples: Vec<&'static str>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) minimum: Option<u32>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) maximum: Option<u32>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) items: Option<Box<Schema>>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) min_items: Option<u32>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) required: Vec<String>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) properties: BTreeMap<String, Schema>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) additional_properties: Option<Others>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) all_of: Vec<Schema>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) any_of: Vec<Schema>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) one_of: Vec<Schema>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) not: Option<Box<Schema>>,
    #[serde(rename = "if", skip_serializing_if = "is_absent")]
    pub(super) condition: Option<Box<Schema>>,
    #[serde(skip_serializing_if = "is_absent")]
    pub(super) then: Option<Box<Schema>>,
    #[serde(rename = "else", skip_serializing_if = "is_absent")]
    pub(super) otherwise: Option<Box<Schema>>,
    #[serde(rename = "$defs", skip_serializing_if = "is_absent")]
    pub(super) defs: BTreeMap<String, Schema>,
}

/// Type of a value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum ValueType {
    One(&'static str),
    Any(&'static [&'static str]),
}

/// Schema of the keys of an object that `properties` does not name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Others {
    Allowed(bool),
    Each(Box<Schema>),
}

impl Schema {
    /// A value of this kind.
    pub(super) fn of(kind: &'static str) -> Self {
        Self { kind: Some(ValueType::One(kind)), ..Self::default() }
    }

    /// An object whose values are all of this kind.
    pub(super) fn map(each: Schema) -> Self {
        Self { additional_properties: Some(Others::Each(Box::new(each))), ..Self::of("object") }
    }

    /// The definition of this name.
    pub(super) fn reference(name: &str) -> Self {
        Self { reference: Some(format!("#/$defs/{name}")), ..Self::default() }
    }

    /// An object with this key.
    pub(super) fn with(key: &str) -> Self {
        Self { required: vec![key.to_owned()], ..Self::default() }
    }
}

fn is_absent<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
