//! `orange task`: tasks and their agents.

mod cancel;
mod create;
mod list;
mod merge;
mod next;
mod show;
mod update;

use serde_json::json;

use crate::cmd::agent::by_id;
use crate::cmd::answer::Answer;
use crate::cmd::args::{TaskCommand, TaskName};
use crate::cmd::project::is_over;
use crate::drive::tmux::Pane;
use crate::flow;
use crate::orange::Orange;
use crate::store::{Open, Task, TaskDir, find};
use crate::{Error, Kind, Result};

/// Runs it.
pub fn run(orange: &Orange, command: &TaskCommand, as_json: bool) -> Result<Answer> {
    match command {
        TaskCommand::Create(args) => create::run(orange, args),
        TaskCommand::List { status, project, all } => {
            list::run(orange, status.as_deref(), project.as_deref(), *all)
        }
        TaskCommand::Show(task) => show::run(orange, &named_or_here(orange, task)?),
        TaskCommand::Next(task) => next::run(orange, &named_or_here(orange, task)?),
        TaskCommand::Spawn(task) => {
            let moved = flow::spawn(orange, &named_or_here(orange, task)?)?;
            Ok(Answer::new(moved.json(), moved.text()))
        }
        TaskCommand::Respawn(task) => respawn(orange, &named_or_here(orange, task)?),
        TaskCommand::Update(args) => update::run(orange, args),
        TaskCommand::Attach(task) => attach(orange, &named_or_here(orange, task)?),
        TaskCommand::Cancel { task, yes } => {
            cancel::run(orange, &named_or_here(orange, task)?, *yes, as_json)
        }
        TaskCommand::Merge { task, strategy, local } => {
            merge::run(orange, &named_or_here(orange, task)?, *strategy, *local)
        }
        TaskCommand::Finish { id } => finish(orange, id),
        TaskCommand::SpawnNext { id } => spawn_next(orange, id),
    }
}

/// The task that was named, or the one whose worktree one stands in, or the one whose agent asks.
pub fn named_or_here(orange: &Orange, task: &TaskName) -> Result<TaskDir> {
    if let Some(name) = &task.name {
        return find::named(&orange.home, name, None, |task| is_over(orange, task));
    }
    if let Some(dir) = find::at(&orange.home, &orange.folder)? {
        return Ok(dir);
    }
    match &orange.caller.task {
        Some(id) => by_id(orange, id),
        None => Err(Error::new(Kind::Usage, "which task? This folder is no task's worktree")
            .help("name it by id or branch, or go into its worktree; `orange task list` shows them")),
    }
}

/// How a task's session is, by the journal and by tmux (seed 002).
pub fn session_of(task: &Task, panes: &[Pane]) -> &'static str {
    if panes.iter().any(|pane| pane.belongs_to(&task.id) && pane.agent.is_some() && !pane.dead) {
        "active"
    } else if task.owned.tmux_session.is_some() {
        "crashed"
    } else {
        "inactive"
    }
}

fn respawn(orange: &Orange, dir: &TaskDir) -> Result<Answer> {
    let spawn = flow::respawn(orange, dir)?;
    let json = json!({ "success": true, "id": dir.id, "spawn": spawn });
    Ok(Answer::new(json, format!("started agent {spawn}; `orange task attach {}` shows it", dir.id)))
}

fn attach(orange: &Orange, dir: &TaskDir) -> Result<Answer> {
    let (task, _) = Task::read(&orange.home, dir)?;
    let Some(session) = &task.owned.tmux_session else {
        return Err(Error::new(Kind::Refused, format!("the task has no session: it is {}", task.status()))
            .help("`orange task next` shows where it can go from here"));
    };
    orange.tmux.attach(session, std::env::var_os("TMUX").as_deref())?;
    Ok(Answer::new(json!({ "success": true, "id": dir.id, "session": session }), ""))
}

fn finish(orange: &Orange, id: &str) -> Result<Answer> {
    let mut open = Open::lock(&orange.home, &by_id(orange, id)?)?;
    flow::finish(orange, &mut open)?;
    Ok(Answer::new(json!({ "success": true, "id": id }), ""))
}

/// Waits until the task is released, its transition being finished, before it starts another one.
fn spawn_next(orange: &Orange, id: &str) -> Result<Answer> {
    let dir = by_id(orange, id)?;
    drop(flow::settled(orange, &dir)?);
    let started = flow::spawn_next(orange, &dir.project)?;
    let text =
        started.as_ref().map_or_else(String::new, |moved| format!("task {}: {}", moved.id, moved.text()));
    Ok(Answer::new(json!({ "success": true, "started": started.map(|moved| moved.id) }), text))
}
