//! `orange task`: tasks and their agents.

mod cancel;
mod create;
mod delete;
mod list;
mod merge;
mod next;
mod repaired;
mod restore;
mod session;
mod show;
mod update;
mod wait;
mod watch;

use serde_json::json;

use crate::cmd::answer::Answer;
use crate::cmd::args::{TaskCommand, TaskName};
use crate::flow;
use crate::orange::Orange;
use crate::store::{Open, Task, TaskDir, find};
use crate::{Error, Kind, Result};

/// Runs it. `tell` prints what a command has to say before it ends, and whether somebody still reads that.
pub fn run(
    orange: &Orange,
    command: &TaskCommand,
    as_json: bool,
    tell: &dyn Fn(&Answer) -> Result<bool>,
) -> Result<Answer> {
    match command {
        TaskCommand::Create(args) => create::run(orange, args),
        TaskCommand::List { status, project, all } => {
            list::run(orange, status.as_deref(), project.as_deref(), *all, as_json)
        }
        TaskCommand::Show(task) => show::run(orange, &named_or_here(orange, task)?),
        TaskCommand::Wait(args) => wait::run(orange, &named_or_here(orange, &args.task)?, args),
        TaskCommand::Watch(task) => watch::run(orange, task, tell),
        TaskCommand::Next(task) => next::run(orange, &named_or_here(orange, task)?),
        TaskCommand::Spawn(task) => changing(orange, task, |dir| {
            let moved = flow::spawn(orange, dir)?;
            Ok(Answer::new(moved.json(), moved.text()))
        }),
        TaskCommand::Respawn(task) => changing(orange, task, |dir| respawn(orange, dir)),
        TaskCommand::Update(args) => {
            update::check(args)?;
            changing(orange, &args.task, |dir| update::run(orange, dir, args))
        }
        TaskCommand::Attach(task) => attach(orange, &named_or_here(orange, task)?),
        TaskCommand::Cancel { task, yes } => {
            changing(orange, task, |dir| cancel::run(orange, dir, *yes, as_json))
        }
        TaskCommand::Delete { task, yes } => {
            delete::run(orange, &named_or_here(orange, task)?, *yes, as_json)
        }
        TaskCommand::Restore { task, backup } => restore::run(orange, task, *backup),
        TaskCommand::Migrate { task, to, workflow } => changing(orange, task, |dir| {
            let migrated = flow::migrate(orange, dir, to, workflow.as_deref())?;
            Ok(Answer::new(migrated.json(), migrated.text()))
        }),
        TaskCommand::Merge(args) => changing(orange, &args.task, |dir| merge::run(orange, dir, args)),
        TaskCommand::CreatePr(task) => changing(orange, task, |dir| merge::create_pr(orange, dir)),
        TaskCommand::Finish { id } => finish(orange, id),
        TaskCommand::SpawnNext { id } => spawn_next(orange, id),
    }
}

/// A command that changes a task; it tells what was put right on the way.
fn changing(
    orange: &Orange,
    task: &TaskName,
    run: impl FnOnce(&TaskDir) -> Result<Answer>,
) -> Result<Answer> {
    let dir = named_or_here(orange, task)?;
    repaired::telling(&dir, || run(&dir))
}

/// The task that was named, or the one whose worktree one stands in, or the one whose agent asks.
pub fn named_or_here(orange: &Orange, task: &TaskName) -> Result<TaskDir> {
    if let Some(name) = &task.name {
        return find::named(&orange.home, name, None, |task| orange.is_over(&task.owned));
    }
    if let Some(dir) = find::at(&orange.home, &orange.folder)? {
        return Ok(dir);
    }
    match orange.caller.task() {
        Some(id) => find::by_id(&orange.home, id),
        None => Err(Error::new(Kind::Usage, "which task? This folder is no task's worktree")
            .help("name it by id or branch, or go into its worktree; `orange task list` shows them")),
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
    orange.tmux.attach(&task.id, std::env::var_os("TMUX").as_deref())?;
    Ok(Answer::new(json!({ "success": true, "id": dir.id, "session": session }), ""))
}

fn finish(orange: &Orange, id: &str) -> Result<Answer> {
    let mut open = Open::lock(&orange.home, &find::by_id(&orange.home, id)?)?;
    flow::finish(orange, &mut open)?;
    Ok(Answer::new(json!({ "success": true, "id": id }), ""))
}

/// Waits until the task is released, its transition being finished, before it starts another one.
fn spawn_next(orange: &Orange, id: &str) -> Result<Answer> {
    let dir = find::by_id(&orange.home, id)?;
    drop(flow::settled(orange, &dir)?);
    let started = flow::spawn_next(orange, &dir.project)?;
    let text =
        started.as_ref().map_or_else(String::new, |moved| format!("task {}: {}", moved.id, moved.text()));
    Ok(Answer::new(json!({ "success": true, "started": started.map(|moved| moved.id) }), text))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use orange_core::Actor;

    use super::*;
    use crate::caller::Caller;
    use crate::machines::Machines;
    use crate::store;

    fn lab() -> (tempfile::TempDir, Orange, TaskDir) {
        let (folder, home) = store::tests::home();
        let dir = store::tests::task(&home, "fix").dir().clone();
        let orange = Orange::for_tests(Machines::only(&[]), home, folder.path());
        (folder, orange, dir)
    }

    #[test]
    fn a_task_is_named_or_stood_in_or_one_s_own() {
        let (_folder, mut orange, dir) = lab();
        let named = |orange: &Orange, name: Option<&str>| {
            named_or_here(orange, &TaskName { name: name.map(str::to_owned) })
        };
        assert_eq!(named(&orange, Some("fix")).unwrap(), dir);
        assert_eq!(named(&orange, None).unwrap_err().kind, Kind::Usage);
        orange.caller = Caller::Agent { task: dir.id.clone(), spawn: Some(1), claim: Actor::Worker };
        assert_eq!(named(&orange, None).unwrap(), dir);

        // Where one stands comes before whose agent one is.
        let other = store::tests::task(&orange.home, "other").dir().clone();
        store::Pool::lock(&orange.home).unwrap().bind("coffee", 1, &other.id).unwrap();
        orange.folder = orange.home.workspace("coffee--1");
        std::fs::create_dir_all(&orange.folder).unwrap();
        assert_eq!(named(&orange, None).unwrap(), other);
        orange.folder = PathBuf::from("/");
        assert_eq!(named(&orange, Some("other")).unwrap(), other);
    }
}
