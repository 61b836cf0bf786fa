//! `orange task attach` and `orange mission attach`: a session on this terminal, from one agent to the next.

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line};
use crate::flow::attach::{AttachEnd, attach, has_session};
use crate::flow::doing::works_as;
use crate::flow::observed::Observed;
use crate::flow::session::Panes;
use crate::store::event::{Event, Exited, Spawn, Waiting};
use crate::store::{Record, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result};
use orange_api::{Attached, Success};

/// Shows the session, and after a hand-off the session of the next agent. Without a further agent, it prints why, and what
/// can be done by `commands`.
///
/// # Errors
/// `refused` when there is no session; `environment` without a terminal, or when tmux fails.
pub fn run(
    app: &App,
    dir: &WorkItemDir,
    reviewer: Option<&str>,
    as_json: bool,
    tell: &dyn Fn(&CommandAnswer) -> Result<bool>,
    commands: &dyn Fn(&WorkItem, &WorkItemHistory) -> Result<Vec<String>>,
) -> Result<CommandAnswer> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    if !has_session(app, dir)? {
        let message = format!("no agent of {} is there: it is {}", task.branch, task.status());
        let help = whats_next(app, dir, &task, &journal.history(), commands)?;
        return Err(Error::new(ErrorKind::Refused, message).help(help));
    }
    let say = |text: String| if as_json { Ok(()) } else { tell(&CommandAnswer::text(text)).map(drop) };
    let before =
        |task: &WorkItem, keys: &str| say(format!("{} ({}): {keys} detaches", task.branch, task.status()));
    let ended = |task: &WorkItem| say(format!("the session of {} has ended …", task.branch));
    let window = reviewer.map(|name| window_of(&journal.history(), name)).transpose()?;
    let left = attach(app, dir, window.as_deref(), &before, &ended)?;
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let text = match left {
        AttachEnd::Switched => String::new(),
        AttachEnd::Detached => "the agent goes on; `orange` alone shows what needs you".to_owned(),
        AttachEnd::Over => {
            let next = whats_next(app, dir, &task, &journal.history(), commands)?;
            format!("{}\n{} is {}.\n{next}", end_of(&journal.records), task.branch, task.status())
        }
    };
    CommandAnswer::of(
        &Attached { success: Success, id: dir.id.clone(), session: task.owned.tmux_session },
        text,
    )
}

/// The window of the reviewer with this name.
fn window_of(history: &WorkItemHistory, name: &str) -> Result<String> {
    let named = |it: &&Spawn| it.name.as_deref() == Some(name);
    if let Some(record) = history.agents.alive.values().find(named) {
        return Ok(record.window.clone());
    }
    let names: Vec<&str> = history.agents.alive.values().filter_map(|it| it.name.as_deref()).collect();
    let help = match names[..] {
        [] => "without `--reviewer`, the window of the newest agent is shown".to_owned(),
        [..] => format!("there are: {}", names.join(", ")),
    };
    Err(Error::new(ErrorKind::NotFound, format!("no reviewer `{name}` is there")).help(help))
}

/// Sentence about the end of the last agent.
fn end_of(records: &[Record]) -> String {
    let end = records.iter().rev().find_map(|record| {
        let Event::AgentExited(Exited { spawn, reason, .. }) = &record.event else { return None };
        Some((*spawn, reason))
    });
    let Some((number, reason)) = end else { return "No end of an agent is recorded.".to_owned() };
    let spawn = records.iter().find_map(|record| {
        let (Event::AgentSpawned(spawn) | Event::AgentRespawned(spawn)) = &record.event else { return None };
        (spawn.spawn == number).then_some(spawn)
    });
    let what = spawn.map_or_else(
        || "unknown".to_owned(),
        |spawn| works_as(&spawn.seat(), spawn.step.as_deref(), spawn.role.as_deref()),
    );
    format!("Agent {number} ({what}) has ended: {}.", one_line(reason.as_str(), 200))
}

/// Next steps without an agent, each with the command.
fn whats_next(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
    commands: &dyn Fn(&WorkItem, &WorkItemHistory) -> Result<Vec<String>>,
) -> Result<String> {
    let mut lines = Vec::new();
    lines.extend(task.attention.as_ref().map(|attention| format!("attention: {}", one_line(attention, 300))));
    let observed = Observed::of(app, dir, task.clone(), history.clone(), &Panes::of(app))?;
    lines.extend(observed.unnoticed(dir));
    if let Some(Waiting { until, reason, .. }) = &history.agents.waiting {
        lines.push(format!("An agent starts again at {until}: {}", one_line(reason, 200)));
    }
    lines.push(match &commands(task, history)?[..] {
        [] => format!("{} has its history.", dir.command("show")),
        commands => format!("What can be done:\n  {}", commands.join("\n  ")),
    });
    Ok(lines.join("\n"))
}
