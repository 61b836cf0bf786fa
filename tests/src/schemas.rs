//! Compares what commands print with the schemas in `docs/json`.

#![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

thread_local! {
    static COMPARED: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// True if there is a schema of this name.
pub fn exists(name: &str) -> bool {
    file(name).is_file()
}

/// The names of all schemas.
pub fn names() -> BTreeSet<String> {
    let files = fs::read_dir(file("").parent().unwrap()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".schema.json").map(str::to_owned)).collect()
}

/// The names of those that this thread, which is this test, has compared an answer with.
pub fn compared() -> BTreeSet<String> {
    COMPARED.with_borrow(BTreeSet::clone)
}

/// Compares an answer with the schema of this name, which must know each of its keys.
#[track_caller]
pub fn check(name: &str, answer: &Value) {
    let text = fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("no schema `{name}`: {error}"));
    let schema = with_known_keys_only(serde_json::from_str(&text).unwrap());
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let flaws: Vec<String> = validator.iter_errors(answer).map(|flaw| flaw.to_string()).collect();
    assert!(flaws.is_empty(), "{answer} does not fit docs/json/{name}.schema.json\n{}", flaws.join("\n"));
    COMPARED.with_borrow_mut(|names| names.insert(name.to_owned()));
}

fn file(name: &str) -> PathBuf {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|folder| folder.join("docs/json").is_dir());
    root.unwrap().join("docs/json").join(format!("{name}.schema.json"))
}

/// A schema that an answer with an unknown key does not fit.
fn with_known_keys_only(mut schema: Value) -> Value {
    let mut parts = BTreeSet::new();
    find_parts(&schema, &mut parts);
    close(&mut schema, true, &parts);
    schema
}

const COMBINATIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

fn has_keys(members: &Map<String, Value>) -> bool {
    members.contains_key("properties") && !members.contains_key("additionalProperties")
}

/// The definitions that are parts of objects with more keys.
fn find_parts(schema: &Value, parts: &mut BTreeSet<String>) {
    if let Some(members) = schema.as_object().filter(|members| has_keys(members)) {
        let combined = COMBINATIONS.iter().filter_map(|name| members.get(*name)?.as_array()).flatten();
        let referred = combined.filter_map(|part| part["$ref"].as_str()?.rsplit('/').next());
        parts.extend(referred.map(str::to_owned));
    }
    let below: Vec<&Value> = match schema {
        Value::Object(members) => members.values().collect(),
        Value::Array(members) => members.iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    below.into_iter().for_each(|member| find_parts(member, parts));
}

/// A part of an object does not know its other parts: only the whole refuses what none of them knows.
fn close(schema: &mut Value, is_whole: bool, parts: &BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            let has_keys = has_keys(members);
            for (name, member) in members.iter_mut() {
                match (name.as_str(), &mut *member) {
                    ("properties", Value::Object(named)) => {
                        named.values_mut().for_each(|member| close(member, true, parts));
                    }
                    ("$defs", Value::Object(named)) => {
                        named
                            .iter_mut()
                            .for_each(|(name, member)| close(member, !parts.contains(name), parts));
                    }
                    (name, member) => close(member, !(has_keys && COMBINATIONS.contains(&name)), parts),
                }
            }
            if has_keys && is_whole {
                members.insert("unevaluatedProperties".to_owned(), false.into());
            }
        }
        Value::Array(members) => members.iter_mut().for_each(|member| close(member, is_whole, parts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
