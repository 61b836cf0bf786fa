//! Every answer that `World::ok` gives is compared with the schema that `docs/json` has for its command, if there is one.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use serde_json::{Map, Value};

static SCHEMAS: LazyLock<Mutex<HashMap<String, Option<Value>>>> = LazyLock::new(Mutex::default);

/// Compares an answer with the schema of its command; the command is the words before the first option.
#[track_caller]
pub(crate) fn check(args: &[&str], answer: &Value) {
    let words: Vec<&str> = args.iter().copied().take_while(|word| !word.starts_with('-')).collect();
    let Some(schema) = (1..=words.len()).rev().find_map(|count| schema(&words[..count].join("-"))) else {
        return;
    };
    let schema = with_known_keys_only(schema);
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let flaws: Vec<String> = validator.iter_errors(answer).map(|flaw| flaw.to_string()).collect();
    assert!(flaws.is_empty(), "`orange {}` answers {answer}\n{}", words.join(" "), flaws.join("\n"));
}

/// The same schema, which an answer with a key that it does not have does not fit.
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

fn schema(command: &str) -> Option<Value> {
    let is_name = command.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
    let read = || {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("docs/json");
        let text = fs::read_to_string(folder.join(format!("{command}.schema.json"))).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    };
    let mut known = SCHEMAS.lock().unwrap();
    is_name.then(|| known.entry(command.to_owned()).or_insert_with(read).clone()).flatten()
}
