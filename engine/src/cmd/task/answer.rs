//! `orange task answer`

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{AnswerArgs, RequestDecision};
use crate::flow::answer::answer;
use crate::flow::asked;
use orange_api::{Answered, Success};

/// Answers the question of an agent.
pub fn run(app: &App, args: &AnswerArgs) -> Result<CommandAnswer> {
    let AnswerArgs { request, decision, message } = args;
    let given = asked::RequestAnswer { allow: *decision == RequestDecision::Allow, message: message.clone() };
    let asked = answer(app, request, &given, None)?;
    let word = if given.allow { "may" } else { "may not" };
    let what = asked.line();
    let answered = Answered {
        success: Success,
        request: asked.request.unwrap_or_default(),
        allow: given.allow,
        spawn: asked.spawn,
        tool: asked.tool,
        text: asked.text,
    };
    let tool = answered.tool.as_deref().unwrap_or("a tool");
    CommandAnswer::of(&answered, format!("agent {} {word} use {tool}: {what}", asked.spawn))
}
