//! `orange task attach`: a task's session on this terminal, from one agent to the next.

use std::thread;
use std::time::{Duration, Instant};

use orange_core::{Actor, Machine};

use super::complete::command;
use crate::answer::{Attached, Success};
use crate::app::App;
use crate::cmd::answer::{Answer, one_line};
use crate::drive::tmux::Shown;
use crate::flow::{Snapshot, waiting};
use crate::hooks::agents;
use crate::store::Record;
use crate::store::event::{Event, Exited, Waiting};
use crate::store::{Task, TaskDir, TaskHistory};
use crate::{Error, Kind, Result, fault};

/// Shows the session, and after a hand-off that of the next agent. Where nobody is left to look at, it says why, and what
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
    if app.tmux.panes_of(&dir.id)?.is_empty() {
        let message = format!("no agent of {} is there: it is {}", task.branch, task.status());
        let help = whats_next(app, &task, &journal.history())?;
        return Err(Error::new(Kind::Refused, message).help(help));
    }
    let inside = std::env::var_os("TMUX");
    let say = |text: String| if as_json { Ok(()) } else { tell(&Answer::text(text)).map(drop) };
    loop {
        let (task, _) = Task::read(&app.home, dir)?;
        let before = |keys: &str| match keys {
            "" => Ok(()),
            keys => say(format!("{} ({}): {keys} detaches", task.branch, task.status())),
        };
        let answer = |text: &str| {
            let session = task.owned.tmux_session.clone();
            Answer::of(&Attached { success: Success, id: dir.id.clone(), session }, text)
        };
        match app.tmux.attach(&dir.id, inside.as_deref(), before)? {
            Shown::Switched => return answer(""),
            Shown::Detached => return answer("the agent goes on"),
            Shown::Ended => say(format!("the session of {} has ended …", task.branch))?,
        }
        if !is_followed(app, dir)? {
            let (task, journal) = Task::read(&app.home, dir)?;
            let next = whats_next(app, &task, &journal.history())?;
            let text = format!("{}\n{} is {}.\n{next}", end_of(&journal.records), task.branch, task.status());
            return answer(&text);
        }
    }
}

/// Waits for what comes after the end of a session: whether there is an agent to look at again.
fn is_followed(app: &App, dir: &TaskDir) -> Result<bool> {
    const PATIENCE: Duration = Duration::from_secs(60);
    const PAUSE: Duration = Duration::from_millis(50);
    let until = Instant::now() + PATIENCE;
    loop {
        let (task, journal) = Task::read(&app.home, dir)?;
        let history = journal.history();
        let panes = app.tmux.panes_of(&dir.id)?;
        let mut is_alive = false;
        for record in history.agents.values() {
            is_alive |= agents::is_alive(dir, record, &panes)?;
        }
        if is_alive && panes.iter().any(|pane| pane.agent.is_some() && !pane.dead) {
            return Ok(true);
        }
        // An end that is not on record yet, and a transition that is not finished, are on their way.
        let is_due = history.waiting.as_ref().is_some_and(|waiting| waiting::is_due(waiting, fault::now()));
        let is_moving = history.open.is_some() || !history.agents.is_empty() || is_due;
        if !is_moving || Instant::now() >= until || app.is_over(&task.owned) && history.open.is_none() {
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
}

/// How the last agent ended.
fn end_of(records: &[Record]) -> String {
    let end = records.iter().rev().find_map(|record| {
        let Event::AgentExited(Exited { spawn, reason, .. }) = &record.event else { return None };
        Some((*spawn, reason))
    });
    let Some((number, reason)) = end else { return "No agent's end is on record.".to_owned() };
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
