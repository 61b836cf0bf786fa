//! The wire protocols of models: parses requests, and writes answers.

mod chat;
mod messages;
mod responses;

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::http::HttpResponse;
use super::plan::RequestFault;
use super::tools::{HarnessTool, ToolCall};

/// A wire protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's chat completions.
    Chat,
}

/// The contents of a request, in any protocol.
#[derive(Debug, Default)]
pub(super) struct ModelRequest {
    /// The person's messages.
    pub(super) messages: Vec<String>,
    /// The answers of tools, each with the id of its call.
    pub(super) results: Vec<(String, ToolAnswer)>,
    /// The tools that are offered.
    pub(super) tools: Vec<HarnessTool>,
    /// True if the answer is to be a stream.
    pub(super) stream: bool,
    /// The request as text.
    pub(super) raw: String,
}

/// The answer of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolAnswer {
    pub(super) text: String,
    /// True if the harness says that the call has failed or was refused.
    pub(super) is_error: bool,
}

/// The answer of the model.
#[derive(Debug)]
pub(super) enum ModelReply {
    Text(String),
    Call { id: String, call: ToolCall },
}

impl Protocol {
    /// The protocol of a path.
    pub(super) fn of(path: &str) -> Option<Protocol> {
        let protocols = [
            ("/messages", Protocol::Messages),
            ("/responses", Protocol::Responses),
            ("/chat/completions", Protocol::Chat),
        ];
        protocols.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, protocol)| protocol)
    }

    pub(super) fn read(self, body: &Value, raw: String) -> ModelRequest {
        let asked = match self {
            Protocol::Messages => messages::read(body),
            Protocol::Responses => responses::read(body),
            Protocol::Chat => chat::read(body),
        };
        ModelRequest { raw, stream: body["stream"].as_bool().unwrap_or_default(), ..asked }
    }

    pub(super) fn write(self, asked: &ModelRequest, reply: &ModelReply) -> HttpResponse {
        match self {
            Protocol::Messages => messages::write(asked, reply),
            Protocol::Responses => responses::write(asked, reply),
            Protocol::Chat => chat::write(asked, reply),
        }
    }

    pub(super) fn fail(self, asked: &ModelRequest, fault: RequestFault) -> HttpResponse {
        let (status, kind, message) = match fault {
            RequestFault::UsedUp(seconds) => return self.used_up(seconds),
            RequestFault::RateLimit(_) => {
                (429, "rate_limit_error", "This request would exceed your rate limit.")
            }
            RequestFault::Overloaded if self == Protocol::Messages => (529, "overloaded_error", "Overloaded"),
            RequestFault::Overloaded => (503, "server_error", "The server is overloaded."),
            RequestFault::TooLong if self == Protocol::Messages => {
                (400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")
            }
            RequestFault::TooLong => {
                (400, "context_length_exceeded", "Your input exceeds the context window of this model.")
            }
            RequestFault::Dropped => {
                return cut(self.write(asked, &ModelReply::Text("This is never said".to_owned())));
            }
        };
        let mut answer = HttpResponse::json(status, &self.error(kind, message));
        if let RequestFault::RateLimit(seconds) = fault {
            answer.headers.push(("retry-after", seconds.to_string()));
        }
        answer
    }

    /// The error about an exhausted limit in each provider's words, with its headers.
    fn used_up(self, seconds: u32) -> HttpResponse {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (kind, message) = match self {
            Protocol::Messages => {
                ("rate_limit_error", format!("You've hit your limit; try again in {seconds} seconds."))
            }
            Protocol::Responses => ("usage_limit_reached", "The usage limit has been reached".to_owned()),
            Protocol::Chat => {
                ("rate_limit_exceeded", format!("Rate limit reached. Please try again in {seconds}s."))
            }
        };
        let mut answer = HttpResponse::json(429, &self.error(kind, &message));
        let reset = (now + u64::from(seconds)).to_string();
        let headers = match self {
            Protocol::Messages => vec![
                ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
                ("anthropic-ratelimit-unified-reset", reset),
                ("x-should-retry", "false".to_owned()),
            ],
            Protocol::Responses => vec![
                ("x-codex-primary-used-percent", "100".to_owned()),
                ("x-codex-primary-window-minutes", "300".to_owned()),
                ("x-codex-primary-reset-at", reset),
            ],
            Protocol::Chat => Vec::new(),
        };
        answer.headers.extend(headers);
        answer.headers.push(("retry-after", seconds.to_string()));
        answer
    }

    fn error(self, kind: &str, message: &str) -> Value {
        match self {
            Protocol::Messages => json!({ "type": "error", "error": { "type": kind, "message": message } }),
            Protocol::Responses | Protocol::Chat => {
                json!({ "error": { "message": message, "type": kind, "code": kind, "param": null } })
            }
        }
    }
}

impl ModelRequest {
    /// The agent's folder, by the harness's message to the model.
    pub(super) fn folder(&self) -> &str {
        let marks = ["orking directory: ", "<cwd>"];
        let found = marks.iter().find_map(|mark| self.raw.split_once(mark)).map(|(_, rest)| rest);
        let is_over = |letter: char| letter.is_whitespace() || "\\\"<".contains(letter);
        found.and_then(|rest| rest.split(is_over).next()).unwrap_or_default()
    }

    /// The answer of the tool to the call of this id.
    pub(super) fn result(&self, id: &str) -> Option<&ToolAnswer> {
        self.results.iter().find(|(call, _)| call == id).map(|(_, answer)| answer)
    }

    /// An estimate of its length in tokens.
    pub(super) fn tokens(&self) -> usize {
        self.raw.len() / 4
    }
}

/// All the text in a value: a string, or a list of parts with texts.
fn text_of(value: &Value) -> String {
    let parts = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    value.as_str().map_or_else(|| texts.join("\n"), str::to_owned)
}

/// The elements of a list; none of any other value.
fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The events of a stream, some with names.
fn events(events: &[(&str, Value)]) -> HttpResponse {
    let one = |(name, data): &(&str, Value)| match *name {
        "" => format!("data: {data}\n\n"),
        name => format!("event: {name}\ndata: {data}\n\n"),
    };
    HttpResponse::events(events.iter().map(one).collect())
}

fn cut(mut answer: HttpResponse) -> HttpResponse {
    let half = answer.body.len() / 2;
    answer.body.truncate(half);
    answer.cut = true;
    answer
}
