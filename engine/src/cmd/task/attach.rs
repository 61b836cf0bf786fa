//! `orange task attach`: a task's session on this terminal, from one agent to the next.

use orange_core::{Actor, Machine};

use crate::answer::{Attached, Success};
use crate::app::App;
use crate::cmd::answer::{Answer, one_line};
use crate::flow::Snapshot;
use crate::flow::attach::{Left, attach, has_session};
use crate::flow::complete::command;
use crate::store::Record;
use crate::store::event::{Event, Exited, Waiting};
use crate::store::{Task, TaskDir, TaskHistory};
use crate::{Error, Kind, Result};

/// Shows the session, and after a hand-off the session of the next agent. Without a further agent, it prints why, and what
/// can be done.
///
/// # Errors
/// `refused` when there is no session; `environment` without a terminal, or when tmux fails.
pub fn run(
    app: &App,
    dir: &TaskDir,
    as_json: bool,
    tell: &dyn Fn(&Answer) -> Result<bool>,
) -> Result<Answer> {
    let (task, journal) = Task::read(&app.home, dir)?;
    if !has_session(app, dir)? {
        let message = format!("no agent of {} is there: it is {}", task.branch, task.status());
        let help = whats_next(app, &task, &journal.history())?;
        return Err(Error::new(Kind::Refused, message).help(help));
    }
    let say = |text: String| if as_json { Ok(()) } else { tell(&Answer::text(text)).map(drop) };
    let before =
        |task: &Task, keys: &str| say(format!("{} ({}): {keys} detaches", task.branch, task.status()));
    let ended = |task: &Task| say(format!("the session of {} has ended …", task.branch));
    let left = attach(app, dir, &before, &ended)?;
    let (task, journal) = Task::read(&app.home, dir)?;
    let text = match left {
        Left::Switched => String::new(),
        Left::Detached => "the agent goes on".to_owned(),
        Left::Over => {
            let next = whats_next(app, &task, &journal.history())?;
            format!("{}\n{} is {}.\n{next}", end_of(&journal.records), task.branch, task.status())
        }
    };
    Answer::of(&Attached { success: Success, id: dir.id.clone(), session: task.owned.tmux_session }, text)
}

/// How the last agent ended.
fn end_of(records: &[Record]) -> String {
    let end = records.iter().rev().find_map(|record| {
        let Event::AgentExited(Exited { spawn, reason, .. }) = &record.event else { return None };
        Some((*spawn, reason))
    });
    let Some((number, reason)) = end else { return "No end of an agent is recorded.".to_owned() };
    let actor = records.iter().find_map(|record| {
        let (Event::AgentSpawned(spawn) | Event::AgentRespawned(spawn)) = &record.event else { return None };
        (spawn.spawn == number).then_some(spawn.actor.as_str())
    });
    format!("Agent {number} ({}) has ended: {}.", actor.unwrap_or("unknown"), one_line(reason.as_str(), 200))
}

/// What can be done about a task without an agent, each with the command.
fn whats_next(app: &App, task: &Task, history: &TaskHistory) -> Result<String> {
    let id = &task.id;
    let mut lines = Vec::new();
    lines.extend(task.attention.as_ref().map(|attention| format!("attention: {}", one_line(attention, 300))));
    if let Some(Waiting { until, reason, .. }) = &history.waiting {
        lines.push(format!("An agent starts again at {until}: {}", one_line(reason, 200)));
    }
    let machine = app.machine_of(&task.owned)?;
    let commands = commands(machine, task, history)?;
    if commands.is_empty() {
        lines.push(format!("`orange task show {id}` has its history."));
    } else {
        lines.push(format!("What can be done:\n  {}", commands.join("\n  ")));
    }
    Ok(lines.join("\n"))
}

fn commands(machine: &'static Machine<'static>, task: &Task, history: &TaskHistory) -> Result<Vec<String>> {
    let id = &task.id;
    let snapshot = Snapshot::of(machine, task, history)?;
    let view = snapshot.view();
    let state = machine.state(view.status);
    let mut lines = Vec::new();
    if state.respawn.is_some() && task.owned.workspace.is_some() {
        lines.push(format!("orange task respawn {id}    starts its agent again"));
    }
    let choices = machine.options(&view, Actor::Human);
    let open = choices.iter().filter(|choice| choice.rejection.is_none());
    lines.extend(open.map(|choice| command(machine, id, choice.to)));
    if choices.len() > lines.len() {
        lines.push(format!("orange task next {id}       shows every status, and what is missing for it"));
    }
    Ok(lines)
}
