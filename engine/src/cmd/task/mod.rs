//! `orange task`: tasks and their agents.

mod answer;
mod attach;
mod cancel;
mod complete;
mod create;
mod delete;
mod doings;
mod list;
mod logs;
mod merge;
mod next;
mod repaired;
mod restore;
mod session;
mod show;
mod update;
mod wait;
mod watch;

use orange_core::Actor;
use serde_json::json;

use crate::cmd::answer::Answer;
use crate::cmd::args::{ListArgs, TaskCommand, TaskName};
use crate::flow;
use crate::orange::Orange;
use crate::setup::skill;
use crate::store::event::Spawn;
use crate::store::{Log, Open, Task, TaskDir, find};
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
        TaskCommand::List(args) => list::run(orange, args, as_json),
        TaskCommand::Show { task, all } => show::run(orange, &named_or_here(orange, task)?, *all),
        TaskCommand::Wait(args) => wait::run(orange, &named_or_here(orange, &args.task)?, args),
        TaskCommand::Logs(args) => {
            logs::run(orange, &named_or_here(orange, &args.task)?, args, as_json, tell)
        }
        TaskCommand::Watch { name } => watch::run(orange, &TaskName { name: name.clone() }, tell),
        TaskCommand::Next(task) => next::run(orange, &named_or_here(orange, task)?),
        TaskCommand::Spawn(task) => changing(orange, task, |dir| {
            let moved = flow::spawn(orange, dir)?;
            with_hints(orange, Answer::new(moved.json(), moved.text()), dir)
        }),
        TaskCommand::Respawn { task, fresh } => changing(orange, task, |dir| respawn(orange, dir, *fresh)),
        TaskCommand::Restart { task, fresh } => changing(orange, task, |dir| {
            let spawn = flow::restart(orange, dir, *fresh)?;
            Ok(started(dir, spawn))
        }),
        TaskCommand::Stop(task) => changing(orange, task, |dir| stop(orange, dir)),
        TaskCommand::Update(args) => {
            update::check(args)?;
            changing(orange, &args.task, |dir| update::run(orange, dir, args))
        }
        TaskCommand::Complete(task) => changing(orange, task, |dir| complete::run(orange, dir)),
        TaskCommand::Attach(task) => attach::run(orange, &named_or_here(orange, task)?, as_json, tell),
        TaskCommand::Cancel { task, yes } => {
            changing(orange, task, |dir| cancel::run(orange, dir, *yes, as_json))
        }
        TaskCommand::Answer(args) => answer::run(orange, args),
        TaskCommand::Delete { task, yes } => {
            delete::run(orange, &named_or_here(orange, task)?, *yes, as_json)
        }
        TaskCommand::Restore { task, backup } => restore::run(orange, task, *backup),
        TaskCommand::Migrate { task, to, workflow } => changing(orange, task, |dir| {
            let migrated = flow::migrate(orange, dir, to, workflow.as_deref())?;
            Ok(Answer::new(migrated.json(), migrated.text()))
        }),
        TaskCommand::Merge(args) => {
            changing(orange, &args.task, |dir| merge::run(orange, dir, args, as_json))
        }
        TaskCommand::CreatePr(task) => changing(orange, task, |dir| merge::create_pr(orange, dir)),
        TaskCommand::Finish { id } => finish(orange, id),
        TaskCommand::SpawnNext { id } => spawn_next(orange, id),
    }
}

/// The answer to a start, with what its agent will lack.
fn with_hints(orange: &Orange, mut answer: Answer, dir: &TaskDir) -> Result<Answer> {
    let (task, journal) = Task::read(&orange.home, dir)?;
    let hints = [missing_skills(orange, &task), reduced_workers(&journal.log())].concat();
    if let Some(object) = answer.json.as_object_mut().filter(|_| !hints.is_empty()) {
        object.insert("hints".to_owned(), json!(hints));
        answer.text = [vec![answer.text], hints].concat().join("\n");
    }
    Ok(answer)
}

