//! Sends a message of a person to a living agent of a task.
//!
//! The message is pasted first and journaled then. Its mark is made of the journal's length and of the text, so the same
//! command, repeated after a kill between both, journals the message and does not paste it again.

use orange_core::fnv1a;

use crate::app::App;
use crate::flow::asked::known;
use crate::flow::person::respawn;
use crate::flow::request::dry_run::TaskPreview;
use crate::flow::{lock_recovered, typed};
use crate::hooks::{agent_processes, agents};
use crate::store::activity::{self, ActivityNote, NoteKind as Happened};
use crate::store::event::{self, Spawn};
use crate::store::{Event, Set, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result};
use orange_system::fault;

/// The most characters of a message that the journal keeps.
const SHOWN: usize = 200;

/// A message, and who is to get it.
#[derive(Clone, Copy, Debug)]
pub struct AgentMessage<'m> {
    pub text: &'m str,
    pub to: Recipient<'m>,
    /// Only find the agent.
    pub dry_run: bool,
}

/// Agent of a task that a message is for.
#[derive(Clone, Copy, Debug)]
pub enum Recipient<'m> {
    Worker,
    /// The reviewer of this name.
    Reviewer(&'m str),
    /// The agent with this number.
    Spawn(u32),
}

impl AgentMessage<'_> {
    pub fn bytes(&self) -> u64 {
        u64::try_from(self.text.len()).unwrap_or(u64::MAX)
    }

    fn first_line(&self) -> String {
        let line = self.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.chars().filter(|letter| !letter.is_control()).take(SHOWN).collect()
    }

    /// The mark of the message that is sent after this record: digits and a dot.
    fn mark(&self, last_seq: u64) -> String {
        format!("{last_seq}.{}", fnv1a(self.text.bytes()))
    }
}

/// Sends a message, and returns the record of the agent that has it.
///
/// # Errors
/// `usage` for an empty message; `refused` where no such agent is alive, while it asks something, or if it does not read.
pub fn send(app: &App, dir: &WorkItemDir, message: AgentMessage<'_>) -> Result<Spawn> {
    app.caller.check_person("send a message to an agent")?;
    if message.text.trim().is_empty() {
        return Err(
            Error::new(ErrorKind::Usage, "the message is empty").help("write what the agent is to read")
        );
    }
    if message.dry_run {
        let preview = TaskPreview::of(app, dir)?;
        return recipient(app, &preview.task, dir, &preview.history, message.to);
    }
    let mut locked = lock_recovered(app, dir)?;
    let agent = recipient(app, locked.task(), dir, locked.history(), message.to)?;
    let mark = message.mark(locked.history().last_seq);
    fault::step("send", "a message");
    let sent = agents::say(app, &locked, agent.spawn, &mark, message.text);
    let event = Event::AgentSent {
        spawn: agent.spawn,
        actor: event::Actor::Human,
        text: message.first_line(),
        bytes: message.bytes(),
        undelivered: sent.as_ref().err().map(|error| error.message.clone()),
    };
    locked.append(event, Set::new())?;
    sent.map(|()| agent)
}

/// The living agent that is to get a message, if it asks nothing.
fn recipient(
    app: &App,
    task: &WorkItem,
    dir: &WorkItemDir,
    history: &WorkItemHistory,
    to: Recipient<'_>,
) -> Result<Spawn> {
    let panes = app.tmux.panes_of(&dir.id)?;
    let mut alive = Vec::new();
    for record in history.agents.alive.values() {
        if agent_processes::is_alive(dir, record, &panes)? {
            alive.push(record);
        }
    }
    let is_meant = |record: &&&Spawn| match to {
        Recipient::Worker => record.actor == event::Actor::Worker,
        Recipient::Reviewer(name) => {
            record.actor == event::Actor::Reviewer && record.name.as_deref() == Some(name)
        }
        Recipient::Spawn(spawn) => record.spawn == spawn,
    };
    let Some(record) = alive.iter().find(is_meant) else { return Err(nobody(app, dir, to, &alive)) };
    let mut activity = known(&activity::read(dir), record.spawn);
    typed::name_requests(app, dir, task, record, &mut activity);
    match activity.asked.first() {
        Some(note) => Err(asks(dir, record, note)),
        None => Ok((*record).clone()),
    }
}

fn nobody(app: &App, dir: &WorkItemDir, to: Recipient<'_>, alive: &[&Spawn]) -> Error {
    let who = match to {
        Recipient::Worker => "worker".to_owned(),
        Recipient::Reviewer(name) => format!("reviewer {name}"),
        Recipient::Spawn(spawn) => format!("agent {spawn}"),
    };
    let others: Vec<String> = alive
        .iter()
        .map(|it| format!("agent {} ({}): `--spawn {}`", it.spawn, it.seat(), it.spawn))
        .collect();
    let help = match others.is_empty() {
        false => format!("alive is {}", others.join(", ")),
        true => {
            let again = respawn::command(app, dir)
                .unwrap_or_else(|| format!("{} shows where it can go from here", dir.command("next")));
            format!("no agent of the task is alive: {again}; what it is to read can stand in TASK.md")
        }
    };
    Error::new(ErrorKind::Refused, format!("no {who} is alive to get the message")).help(help)
}

/// Whatever is typed while an agent shows a dialog answers that dialog.
fn asks(dir: &WorkItemDir, record: &Spawn, note: &ActivityNote) -> Error {
    let what = match &note.tool {
        Some(tool) => format!("whether it may use {tool}"),
        None => note.line(),
    };
    let message = format!("agent {} asks something: {what}", record.spawn);
    let help = match note.request.as_ref().filter(|_| note.kind == Happened::Permission) {
        Some(request) => {
            format!("answer first: `orange task answer {request} allow`, or `deny --message TEXT`")
        }
        None => format!("answer on its screen first: {}", dir.command("attach")),
    };
    Error::new(ErrorKind::Refused, message).help(help)
}
