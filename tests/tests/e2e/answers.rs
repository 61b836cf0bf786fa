//! Every answer that `World::ok` gives is compared with the schema that `docs/json` has for its command, if there is one.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use serde_json::Value;

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
    close(&mut schema, true);
    schema
}

fn close(schema: &mut Value, is_whole: bool) {
    match schema {
        Value::Object(members) => {
            let has_keys =
                members.contains_key("properties") && !members.contains_key("additionalProperties");
            for (name, member) in members.iter_mut() {
                // What stands in `properties` are names, and a part of an object does not know its other parts.
                let is_part = has_keys && ["allOf", "anyOf", "oneOf"].contains(&name.as_str());
                match member.as_object_mut().filter(|_| ["properties", "$defs"].contains(&name.as_str())) {
                    Some(named) => named.values_mut().for_each(|member| close(member, true)),
                    None => close(member, !is_part),
                }
            }
            if has_keys && is_whole {
                members.insert("unevaluatedProperties".to_owned(), false.into());
            }
        }
        Value::Array(members) => members.iter_mut().for_each(|member| close(member, is_whole)),
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
