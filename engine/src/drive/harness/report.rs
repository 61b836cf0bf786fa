//! Converts the reports of harnesses, the JSON that their hooks get, to notes.

use serde::Deserialize;
use serde_json::Value;

use super::until::until;
use crate::store::activity::{ActivityNote, NoteKind};
use orange_system::{clock, fault};

/// The relevant parts of a hook's input; the rest, which may be large, is skipped.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HookInput {
    hook_event_name: Value,
    notification_type: Value,
    tool_name: Value,
    tool_input: Value,
    session_id: Value,
    transcript_path: Value,
    agent_id: Value,
    error: Value,
    last_assistant_message: Value,
    message: Value,
    reason: Value,
    until: Value,
    tokens: Value,
    cost: Value,
}

/// The note for a hook's input; `None` if it reports nothing relevant.
pub fn read(spawn: u32, given: &[u8]) -> Option<ActivityNote> {
    let given: HookInput = serde_json::from_slice(given).ok()?;

    let kind = kind(&given)?;
    let (text, is_whole) = match kind {
        NoteKind::Tool | NoteKind::ToolEnded | NoteKind::Permission | NoteKind::Question => {
            argument(&given).map_or((None, false), |(text, is_whole)| (Some(text), is_whole))
        }
        NoteKind::Failed | NoteKind::Limit => {
            (text_of(&given.last_assistant_message).or_else(|| text_of(&given.error)), false)
        }
        NoteKind::Idle if given.hook_event_name == "Interrupt" => (Some("interrupted".to_owned()), false),
        NoteKind::Ended => (text_of(&given.reason), false),
        NoteKind::Started
        | NoteKind::Prompt
        | NoteKind::Answered
        | NoteKind::Idle
        | NoteKind::Reports
        | NoteKind::Refused
        | NoteKind::Other => (None, false),
    };
    let until_of_text = || until(text.as_ref()?, fault::now()).map(clock::rfc3339);
    let until = text_of(&given.until).or_else(|| until_of_text().filter(|_| kind == NoteKind::Limit));
    Some(ActivityNote {
        tool: text_of(&given.tool_name),
        text: text.or_else(|| text_of(&given.message)),
        is_whole,
        session: text_of(&given.session_id),
        // A subagent of codex reports its own record.
        transcript: text_of(&given.transcript_path).filter(|_| given.agent_id.is_null()),
        tokens: given.tokens.as_u64(),
        cost: given.cost.as_u64(),
        until,
        ..ActivityNote::now(spawn, kind)
    })
}

/// The kind of an event. claude and codex use the same names, as do our own extensions of other harnesses.
fn kind(given: &HookInput) -> Option<NoteKind> {
    Some(match given.hook_event_name.as_str()? {
        "SessionStart" => NoteKind::Started,
        "UserPromptSubmit" => NoteKind::Prompt,
        "PreToolUse" => NoteKind::Tool,
        "PostToolUse" | "PostToolUseFailure" | "PermissionDenied" => NoteKind::ToolEnded,
        "PermissionRequest" if given.tool_name == "AskUserQuestion" => NoteKind::Question,
        "PermissionRequest" => NoteKind::Permission,
        "Elicitation" => NoteKind::Question,
        "Stop" | "Interrupt" => NoteKind::Idle,
        "StopFailure" if is_limit(given) => NoteKind::Limit,
        "StopFailure" => NoteKind::Failed,
        "SessionEnd" => NoteKind::Ended,
        // This comes a minute after a person has interrupted a turn, and no other event reports that.
        "Notification" if given.notification_type == "idle_prompt" => NoteKind::Idle,
        _ => return None,
    })
}

