//! Sets and removes a value in a JSON text without changing any other byte.

use std::ops::Range;

use serde_json::Value;

/// The text with this value at this path of member names, and how many names of the path existed. Missing objects are created.
/// `None` if the text or a value on the path is not an object.
pub fn set(text: &str, path: &[&str], value: &Value) -> Option<(String, usize)> {
    let mut object = root(text)?;
    for (depth, name) in path.iter().enumerate() {
        let Some(found) = members(text, &object).into_iter().find(|member| member.name == *name) else {
            let inner = path[depth + 1..].iter().rev();
            let made = inner.fold(value.clone(), |inner, name| {
                Value::Object([((*name).to_owned(), inner)].into_iter().collect())
            });
            let comma = if members(text, &object).is_empty() { "" } else { "," };
            let member = format!("{}:{made}{comma}", Value::from(*name));
            return Some((spliced(text, object.start + 1..object.start + 1, &member), depth));
        };
        if depth + 1 == path.len() {
            return Some((spliced(text, found.value, &value.to_string()), path.len()));
        }
        object = Some(found.value).filter(|value| text[value.clone()].starts_with('{'))?;
    }
    None
}

/// The text without the member at this path. It exactly reverses [`set`].
pub fn remove(text: &str, path: &[&str]) -> Option<String> {
    let (last, parents) = path.split_last()?;
    let mut object = root(text)?;
    for name in parents {
        object = members(text, &object).into_iter().find(|member| member.name == *name)?.value;
        text[object.clone()].starts_with('{').then_some(())?;
    }
    let all = members(text, &object);
    let at = all.iter().position(|member| member.name == *last)?;
    let range = match (all.get(at + 1), at.checked_sub(1).and_then(|before| all.get(before))) {
        // The comma after it is removed; the spaces after that belong to the next member.
        (Some(next), _) => {
            let gap = &text[all[at].value.end..next.start];
            all[at].start..all[at].value.end + gap.find(',')? + 1
        }
        (None, Some(previous)) => previous.value.end..all[at].value.end,
        (None, None) => all[at].start..all[at].value.end,
    };
    Some(spliced(text, range, ""))
}

/// The value at this path.
pub fn get<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

struct Member {
    name: String,
    start: usize,
    value: Range<usize>,
}

fn root(text: &str) -> Option<Range<usize>> {
    serde_json::from_str::<Value>(text).ok().filter(Value::is_object)?;
    Some(text.find('{')?..text.rfind('}')? + 1)
}

fn spliced(text: &str, range: Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// The members of the object in this range of a valid JSON text.
fn members(text: &str, object: &Range<usize>) -> Vec<Member> {
    let mut members = Vec::new();
    let mut at = object.start + 1;
    loop {
        at = skipped(text, at, b" \t\r\n,");
        if at >= object.end || text.as_bytes()[at] != b'"' {
            return members;
        }
        let (start, end) = (at, end_of_value(text, at));
        let name = serde_json::from_str(&text[start..end]).unwrap_or_default();
        let value = skipped(text, end, b" \t\r\n:");
        at = end_of_value(text, value);
        members.push(Member { name, start, value: value..at });
    }
}

fn skipped(text: &str, from: usize, over: &[u8]) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| over.contains(byte)).count()
}

fn end_of_value(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut in_string, mut at) = (0_usize, false, from);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            _ if in_string => continue,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => continue,
            _ => {
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                return at + bytes[at..].iter().take_while(|byte| word(byte)).count();
            }
        }
        if depth == 0 && !in_string {
            return at;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, path: &[&str], value: &Value, expect: &str) {
        let (set, depth) = set(text, path, value).unwrap();
        assert_eq!(set, expect);
        let read: Value = serde_json::from_str(&set).unwrap();
        assert_eq!(get(&read, path), Some(value));
        if depth < path.len() {
            assert_eq!(remove(&set, &path[..=depth]).unwrap(), text, "taken out to the byte");
        }
    }

    #[test]
    fn a_value_is_added_and_taken_out_to_the_byte() {
        check("{}", &["a", "b c"], &json!(true), r#"{"a":{"b c":true}}"#);
        check("{ }\n", &["a"], &json!(1), "{\"a\":1 }\n");
        check("{\n  \"x\": 1\n}\n", &["a"], &json!([1]), "{\"a\":[1],\n  \"x\": 1\n}\n");
        check(
            r#"{"x":"}\"{","p":{"/r":{"k":[{}]}}}"#,
            &["p", "/r", "t"],
            &json!(true),
            r#"{"x":"}\"{","p":{"/r":{"t":true,"k":[{}]}}}"#,
        );
        check(
            r#"{"p":{"/r \"1\"":{}}}"#,
            &["p", "/r \"1\"", "t"],
            &json!(true),
            r#"{"p":{"/r \"1\"":{"t":true}}}"#,
        );
    }

    #[test]
    fn a_value_that_is_there_is_replaced_alone() {
        check(r#"{"a" : false , "b": -1.5e3}"#, &["a"], &json!(true), r#"{"a" : true , "b": -1.5e3}"#);
        check(r#"{"a":[1, 2],"b":null}"#, &["b"], &json!([]), r#"{"a":[1, 2],"b":[]}"#);
    }

    #[test]
    fn a_member_is_taken_out_wherever_it_stands() {
        let remove = |text: &str| remove(text, &["b"]).unwrap();
        assert_eq!(remove(r#"{"b": 1, "c": 2}"#), r#"{ "c": 2}"#);
        assert_eq!(remove("{\n  \"a\": 1,\n  \"b\": {\"x\": 1}\n}"), "{\n  \"a\": 1\n}");
        assert_eq!(remove(r#"{"b":true}"#), "{}");
        assert_eq!(super::remove(r#"{"a":1}"#, &["b"]), None);
    }

    #[test]
    fn what_is_no_object_is_left_alone() {
        assert_eq!(set("[]", &["a"], &json!(1)), None);
        assert_eq!(set("{", &["a"], &json!(1)), None);
        assert_eq!(set(r#"{"a":1}"#, &["a", "b"], &json!(1)), None);
    }
}
