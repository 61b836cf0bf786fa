//! Parses the turns of a conversation from the files of claude, codex and pi. Lines of another form are ignored.

use serde_json::Value;

/// A part of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptTurn {
    /// Its time, as the harness wrote it.
    pub time: Option<String>,
    pub what: TurnContent,
}

/// The content of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnContent {
    /// A message to the agent: its prompt, or a person's.
    Asked(String),
    /// The agent's message.
    Said(String),
    /// The agent's thought.
    Thought(String),
    /// A call of a tool.
    Called {
        tool: String,
        /// Its main argument, or all of them as JSON.
        arguments: String,
    },
    /// The answer of a tool.
    Answered {
        text: String,
        /// True if it failed.
        failed: bool,
    },
}

impl TurnContent {
    /// Its name in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            TurnContent::Asked(_) => "asked",
            TurnContent::Said(_) => "said",
            TurnContent::Thought(_) => "thought",
            TurnContent::Called { .. } => "called",
            TurnContent::Answered { .. } => "answered",
        }
    }
}

/// The turns in these lines.
pub fn of(lines: &[u8]) -> Vec<TranscriptTurn> {
    lines.split(|byte| *byte == b'\n').flat_map(of_line).collect()
}

/// The turns in one line; none if it is incomplete or irrelevant.
fn of_line(line: &[u8]) -> Vec<TranscriptTurn> {
    let Ok(line) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
    let time = line["timestamp"].as_str().map(str::to_owned);
    let what = match line["type"].as_str() {
        Some("user" | "assistant" | "message") if line["isMeta"] != true => message(&line["message"]),
        Some("response_item") => item(&line["payload"]),
        Some(_) | None => Vec::new(),
    };
    what.into_iter().map(|what| TranscriptTurn { time: time.clone(), what }).collect()
}

/// A message in claude's and pi's files, or in an item of codex.
fn message(message: &Value) -> Vec<TurnContent> {
    let role = message["role"].as_str().unwrap_or_default();
    if role == "toolResult" {
        return vec![answered(text_of(&message["content"]), message["isError"] == true)];
    }
    let content = &message["content"];
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    blocks.iter().filter_map(|block| of_block(role, block)).collect()
}

fn of_block(role: &str, block: &Value) -> Option<TurnContent> {
    let text = |key: &str| block[key].as_str().map(str::to_owned).filter(|text| !text.trim().is_empty());
    match block["type"].as_str() {
        None => said(role, block.as_str()?.to_owned()),
        Some("text" | "input_text" | "output_text") => said(role, text("text")?),
        Some("thinking") => text("thinking").map(TurnContent::Thought),
        Some("tool_use") => Some(called(&block["name"], &block["input"])),
        Some("toolCall") => Some(called(&block["name"], &block["arguments"])),
        Some("tool_result") => Some(answered(text_of(&block["content"]), block["is_error"] == true)),
        Some(_) => None,
    }
}

/// A message, unless it is in tags: those are additions of a harness for the model.
fn said(role: &str, text: String) -> Option<TurnContent> {
    let is_added = text.starts_with('<') && text.trim_end().ends_with('>');
    match role {
        "assistant" => Some(TurnContent::Said(text)),
        "user" if !is_added && !text.starts_with("# AGENTS.md instructions") => {
            Some(TurnContent::Asked(text))
        }
        _ => None,
    }
}

/// An item of codex's files.
fn item(item: &Value) -> Vec<TurnContent> {
    let one = |what| vec![what];
    match item["type"].as_str() {
        Some("message") => message(item),
        Some("reasoning") => {
            let text = text_of(&item["summary"]);
            if text.is_empty() { Vec::new() } else { one(TurnContent::Thought(text)) }
        }
        Some("function_call") => one(called(&item["name"], &item["arguments"])),
        Some("custom_tool_call") => one(called(&item["name"], &item["input"])),
        Some("local_shell_call") => one(called(&Value::from("shell"), &item["action"])),
        Some("function_call_output" | "custom_tool_call_output") => {
            one(answered(text_of(&item["output"]), false))
        }
        Some(_) | None => Vec::new(),
    }
}

fn called(tool: &Value, arguments: &Value) -> TurnContent {
    let parsed = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
    let arguments = parsed.as_ref().unwrap_or(arguments);
    TurnContent::Called { tool: tool.as_str().unwrap_or("?").to_owned(), arguments: brief(arguments) }
}

/// The main argument of a call, if it has one.
fn brief(arguments: &Value) -> String {
    const TELLING: [&str; 6] = ["command", "cmd", "file_path", "path", "pattern", "url"];
    let words = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            words.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    let telling = TELLING.iter().find_map(|key| words(arguments.get(key)?));
    telling.or_else(|| words(arguments)).unwrap_or_else(|| arguments.to_string())
}

