//! Messages of claude, whose usage stands in each line of a message.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{MOST_SUBAGENTS, TokenCounts, Usage};

/// Depth of the folders below `subagents`: an agent of a workflow has its record in a folder of that workflow.
const DEEPEST: u32 = 6;

/// The messages of a conversation and its subagents, each once, in however many lines and files it stands.
#[derive(Debug, Default)]
pub(super) struct ClaudeMessages {
    counted: BTreeMap<String, (String, TokenCounts)>,
    earlier: BTreeSet<String>,
}

impl ClaudeMessages {
    /// Notes the usage in a line. One of the lines of a message may have the figures of its beginning: the largest count.
    pub(super) fn note(&mut self, line: &Value, is_earlier: bool) {
        let Some((id, model, counts)) = message(line) else { return };
        if is_earlier {
            self.earlier.insert(id);
            return;
        }
        match self.counted.get_mut(&id) {
            Some((_, known)) if known.total() >= counts.total() => {}
            Some(known) => *known = (model, counts),
            None => drop(self.counted.insert(id, (model, counts))),
        }
    }

    pub(super) fn add_to(&self, usage: &mut Usage) {
        let new = self.counted.iter().filter(|(id, _)| !self.earlier.contains(*id));
        new.for_each(|(_, (model, counts))| usage.add(model, *counts));
    }
}

fn message(line: &Value) -> Option<(String, String, TokenCounts)> {
    let message = line.get("message").filter(|_| line["type"] == "assistant")?;
    let usage = message.get("usage")?;
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    let kinds =
        ["/input_tokens", "/output_tokens", "/cache_read_input_tokens", "/cache_creation_input_tokens"];
    let [input, output, cache_read, cache_write] = kinds.map(number);
    [input, output, cache_read, cache_write].iter().any(Option::is_some).then_some(())?;
    let cache_write = cache_write.unwrap_or_default();
    let of_an_hour = number("/cache_creation/ephemeral_1h_input_tokens").unwrap_or_default().min(cache_write);
    let counts = TokenCounts {
        input: input.unwrap_or_default(),
        output: output.unwrap_or_default(),
        cache_read: cache_read.unwrap_or_default(),
        cache_write_5m: cache_write - of_an_hour,
        cache_write_1h: of_an_hour,
        other: 0,
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    // A line without an id of its message is a message of its own.
    let id = text(&message["id"]).or_else(|| text(&line["uuid"])).unwrap_or_else(|| line.to_string());
    Some((id, text(&message["model"]).unwrap_or_default(), counts))
}

/// The records of the subagents of the session with this record: `<session>/subagents/**/agent-*.jsonl`. Older versions write
/// their messages into the record of the session, as side chains.
pub(super) fn subagents(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(&path.with_extension("").join("subagents"), DEEPEST, &mut found);
    found.sort();
    found
}

fn walk(folder: &Path, deeper: u32, found: &mut Vec<PathBuf>) {
    // Without the folder there are none.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && deeper > 0 => walk(&entry.path(), deeper - 1, found),
            Ok(kind) if kind.is_file() && name.starts_with("agent-") && name.ends_with(".jsonl") => {
                found.push(entry.path());
            }
            Ok(_) | Err(_) => {}
        }
        if found.len() > MOST_SUBAGENTS {
            return;
        }
    }
}
