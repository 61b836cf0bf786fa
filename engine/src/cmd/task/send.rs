//! `orange task send`

use super::many;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{SendArgs, TaskNames};
use crate::cmd::stdin;
use crate::flow::send::{AgentMessage, Recipient, send};
use crate::store::WorkItemDir;
use crate::{Error, ErrorKind, Result};
use orange_api::{Sent, Success};

/// Sends a message to an agent of each task.
pub fn run(app: &App, args: &SendArgs) -> Result<CommandAnswer> {
    let SendArgs { first, text, filter, reviewer, spawn, dry_run } = args;
    let (names, text) = match (text, filter) {
        (Some(text), None) => (first.split(',').map(str::to_owned).collect(), text),
        (None, Some(_)) => (Vec::new(), first),
        (None, None) | (Some(_), Some(_)) => return Err(unclear(filter.is_some())),
    };
    let text = stdin::or_text(text, "the message")?;
    let to = match (spawn, reviewer) {
        (Some(spawn), _) => Recipient::Spawn(*spawn),
        (None, Some(name)) => Recipient::Reviewer(name),
        (None, None) => Recipient::Worker,
    };
    let message = AgentMessage { text: &text, to, dry_run: *dry_run };
    let names = TaskNames { names, filter: filter.clone() };
    many::changing(app, &names, |dir| one(app, dir, message))
}

fn unclear(has_filter: bool) -> Error {
    let (message, help) = match has_filter {
        true => ("with --where, no task is named", "give the message only, in quotes"),
        false => ("there is no message, or no task to send it to", "`orange task send ID \"TEXT\"`"),
    };
    Error::new(ErrorKind::Usage, message).help(help)
}

fn one(app: &App, dir: &WorkItemDir, message: AgentMessage<'_>) -> Result<(Sent, String)> {
    let agent = send(app, dir, message)?;
    let verb = if message.dry_run { "would get" } else { "has" };
    let said = format!("agent {} ({}) {verb} the message", agent.spawn, agent.seat());
    let sent = Sent {
        success: Success,
        id: dir.id.clone(),
        spawn: agent.spawn,
        actor: agent.actor,
        name: agent.name,
        bytes: message.bytes(),
        dry_run: message.dry_run,
    };
    Ok((sent, said))
}