fn answered(text: String, failed: bool) -> TurnContent {
    TurnContent::Answered { text, failed }
}

/// The text of a string, or of an array of blocks.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<String> = blocks.iter().map(text_of).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        Value::Object(block) => {
            let text = ["text", "content", "output"].iter().find_map(|key| block.get(*key));
            text.map(text_of).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &[TurnContent]) {
        let turns: Vec<TurnContent> = of_line(line.as_bytes()).into_iter().map(|turn| turn.what).collect();
        assert_eq!(turns, expect);
    }

    fn call(tool: &str, arguments: &str) -> TurnContent {
        TurnContent::Called { tool: tool.to_owned(), arguments: arguments.to_owned() }
    }

    fn answer(text: &str, failed: bool) -> TurnContent {
        answered(text.to_owned(), failed)
    }

    #[test]
    fn claudes_lines_are_understood() {
        check(
            r#"{"type":"user","message":{"role":"user","content":"Do it."},"timestamp":"T"}"#,
            &[TurnContent::Asked("Do it.".to_owned())],
        );
        check(
            r#"{"type":"assistant","message":{"role":"assistant","content":[
                {"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"I look."},
                {"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls","description":"List"}},
                {"type":"tool_use","id":"u","name":"Todo","input":{"items":[1]}}]}}"#,
            &[
                TurnContent::Thought("hm".to_owned()),
                TurnContent::Said("I look.".to_owned()),
                call("Bash", "ls"),
                call("Todo", r#"{"items":[1]}"#),
            ],
        );
        check(
            r#"{"type":"user","message":{"role":"user","content":[
                {"type":"tool_result","content":[{"type":"text","text":"a.rs"}],"tool_use_id":"t"},
                {"type":"tool_result","content":"no","is_error":true,"tool_use_id":"u"}]}}"#,
            &[answer("a.rs", false), answer("no", true)],
        );
        check(r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"Caveat"}}"#, &[]);
        check(
            r#"{"type":"user","message":{"role":"user","content":"<system-reminder>x</system-reminder>"}}"#,
            &[],
        );
        check(r#"{"type":"file-history-snapshot","snapshot":{}}"#, &[]);
    }

    #[test]
    fn codexs_lines_are_understood() {
        let item =
            |payload: &str| format!(r#"{{"timestamp":"T","type":"response_item","payload":{payload}}}"#);
        check(
            &item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Do it."}]}"#),
            &[TurnContent::Asked("Do it.".to_owned())],
        );
        check(
            &item(
                r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"Rules"}]}"#,
            ),
            &[],
        );
        check(
            &item(
                r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}"#,
            ),
            &[TurnContent::Said("Done.".to_owned())],
        );
        check(
            &item(r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"echo hi\"}"}"#),
            &[call("exec_command", "echo hi")],
        );
        check(
            &item(r#"{"type":"local_shell_call","action":{"type":"exec","command":["ls","-l"]}}"#),
            &[call("shell", "ls -l")],
        );
        check(
            &item(r#"{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch"}"#),
            &[call("apply_patch", "*** Begin Patch")],
        );
        check(
            &item(r#"{"type":"function_call_output","call_id":"c","output":"hi\n"}"#),
            &[answer("hi\n", false)],
        );
        check(
            &item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}"#),
            &[TurnContent::Thought("hm".to_owned())],
        );
        check(&item(r#"{"type":"reasoning","summary":[]}"#), &[]);
        check(r#"{"type":"event_msg","payload":{"type":"agent_message","message":"Done."}}"#, &[]);
    }

    #[test]
    fn pis_lines_are_understood() {
        check(
            r#"{"type":"message","message":{"role":"assistant","content":[
                {"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls"}}]}}"#,
            &[call("bash", "ls")],
        );
        check(
            r#"{"type":"message","message":{"role":"toolResult","toolName":"bash",
                "content":[{"type":"text","text":"a.rs\n"}],"isError":true}}"#,
            &[answer("a.rs\n", true)],
        );
    }

    #[test]
    fn other_lines_are_passed_over() {
        for line in ["", "{", "[]", "3", "null", r#"{"type":"user"}"#, r#"{"type":1,"message":[]}"#, "\u{0}"]
        {
            check(line, &[]);
        }
        let both = b"{\"type\":\"user\",\"timestamp\":\"T\",\"message\":{\"role\":\"user\",\"content\":\"a\"}}\ntorn";
        assert_eq!(
            of(both),
            [TranscriptTurn { time: Some("T".to_owned()), what: TurnContent::Asked("a".to_owned()) }]
        );
    }
}
