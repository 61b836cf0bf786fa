//! Counts the tokens of an agent in its harness's own record, those of its subagents, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use serde_json::Value;

use super::read;
use orange_system::clock;

/// The most records of subagents that are read.
const MOST_SUBAGENTS: usize = 1000;

/// The records of a conversation: its own, and those of the subagents that claude keeps beside it, as
/// `<session>/subagents/agent-*.jsonl`. Older versions write their messages into its own record, as side chains.
pub fn records(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut records = vec![read(path)?];
    let folder = path.with_extension("").join("subagents");
    let is_one = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("agent-") && name.ends_with(".jsonl")
    };
    // Without the folder there are none; what cannot be read is not counted.
    let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    records.extend(found.filter(is_one).take(MOST_SUBAGENTS).filter_map(|path| read(&path).ok()));
    Ok(records)
}

/// The number of tokens since this time: all that the model has read, cached or not, and written. `None` if no record says it.
///
/// claude repeats the usage of each message, codex the total of the conversation.
pub fn tokens(records: &[Vec<u8>], since: Option<SystemTime>) -> Option<u64> {
    let mut messages: BTreeMap<String, u64> = BTreeMap::new();
    let mut before = 0;
    let mut total = None;
    let lines = records.iter().flat_map(|record| record.split(|byte| *byte == b'\n'));
    for line in lines.filter(|line| may_tell(line)) {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { continue };
        let time = line.get("timestamp").and_then(Value::as_str).and_then(clock::parse);
        let is_earlier = since.is_some_and(|since| time.is_some_and(|time| time < since));
        match (total_of_codex(&line), message_of_claude(&line)) {
            (Some(tokens), _) if is_earlier => before = tokens,
            (Some(tokens), _) => total = Some(tokens),
            (None, Some((id, tokens))) if !is_earlier => drop(messages.insert(id.to_owned(), tokens)),
            (None, _) => {}
        }
    }
    let of_claude = (!messages.is_empty()).then(|| messages.values().sum());
    total.map(|total: u64| total.saturating_sub(before)).or(of_claude)
}

/// True if a line may have figures; lines may be long, and few of them have any.
fn may_tell(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|line| line.contains(r#""usage""#) || line.contains("token_count"))
}

fn total_of_codex(line: &Value) -> Option<u64> {
    let payload = line.get("payload").filter(|payload| payload["type"] == "token_count")?;
    payload.pointer("/info/total_token_usage/total_tokens")?.as_u64()
}

fn message_of_claude(line: &Value) -> Option<(&str, u64)> {
    let message = line.get("message").filter(|_| line["type"] == "assistant")?;
    let usage = message.get("usage")?;
    let kinds = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let known: Vec<u64> = kinds.iter().filter_map(|kind| usage.get(kind)?.as_u64()).collect();
    (!known.is_empty()).then(|| (message["id"].as_str().unwrap_or_default(), known.iter().sum()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn claude(id: &str, minute: u32, input: u32, output: u32) -> String {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-11-22T12:{minute:02}:00.000Z","message":{{"id":"{id}","usage":{{"input_tokens":{input},"cache_read_input_tokens":1000,"output_tokens":{output}}}}}}}"#
        )
    }

    fn codex(minute: u32, total: u32) -> String {
        format!(
            r#"{{"timestamp":"2026-11-22T12:{minute:02}:00.000Z","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{total}}}}}}}}}"#
        )
    }

    #[track_caller]
    fn check(lines: &[String], since: Option<&str>, expect: Option<u64>) {
        let since = since.map(|time| clock::parse(time).unwrap());
        assert_eq!(tokens(&[lines.join("\n").into_bytes()], since), expect);
    }

    #[test]
    fn subagents_count_and_each_message_once() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("s1.jsonl");
        let count = || tokens(&records(&own).unwrap(), None);
        let side_chain = claude("side", 2, 7, 3).replacen('{', r#"{"isSidechain":true,"#, 1);
        fs::write(&own, [claude("a", 1, 5, 1), side_chain.clone()].join("\n")).unwrap();
        assert_eq!(count(), Some(1006 + 1010));

        let subagents = folder.path().join("s1/subagents");
        fs::create_dir_all(&subagents).unwrap();
        fs::write(subagents.join("agent-1.jsonl"), claude("b", 2, 20, 4)).unwrap();
        fs::write(subagents.join("agent-2.jsonl"), [claude("c", 3, 1, 1), side_chain].join("\n")).unwrap();
        fs::write(subagents.join("agent-2.meta.json"), claude("d", 3, 1, 1)).unwrap();
        fs::create_dir_all(folder.path().join("s2/subagents")).unwrap();
        fs::write(folder.path().join("s2/subagents/agent-1.jsonl"), claude("e", 3, 1, 1)).unwrap();
        std::os::unix::fs::symlink(&own, subagents.join("agent-3.jsonl")).unwrap();
        assert_eq!(count(), Some(1006 + 1010 + 1024 + 1002));
    }

    #[test]
    fn a_message_of_claude_counts_once() {
        let lines = [claude("a", 1, 5, 1), claude("a", 1, 5, 20), claude("b", 3, 7, 2)];
        check(&lines, None, Some(1025 + 1009));
        check(&lines, Some("2026-11-22T12:02:00Z"), Some(1009));
        check(&lines, Some("2026-11-22T13:00:00Z"), None);
    }

    #[test]
    fn the_last_total_of_codex_counts_without_what_was_before() {
        let lines = [codex(1, 100), codex(1, 100), codex(3, 250), codex(4, 400)];
        check(&lines, None, Some(400));
        check(&lines, Some("2026-11-22T12:02:00Z"), Some(300));
        check(&lines, Some("2026-11-22T13:00:00Z"), None);
    }

    #[test]
    fn nothing_is_invented() {
        let odd = [
            "",
            "{",
            r#"{"usage":7}"#,
            r#"{"type":"assistant","message":{"id":"a","usage":{}}}"#,
            r#"{"type":"user","message":{"usage":{"input_tokens":5}}}"#,
            r#"{"payload":{"type":"token_count","info":null}}"#,
        ];
        check(&odd.map(str::to_owned), Some("2026-11-22T12:00:00Z"), None);
        let never = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(1));
        assert_eq!(tokens(&[b"\xff\xfe \"usage\"".to_vec()], never), None);
    }
}
