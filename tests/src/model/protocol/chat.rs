//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::{ModelReply, ModelRequest, ToolAnswer, events, list, text_of};
use crate::model::http::HttpResponse;
use crate::model::tools::HarnessTool;

/// The beginnings of failed tools' answers, since the protocol has no field for that.
const FAILURES: &[&str] =
    &["Command exited with code", "Validation failed for tool", "Could not find", "Found multiple matches"];

pub(super) fn read(body: &Value) -> ModelRequest {
    let mut asked = ModelRequest::default();
    for message in list(&body["messages"]) {
        let said = text_of(&message["content"]);
        match message["role"].as_str().unwrap_or_default() {
            "user" => asked.messages.push(said),
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default().to_owned();
                let is_error = FAILURES.iter().any(|sign| said.contains(sign));
                asked.results.push((id, ToolAnswer { text: said, is_error }));
            }
            _ => (),
        }
    }
    let tool = |tool: &Value| {
        let function = &tool["function"];
        Some(HarnessTool::new(function["name"].as_str()?, &function["parameters"]))
    };
    asked.tools = list(&body["tools"]).iter().filter_map(tool).collect();
    asked
}

pub(super) fn write(asked: &ModelRequest, reply: &ModelReply) -> HttpResponse {
    let (mut message, reason) = match reply {
        ModelReply::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        ModelReply::Call { id, call } => {
            let function = json!({ "name": call.tool, "arguments": call.input.to_string() });
            let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
            (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
    };
    let tokens = asked.tokens();
    let usage = json!({ "prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10 });
    let base = json!({ "id": "chat_scripted", "created": 1, "model": "scripted" });
    let with = |kind: &str, choice: Value| {
        let mut whole = base.clone();
        whole["object"] = json!(kind);
        whole["choices"] = json!([choice]);
        whole
    };
    if !asked.stream {
        let choice = json!({ "index": 0, "message": message.take(), "finish_reason": reason });
        let mut whole = with("chat.completion", choice);
        whole["usage"] = usage;
        return HttpResponse::json(200, &whole);
    }
    let piece = |delta: Value, reason: Value| {
        with("chat.completion.chunk", json!({ "index": 0, "delta": delta, "finish_reason": reason }))
    };
    let mut last = piece(json!({}), json!(reason));
    last["usage"] = usage;
    let mut answer = events(&[("", piece(message.take(), Value::Null)), ("", last)]);
    answer.body += "data: [DONE]\n\n";
    answer
}