/// Every prompt names the skill.
fn missing_skills(orange: &Orange, task: &Task) -> Vec<String> {
    let Ok(around) = orange.around() else { return Vec::new() };
    let mut harnesses = vec![&task.harness, &task.review_harness];
    harnesses.dedup();
    let missing = harnesses.into_iter().filter(|harness| skill::missing(harness, &around).is_some());
    let hint =
        |harness| format!("{harness} has no orange skill: `orange install --harness {harness}` writes it");
    missing.map(hint).collect()
}

/// Those harnesses are meant whose reduced permissions are known to keep a worker from its work.
fn reduced_workers(log: &Log) -> Vec<String> {
    let is_kept = |spawn: &&Spawn| {
        spawn.actor == Actor::Worker.as_str()
            && spawn.permissions == "reduced"
            && ["claude", "codex"].contains(&spawn.harness.as_str())
    };
    let hint = |spawn: &Spawn| {
        format!(
            "{} works with reduced permissions: it cannot commit unasked; the workflow may want `permissions: full`",
            spawn.harness
        )
    };
    log.agents.values().filter(is_kept).map(hint).collect()
}

/// `orange ls`
pub fn list(orange: &Orange, args: &ListArgs, as_json: bool) -> Result<Answer> {
    list::run(orange, args, as_json)
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

fn respawn(orange: &Orange, dir: &TaskDir, fresh: bool) -> Result<Answer> {
    let Spawn { spawn, resumed, not_resumed, conversation, .. } = flow::respawn(orange, dir, fresh)?;
    let json = json!({
        "success": true,
        "id": dir.id,
        "spawn": spawn,
        "resumed": resumed,
        "conversation": conversation,
        "not_resumed": not_resumed,
    });
    let how = match not_resumed {
        Some(why) => format!(" with a new conversation: {why}"),
        None if resumed => ", which continues the conversation of the one before".to_owned(),
        None => String::new(),
    };
    Ok(Answer::new(json, format!("started agent {spawn}{how}; `orange task attach {}` shows it", dir.id)))
}

fn started(dir: &TaskDir, spawn: u32) -> Answer {
    let json = json!({ "success": true, "id": dir.id, "spawn": spawn });
    Answer::new(json, format!("started agent {spawn}; `orange task attach {}` shows it", dir.id))
}

fn stop(orange: &Orange, dir: &TaskDir) -> Result<Answer> {
    let spawns = flow::stop(orange, dir)?;
    let json = json!({ "success": true, "id": dir.id, "stopped": spawns });
    let numbers: Vec<_> = spawns.iter().map(u32::to_string).collect();
    let done = match numbers[..] {
        [] => "stopped".to_owned(),
        [..] => format!("ended agent {}", numbers.join(", ")),
    };
    Ok(Answer::new(json, format!("{done}; `orange task respawn {}` starts the task's agent again", dir.id)))
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
    let lines: Vec<_> = started.iter().map(|moved| format!("task {}: {}", moved.id, moved.text())).collect();
    let started: Vec<_> = started.iter().map(|moved| &moved.id).collect();
    Ok(Answer::new(json!({ "success": true, "started": started }), lines.join("\n")))
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
        orange.caller =
            Caller::Agent { task: dir.id.clone(), spawn: Some(1), claim: Actor::Worker, secret: None };
        assert_eq!(named(&orange, None).unwrap(), dir);

        // Where one stands comes before whose agent one is.
        let other = store::tests::task(&orange.home, "other").dir().clone();
        store::Pool::lock(&orange.home).unwrap().bind("coffee", 1, &other.id, store::tests::usable).unwrap();
        orange.folder = orange.home.workspace("coffee--1");
        std::fs::create_dir_all(&orange.folder).unwrap();
        assert_eq!(named(&orange, None).unwrap(), other);
        orange.folder = PathBuf::from("/");
        assert_eq!(named(&orange, Some("other")).unwrap(), other);
    }
}
