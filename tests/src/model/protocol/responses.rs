//! OpenAI's responses.

use serde_json::{Value, json};

use super::{ModelReply, ModelRequest, ToolAnswer, events, list, text_of};
use crate::model::http::HttpResponse;
use crate::model::tools::HarnessTool;

pub(super) fn read(body: &Value) -> ModelRequest {
    let mut asked = ModelRequest::default();
    if let Some(said) = body["input"].as_str() {
        asked.messages.push(said.to_owned());
    }
    for item in list(&body["input"]) {
        let kind = item["type"].as_str().unwrap_or("message");
        if kind == "message" && item["role"] == "user" {
            asked.messages.push(text_of(&item["content"]));
        }
        if kind.ends_with("_output") {
            let id = item["call_id"].as_str().unwrap_or_default().to_owned();
            asked.results.push((id, result(&item["output"])));
        }
    }
    asked.tools = list(&body["tools"]).iter().flat_map(tools).collect();
    asked
}

/// A tool, or the tools of a group.
fn tools(offered: &Value) -> Vec<HarnessTool> {
    let Some(name) = offered["name"].as_str().or(offered["type"].as_str()) else { return Vec::new() };
    if offered["type"] == "namespace" {
        let of_group = |tool: HarnessTool| HarnessTool { group: Some(name.to_owned()), ..tool };
        return list(&offered["tools"]).iter().flat_map(tools).map(of_group).collect();
    }
    vec![HarnessTool {
        is_plain: offered["type"] == "custom",
        ..HarnessTool::new(name, &offered["parameters"])
    }]
}

/// The answer of a command, which contains its exit status.
fn result(output: &Value) -> ToolAnswer {
    let text = text_of(if output.is_object() { &output["content"] } else { output });
    let succeeded = ["exited with code 0", "Exit code: 0", "\"exit_code\":0"];
    let failed = ["exited with code", "Exit code:", "\"exit_code\":"];
    let is_among = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    let is_error = output["success"] == false || is_among(&failed) && !is_among(&succeeded);
    ToolAnswer { is_error, text }
}

pub(super) fn write(asked: &ModelRequest, reply: &ModelReply) -> HttpResponse {
    let item = match reply {
        ModelReply::Text(text) => {
            json!({ "type": "message", "id": "msg_scripted", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }] })
        }
        ModelReply::Call { id, call }
            if asked.tools.iter().any(|tool| tool.is_plain && tool.name == call.tool) =>
        {
            json!({ "type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": id, "name": call.tool,
                "input": call.input["input"], "status": "completed" })
        }
        ModelReply::Call { id, call } => {
            let tool = asked.tools.iter().find(|tool| tool.name == call.tool);
            let mut item = json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id,
                "name": call.tool, "arguments": call.input.to_string(), "status": "completed" });
            if let Some(group) = tool.and_then(|tool| tool.group.as_ref()) {
                item["namespace"] = json!(group);
            }
            item
        }
    };
    let tokens = asked.tokens();
    let usage = json!({ "input_tokens": tokens, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 10,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": tokens + 10 });
    let response = |status: &str, output: Value| {
        json!({ "id": "resp_scripted", "object": "response", "created_at": 1, "status": status, "model": "scripted",
            "output": output, "usage": usage })
    };
    let whole = response("completed", json!([item]));
    if !asked.stream {
        return HttpResponse::json(200, &whole);
    }
    events(&[
        (
            "response.created",
            json!({ "type": "response.created", "response": response("in_progress", json!([])) }),
        ),
        (
            "response.output_item.added",
            json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        ),
        (
            "response.output_item.done",
            json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        ),
        ("response.completed", json!({ "type": "response.completed", "response": whole })),
    ])
}