/// True if the failure passes by itself: a limit of the account, or an overloaded or failing provider.
fn is_limit(given: &HookInput) -> bool {
    ["rate_limit", "overloaded", "server_error"].iter().any(|error| given.error == *error)
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The input of a tool as one text: its command, file, address or question, or else all of it. True if no other part of the input
/// has an effect.
fn argument(given: &HookInput) -> Option<(String, bool)> {
    const NAMES: [&str; 8] =
        ["command", "file_path", "filePath", "path", "url", "pattern", "query", "prompt"];
    let input = &given.tool_input;
    let question = input.pointer("/questions/0/question").and_then(Value::as_str);
    let is_alone = |name: &str| {
        let mut parts = input.as_object().into_iter().flat_map(|parts| parts.keys());
        parts.all(|part| part == name || name == "command" && is_comment(&given.tool_name, part))
    };
    let named =
        || NAMES.iter().find_map(|name| Some((input.get(name)?.as_str()?.to_owned(), is_alone(name))));
    let whole = || (!input.is_null()).then(|| (input.to_string(), true));
    question.map(|text| (text.to_owned(), false)).or_else(named).or_else(whole)
}

/// True if the part of a command only says what it is for, or how long it may take. In the tools of MCP servers, it can mean anything.
fn is_comment(tool: &Value, part: &str) -> bool {
    let is_foreign = tool.as_str().is_none_or(|tool| tool.starts_with("mcp_"));
    !is_foreign && ["description", "timeout"].contains(&part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expect: Option<(NoteKind, Option<&str>, Option<&str>)>) {
        let note = read(3, given.as_bytes());
        let read = note.as_ref().map(|note| (note.kind, note.tool.as_deref(), note.text.as_deref()));
        assert_eq!(read, expect, "{given}");
    }

    #[test]
    fn events_of_claude_and_codex_become_notes() {
        check(
            r#"{"hook_event_name":"SessionStart","source":"startup"}"#,
            Some((NoteKind::Started, None, None)),
        );
        check(
            r#"{"hook_event_name":"UserPromptSubmit","prompt":"go"}"#,
            Some((NoteKind::Prompt, None, None)),
        );
        check(
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","description":"x"}}"#,
            Some((NoteKind::Tool, Some("Bash"), Some("ls"))),
        );
        check(
            r#"{"hook_event_name":"PermissionRequest","tool_name":"Edit","tool_input":{"file_path":"/a","new_string":"b"}}"#,
            Some((NoteKind::Permission, Some("Edit"), Some("/a"))),
        );
        check(
            r#"{"hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which?"}]}}"#,
            Some((NoteKind::Question, Some("AskUserQuestion"), Some("Which?"))),
        );
        check(r#"{"hook_event_name":"Stop"}"#, Some((NoteKind::Idle, None, None)));
        check(
            r#"{"hook_event_name":"StopFailure","error":"rate_limit","last_assistant_message":"API Error: 429"}"#,
            Some((NoteKind::Limit, None, Some("API Error: 429"))),
        );
        check(
            r#"{"hook_event_name":"StopFailure","error":"authentication_failed"}"#,
            Some((NoteKind::Failed, None, Some("authentication_failed"))),
        );
        check(
            r#"{"hook_event_name":"SessionEnd","reason":"other"}"#,
            Some((NoteKind::Ended, None, Some("other"))),
        );
    }

    #[test]
    fn a_note_has_the_whole_input_of_a_tool_or_a_part() {
        for (input, text, is_whole) in [
            (r#"{"command":"ls","description":"x","timeout":9}"#, "ls", true),
            (r#"{"url":"x","description":"y"}"#, "x", false),
            (r#"{"command":"ls","run_in_background":true}"#, "ls", false),
            (r#"{"command":"ls","dangerouslyDisableSandbox":true}"#, "ls", false),
            (r#"{"file_path":"/a","content":"b"}"#, "/a", false),
            (r#"{"file_path":"/a"}"#, "/a", true),
            (r#"{"command":"ls","url":"x"}"#, "ls", false),
            (r#"{"command":["ls"],"path":"x"}"#, "x", false),
            (r#"{"amount":3}"#, r#"{"amount":3}"#, true),
            (r#"{"questions":[{"question":"Which?"}]}"#, "Which?", false),
        ] {
            let given =
                format!(r#"{{"hook_event_name":"PermissionRequest","tool_name":"T","tool_input":{input}}}"#);
            let note = read(3, given.as_bytes()).unwrap();
            assert_eq!((note.text.as_deref(), note.is_whole), (Some(text), is_whole), "{input}");
        }
        let foreign = r#"{"hook_event_name":"PermissionRequest","tool_name":"mcp__forge__run","tool_input":{"command":"ls","description":"x"}}"#;
        assert!(!read(3, foreign.as_bytes()).unwrap().is_whole);
    }

    #[test]
    fn each_event_has_the_conversation() {
        let given = r#"{"hook_event_name":"Stop","session_id":"s1","transcript_path":"/t.jsonl"}"#;
        let note = read(3, given.as_bytes()).unwrap();
        assert_eq!(
            (note.spawn, note.session.as_deref(), note.transcript.as_deref()),
            (3, Some("s1"), Some("/t.jsonl"))
        );
        // As codex 0.169 reports a subagent's tool.
        let given = r#"{"hook_event_name":"PreToolUse","session_id":"s1","agent_id":"a1","transcript_path":"/a1.jsonl"}"#;
        let note = read(3, given.as_bytes()).unwrap();
        assert_eq!((note.session.as_deref(), note.transcript), (Some("s1"), None));
    }

    #[test]
    fn what_is_not_known_is_no_note() {
        for given in ["{}", "[]", "7", r#"{"hook_event_name":7}"#, r#"{"hook_event_name":"Moon"}"#] {
            check(given, None);
        }
        check(r#"{"hook_event_name":"Notification","notification_type":"permission_prompt"}"#, None);
    }
}
