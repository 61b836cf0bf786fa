//! What the dashboard reads is what the answers of `orange` have.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{MISSIONS, NEXT, PANE, PROJECTS, TASKS, WORKFLOW};

/// Every key that stands somewhere in a schema.
fn keys_of(schema: &str) -> BTreeSet<String> {
    let path = format!("{}/../../docs/json/{schema}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
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
