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
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let flaws: Vec<String> = validator.iter_errors(answer).map(|flaw| flaw.to_string()).collect();
    assert!(flaws.is_empty(), "`orange {}` answers {answer}\n{}", words.join(" "), flaws.join("\n"));
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
