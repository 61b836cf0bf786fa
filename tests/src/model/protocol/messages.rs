//! Anthropic's messages.

use serde_json::{Value, json};

use super::{ModelReply, ModelRequest, ToolAnswer, events, list, text_of};
use crate::model::http::HttpResponse;
use crate::model::tools::HarnessTool;

pub(super) fn read(body: &Value) -> ModelRequest {
    let mut asked = ModelRequest::default();
    for message in list(&body["messages"]).iter().filter(|message| message["role"] == "user") {
        let said = text_of(&message["content"]);
        if !said.is_empty() {
            asked.messages.push(said);
        }
        let results = list(&message["content"]).iter().filter(|part| part["type"] == "tool_result");
        asked.results.extend(results.map(|part| {
            let id = part["tool_use_id"].as_str().unwrap_or_default().to_owned();
            let is_error = part["is_error"].as_bool().unwrap_or_default();
            (id, ToolAnswer { text: text_of(&part["content"]), is_error })
        }));
    }
    let tool = |tool: &Value| Some(HarnessTool::new(tool["name"].as_str()?, &tool["input_schema"]));
    asked.tools = list(&body["tools"]).iter().filter_map(tool).collect();
    asked
}

pub(super) fn write(asked: &ModelRequest, reply: &ModelReply) -> HttpResponse {
    let (whole, empty, delta, stop) = match reply {
        ModelReply::Text(text) => (
            json!({ "type": "text", "text": text }),
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": text }),
            "end_turn",
        ),
        ModelReply::Call { id, call } => {
            let block =
                |input: &Value| json!({ "type": "tool_use", "id": id, "name": call.tool, "input": input });
            let delta = json!({ "type": "input_json_delta", "partial_json": call.input.to_string() });
            (block(&call.input), block(&json!({})), delta, "tool_use")
        }
    };
    let usage = json!({ "input_tokens": asked.tokens(), "output_tokens": 10 });
    let message = |content: Value, stop: Value| {
        json!({ "id": "msg_scripted", "type": "message", "role": "assistant", "model": "scripted",
            "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage })
    };
    if !asked.stream {
        return HttpResponse::json(200, &message(json!([whole]), json!(stop)));
    }
    let begin = message(json!([]), Value::Null);
    events(&[
        ("message_start", json!({ "type": "message_start", "message": begin })),
        ("content_block_start", json!({ "type": "content_block_start", "index": 0, "content_block": empty })),
        ("ping", json!({ "type": "ping" })),
        ("content_block_delta", json!({ "type": "content_block_delta", "index": 0, "delta": delta })),
        ("content_block_stop", json!({ "type": "content_block_stop", "index": 0 })),
        (
            "message_delta",
            json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null },
                "usage": { "output_tokens": 10 } }),
        ),
        ("message_stop", json!({ "type": "message_stop" })),
    ])
}
