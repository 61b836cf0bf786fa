//! Merges several arguments `--option={…}` of one option: a program that expects JSON there uses only the last.

use std::ffi::OsString;

use serde_json::{Map, Value};

/// Merges the JSON objects of arguments with the same option into the first of them.
pub fn merge(args: Vec<OsString>) -> Vec<OsString> {
    let mut merged: Vec<OsString> = Vec::new();
    let mut objects: Vec<(usize, String, Map<String, Value>)> = Vec::new();
    for arg in args {
        let Some((option, object)) = object(&arg) else {
            merged.push(arg);
            continue;
        };
        match objects.iter_mut().find(|(_, known, _)| *known == option) {
            Some((place, _, first)) => {
                add(first, object);
                merged[*place] = OsString::from(format!("{option}={}", Value::Object(first.clone())));
            }
            None => {
                objects.push((merged.len(), option, object));
                merged.push(arg);
            }
        }
    }
    merged
}

fn object(arg: &OsString) -> Option<(String, Map<String, Value>)> {
    let (option, value) = arg.to_str()?.split_once('=')?;
    let is_option = option.starts_with("--") && value.starts_with('{');
    let object = is_option.then(|| serde_json::from_str(value).ok()).flatten()?;
    Some((option.to_owned(), object))
}

/// Merges objects, joins lists, and replaces other values.
fn add(to: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (to.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(value)) => add(known, value),
            (Some(Value::Array(known)), Value::Array(value)) => known.extend(value),
            (_, value) => {
                to.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(args: &[&str], expect: &[&str]) {
        let args = args.iter().map(OsString::from).collect();
        assert_eq!(merge(args), expect.iter().map(OsString::from).collect::<Vec<_>>());
    }

    #[test]
    fn json_objects_of_one_option_become_one_argument() {
        check(
            &[r#"--s={"a":1,"b":{"c":[1]}}"#, "x", r#"--s={"b":{"c":[2],"d":3},"a":2}"#],
            &[r#"--s={"a":2,"b":{"c":[1,2],"d":3}}"#, "x"],
        );
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let args =
            ["--s={ \"a\" : 1 }", "--t={\"a\":1}", "--u={x}", "--u={y}", "p={\"a\":1}", "p={\"b\":1}", "--s"];
        check(&args, &args);
    }
}
