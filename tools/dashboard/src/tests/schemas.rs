//! The dashboard reads keys that the answers of `orange` have.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{MISSIONS, NEXT, PANE, PROJECTS, TASKS, WORKFLOW};

fn schema_of(name: &str) -> Value {
    let path = format!("{}/../../docs/json/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A scripted answer with every key that its schema requires, so that a test says only what it is about.
pub(super) fn completed(name: &str, answer: &str) -> Value {
    let schema = schema_of(name);
    let mut answer = serde_json::from_str(answer).unwrap();
    complete(&schema, &schema, &mut answer);
    answer
}

fn complete(root: &Value, part: &Value, answer: &mut Value) {
    let part = resolved(root, part, answer);
    match answer {
        Value::Object(object) => {
            for name in part["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                let missing = || match name {
                    "success" => true.into(),
                    _ => least(root, &part["properties"][name]),
                };
                object.entry(name).or_insert_with(missing);
            }
            for (name, value) in object.iter_mut() {
                complete(root, &part["properties"][name], value);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| complete(root, &part["items"], one)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The part of a schema that describes this value, behind references and choices.
fn resolved<'s>(root: &'s Value, part: &'s Value, answer: &Value) -> &'s Value {
    if let Some(path) = part["$ref"].as_str() {
        return resolved(root, root.pointer(&path[1..]).unwrap(), answer);
    }
    let fits = |one: &&Value| {
        let one = resolved(root, one, answer);
        let has = |key: &String| one["properties"].get(key).is_some();
        answer.as_object().is_some_and(|object| object.keys().all(has))
    };
    let choices = part["anyOf"].as_array().or_else(|| part["oneOf"].as_array());
    choices.and_then(|it| it.iter().find(fits)).map_or(part, |one| resolved(root, one, answer))
}

/// The least that a key can have.
fn least(root: &Value, part: &Value) -> Value {
    if let Some(path) = part["$ref"].as_str() {
        return least(root, root.pointer(&path[1..]).unwrap());
    }
    let choices = part["anyOf"].as_array().or_else(|| part["oneOf"].as_array());
    if let Some(choices) = choices {
        let is_null = |one: &Value| one["type"] == "null";
        return if choices.iter().any(is_null) { Value::Null } else { least(root, &choices[0]) };
    }
    if !part["const"].is_null() {
        return part["const"].clone();
    }
    if let Some(words) = part["enum"].as_array() {
        return words[0].clone();
    }
    match part["type"].as_str() {
        Some("string") => "".into(),
        Some("integer" | "number") => 0.into(),
        Some("boolean") => false.into(),
        Some("array") => Value::Array(Vec::new()),
        Some("object") => {
            let mut object = Value::Object(serde_json::Map::new());
            complete(root, part, &mut object);
            object
        }
        Some(_) | None => Value::Null,
    }
}

/// Every key that stands somewhere in a schema.
fn keys_of(schema: &str) -> BTreeSet<String> {
    let schema = schema_of(schema);
    let mut keys = BTreeSet::new();
    collect(&schema, &mut keys);
    keys
}

fn collect(schema: &Value, keys: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        keys.extend(properties.keys().cloned());
    }
    let parts = schema.as_array().into_iter().flatten();
    for part in parts.chain(schema.as_object().into_iter().flat_map(|it| it.values())) {
        collect(part, keys);
    }
}

/// Every key of a scripted answer, with those of objects in it; but names of free choice.
fn used(answer: &Value, keys: &mut BTreeSet<String>) {
    if let Some(object) = answer.as_object() {
        for (key, value) in object {
            keys.insert(key.clone());
            if key != "commands" {
                used(value, keys);
            }
        }
    }
    answer.as_array().into_iter().flatten().for_each(|one| used(one, keys));
}

#[test]
fn scripted_answers_have_the_keys_of_the_schemas() {
    let cases = [
        ("task-list", TASKS),
        ("mission-list", MISSIONS),
        ("task-next", NEXT),
        ("workflow-show", WORKFLOW),
        ("project-list", PROJECTS),
        ("task-pane", PANE),
    ];
    for (schema, answer) in cases {
        let mut keys = BTreeSet::new();
        used(&serde_json::from_str(answer).unwrap(), &mut keys);
        let known = keys_of(schema);
        let unknown: Vec<_> = keys.difference(&known).collect();
        assert!(unknown.is_empty(), "{schema} has no {unknown:?}");
    }
}
