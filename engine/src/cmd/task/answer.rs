//! `orange task answer`

use serde_json::json;

use crate::Result;
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::args::{AnswerArgs, Decision};
use crate::flow::answer;

/// Answers what an agent asks.
pub fn run(app: &App, args: &AnswerArgs) -> Result<Answer> {
    let AnswerArgs { request, decision, message } = args;
    let given = answer::Answer { allow: *decision == Decision::Allow, message: message.clone() };
    let asked = answer::answer(app, request, &given)?;
    let word = if given.allow { "may" } else { "may not" };
    let tool = asked.tool.as_deref().unwrap_or("a tool");
    let text = asked.text.as_deref().unwrap_or_default();
    let json = json!({
        "success": true,
        "request": request,
        "allow": given.allow,
        "spawn": asked.spawn,
        "tool": asked.tool,
        "text": asked.text,
    });
    Ok(Answer::new(json, format!("agent {} {word} use {tool}: {text}", asked.spawn)))
}
