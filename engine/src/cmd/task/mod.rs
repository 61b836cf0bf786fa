//! `orange task`: tasks and their agents.

mod answer;
mod attach;
mod budget;
pub mod cancel;
#[cfg(test)]
mod cost;
mod create;
pub mod delete;
mod diff;
mod doings;
mod edit;
mod feedback;
mod list;
pub mod logs;
mod many;
mod merge;
mod next;
mod page;
mod repaired;
mod reply;
pub mod restore;
mod send;
pub mod show;
mod undo;
mod update;
mod verdict;
mod wait;
pub mod watch;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::app::App;
use crate::cmd;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{ListArgs, TaskCommand, TaskName};
use crate::cmd::stdin;
use crate::flow::person_budget::BudgetWish;
use crate::flow::reply::ReplyWish;
use crate::flow::request::transition_result;
use crate::flow::sync::SyncWish;
use crate::flow::{self, created, queue};
use crate::setup::skill;
use crate::store::effective::effective;
use crate::store::event::{self, Spawn};
use crate::store::{LockedWorkItem, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, find};
use crate::{Error, ErrorKind, Result};
use orange_api::{Respawned, Restarted, StatusChange, Stopped, Success};

/// Runs a command. `tell` prints a message before the command ends, and returns whether the output is still open.
pub fn run(
    app: &App,
    command: &TaskCommand,
    as_json: bool,
    tell: &dyn Fn(&CommandAnswer) -> Result<bool>,
) -> Result<CommandAnswer> {
    match command {
        TaskCommand::Create(args) => create::run(app, args),
        TaskCommand::List(args) => list::run(app, args, as_json),
        TaskCommand::Show { task, all } => show::run(app, &named_or_here(app, task)?, *all),
        TaskCommand::Wait(args) if args.needs_me => wait::needs_me(app, args),
        TaskCommand::Wait(args) => wait::run(app, &named_or_here(app, &args.task)?, args),
        TaskCommand::Logs(args) => logs::run(app, &named_or_here(app, &args.task)?, args, as_json, tell),
        TaskCommand::Pane { task, pane } => {
            cmd::pane::run(app, &named_or_here(app, task)?, pane, as_json, tell)
        }
        TaskCommand::Watch { name, verbose } => {
            watch::run(app, &TaskName { name: name.clone() }, watch::Out { is_verbose: *verbose, tell })
        }
        TaskCommand::Next(task) => next::run(app, &named_or_here(app, task)?),
        TaskCommand::Budget { task, add: None, set: None, .. } => {
            budget::show(app, &named_or_here(app, task)?)
        }
        TaskCommand::Budget { task, add, set, dry_run } => changing(app, task, |dir| {
            budget::change(app, dir, BudgetWish { add: *add, set: *set, dry_run: *dry_run })
        }),
        TaskCommand::Spawn { task, force, dry_run } => many::changing(app, task, |dir| {
            let spawn = if *dry_run { flow::would_spawn } else { flow::spawn };
            let (result, hints) = (spawn(app, dir, *force)?, hints(app, dir)?);
            let text = [vec![transition_result::text(&result)], hints.clone()].concat().join("\n");
            Ok((StatusChange { result, merged: None, hints }, text))
        }),
        TaskCommand::Respawn { task, dry_run: true, .. } => {
            many::changing(app, task, |dir| Ok(would_respawn(dir, &flow::would_respawn(app, dir)?)))
        }
        TaskCommand::Respawn { task, fresh, .. } => {
            many::changing(app, task, |dir| respawn(app, dir, *fresh))
        }
        TaskCommand::Restart { task, dry_run: true, .. } => many::changing(app, task, |dir| {
            let spawns = flow::would_restart(app, dir)?;
            let (spawn, text) = (spawns.last().copied().unwrap_or_default(), would_start(&spawns));
            let spawns = if spawns.len() > 1 { spawns } else { Vec::new() };
            Ok((Restarted { success: Success, id: dir.id.clone(), spawn, spawns, dry_run: true }, text))
        }),
        TaskCommand::Restart { task, fresh, .. } => many::changing(app, task, |dir| {
            let (id, started) = (dir.id.clone(), flow::restart(app, dir, *fresh)?);
            let text = format!("started {}; `orange task attach {id}` shows it", flow::names(&started));
            let spawn = started.last().map(|it| it.spawn).unwrap_or_default();
            let spawns = several(&started);
            Ok((Restarted { success: Success, id, spawn, spawns, dry_run: false }, text))
        }),
        TaskCommand::Stop { task, dry_run } => many::changing(app, task, |dir| stop(app, dir, *dry_run)),
        TaskCommand::Update(args) => {
            let feedback = update::feedback(args)?;
            let wishes = update::wishes(args, feedback.as_deref());
            wishes.check()?;
            if wishes.summary.is_some() || wishes.branch.is_some() {
                many::check_one(&args.task, "a summary or a branch")?;
            }
            many::changing(app, &args.task, |dir| update::run(app, dir, wishes))
        }
        TaskCommand::Complete(task) => changing(app, task, |dir| {
            let result = flow::complete::complete(app, dir)?;
            Ok(merge::transition_answer(app, dir, result))
        }),
        TaskCommand::Attach { task, reviewer } => {
            let commands = |task: &WorkItem, history: &WorkItemHistory| attach::commands(app, task, history);
            cmd::attach::run(app, &named_or_here(app, task)?, reviewer.as_deref(), as_json, tell, &commands)
        }
        TaskCommand::Cancel { task, dry_run: true, children, .. } => many::changing(app, task, |dir| {
            let mut result = flow::would_cancel(app, dir)?;
            if children == CANCEL {
                result.also_cancelled = cancel::branches(&cancel::below(app, dir)?);
            }
            let text = transition_result::text(&result);
            Ok((result, text))
        }),
        TaskCommand::Cancel { task, yes, children, .. } => {
            many::changing(app, task, |dir| cancel::run(app, dir, *yes, children == CANCEL, as_json))
        }
        TaskCommand::Answer(args) => answer::run(app, args),
        TaskCommand::Diff(args) => diff::run(app, &any_named_or_here(app, &args.task)?, args, as_json),
        TaskCommand::Feedback(args) => feedback::run(app, &named_or_here(app, &args.task)?, args),
        TaskCommand::Reply(args) => {
            let text = stdin::or_text(&args.text, "the answer")?;
            let wish = ReplyWish { thread: &args.thread, text: &text, resolve: args.resolve };
            changing(app, &TaskName { name: args.task.clone() }, |dir| reply::run(app, dir, wish))
        }
        TaskCommand::Verdict(args) => {
            let text = stdin::or_text(&args.text, "the review")?;
            changing(app, &TaskName { name: args.task.clone() }, |dir| {
                verdict::run(app, dir, &args.verdict, &text)
            })
        }
        TaskCommand::Open(task) => page::open(app, &named_or_here(app, task)?),
        TaskCommand::Refresh(task) => changing(app, task, |dir| page::refresh(app, dir)),
        TaskCommand::Edit(args) => {
            edit::edits(args).check()?;
            changing(app, &args.task, |dir| edit::run(app, dir, args))
        }
        TaskCommand::Send(args) => send::run(app, args),
        TaskCommand::Delete { task, yes, dry_run } => {
            many::each(app, task, |dir| delete::run(app, dir, *yes, *dry_run, as_json))
        }
        TaskCommand::Restore { task, backup, dry_run } => restore::run(
            app,
            WorkItemKind::Task,
            task.name.as_deref(),
            named_or_here(app, task),
            *backup,
            *dry_run,
        ),
        TaskCommand::Undo { task, dry_run } => undo::run(app, task, *dry_run),
        TaskCommand::Migrate { task, to, workflow, dry_run } => changing(app, task, |dir| {
            let migrate = if *dry_run { flow::would_migrate } else { flow::migrate };
            let migrated = migrate(app, dir, to, workflow.as_deref())?;
            let text = flow::migrated_text(&migrated);
            Ok((migrated, text))
        }),
        TaskCommand::Merge(args) => {
            many::changing(app, &args.task, |dir| merge::run(app, dir, args, as_json))
        }
        TaskCommand::Sync { task, with, by_agent, dry_run } => changing(app, task, |dir| {
            merge::sync(app, dir, SyncWish { with: *with, by_agent: *by_agent, dry_run: *dry_run })
        }),
        TaskCommand::CreatePr { task, dry_run } => {
            changing(app, task, |dir| merge::create_pr(app, dir, *dry_run))
        }
        TaskCommand::Finish { id } => finish(app, id),
        TaskCommand::Ask { id, seq } => {
            flow::ask::run(app, &find::by_id(&app.home, id)?, *seq).map(|()| CommandAnswer::default())
        }
        TaskCommand::SpawnNext { id } => spawn_next(app, id),
        TaskCommand::MergeIntoParent { id } => {
            let merged = created::merge_into_parent(app, &find::by_id(&app.home, id)?)?;
            Ok(CommandAnswer::text(merged.unwrap_or_default()))
        }
    }
}

/// Hints about things that the new agent of a task lacks.
fn hints(app: &App, dir: &WorkItemDir) -> Result<Vec<String>> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let settings = app.project_of(&task).and_then(|project| effective(&app.home, &project))?;
    let unused = settings.trust.warning(&task.project).into_iter().collect();
    Ok([unused, missing_skills(app, &task), reduced_workers(&journal.history())].concat())
}

/// Every prompt names the skill.
fn missing_skills(app: &App, task: &WorkItem) -> Vec<String> {
    let Ok(around) = app.around() else { return Vec::new() };
    let harnesses: BTreeSet<&str> = app.harnesses_of(task).collect();
    let missing = harnesses.into_iter().filter(|harness| skill::missing(harness, &around).is_some());
    let hint =
        |harness| format!("{harness} has no orange skill: `orange install --harness {harness}` writes it");
    missing.map(hint).collect()
}

/// It names harnesses whose reduced permissions are known to prevent a worker from committing.
fn reduced_workers(history: &WorkItemHistory) -> Vec<String> {
    let is_kept = |spawn: &&Spawn| {
        spawn.actor == event::Actor::Worker
            && spawn.permissions == event::Permissions::Reduced
            && ["claude", "codex"].contains(&spawn.harness.as_str())
    };
    let hint = |spawn: &Spawn| {
        format!(
            "{} works with reduced permissions: it cannot commit unasked; the workflow may want `permissions: full`",
            spawn.harness
        )
    };
    history.agents.alive.values().filter(is_kept).map(hint).collect()
}

pub fn list(app: &App, args: &ListArgs, as_json: bool) -> Result<CommandAnswer> {
    list::run(app, args, as_json)
}

/// A command that changes a task, and reports what it has repaired.
fn changing<T: Serialize>(
    app: &App,
    task: &TaskName,
    run: impl FnOnce(&WorkItemDir) -> Result<(T, String)>,
) -> Result<CommandAnswer> {
    let dir = named_or_here(app, task)?;
    repaired::telling(&dir, || run(&dir))
}

/// The task that [`named_or_here`] finds, or else the named mission, or the mission of the current folder.
fn any_named_or_here(app: &App, task: &TaskName) -> Result<WorkItemDir> {
    let mission = || match &task.name {
        Some(name) => {
            find::named(&app.home, WorkItemKind::Mission, name, None, &|kind, owned| app.is_end(kind, owned))
                .ok()
        }
        None => {
            find::at(&app.home, &app.folder).ok().flatten().filter(|dir| dir.kind == WorkItemKind::Mission)
        }
    };
    named_or_here(app, task).or_else(|error| mission().ok_or(error))
}

/// The named task, or the task of the current worktree, or the task of the agent that asks.
pub fn named_or_here(app: &App, task: &TaskName) -> Result<WorkItemDir> {
    if let Some(name) = &task.name {
        return find::named(&app.home, WorkItemKind::Task, name, None, &|kind, owned| {
            app.is_end(kind, owned)
        });
    }
    let here = match find::at(&app.home, &app.folder)? {
        None => app.caller.task().map(|id| find::by_id(&app.home, id)).transpose()?,
        here => here,
    };
    match here {
        Some(dir) if dir.kind == WorkItemKind::Mission => Err(find::wrong_kind(&dir)),
        Some(dir) => Ok(dir),
        None => Err(Error::new(ErrorKind::Usage, "which task? This folder is not a task's worktree")
            .help("name it by id or branch, or go into its worktree; `orange task list` shows them")),
    }
}

fn respawn(app: &App, dir: &WorkItemDir, fresh: bool) -> Result<(Respawned, String)> {
    let mut started = flow::respawn(app, dir, fresh)?;
    let (names, spawns) = (flow::names(&started), several(&started));
    let Spawn { spawn, resumed, not_resumed, conversation, .. } = started.pop().unwrap_or_default();
    let id = dir.id.clone();
    let how = match &not_resumed {
        Some(why) => format!(" with a new conversation: {why}"),
        None if resumed => ", which continues the conversation of the one before".to_owned(),
        None => String::new(),
    };
    let text = format!("started {names}{how}; `orange task attach {id}` shows it");
    Ok((
        Respawned { success: Success, id, spawn, spawns, resumed, conversation, not_resumed, dry_run: false },
        text,
    ))
}

/// The numbers of started agents, if these are several.
fn several(started: &[Spawn]) -> Vec<u32> {
    started.iter().map(|it| it.spawn).filter(|_| started.len() > 1).collect()
}

/// The answer of a dry run of a respawn.
fn would_respawn(dir: &WorkItemDir, spawns: &[u32]) -> (Respawned, String) {
    let respawned = Respawned {
        success: Success,
        id: dir.id.clone(),
        spawn: spawns.last().copied().unwrap_or_default(),
        spawns: if spawns.len() > 1 { spawns.to_vec() } else { Vec::new() },
        resumed: false,
        conversation: None,
        not_resumed: None,
        dry_run: true,
    };
    (respawned, would_start(spawns))
}

fn would_start(spawns: &[u32]) -> String {
    let numbers: Vec<_> = spawns.iter().map(u32::to_string).collect();
    format!("would start agent {}", numbers.join(", "))
}

fn stop(app: &App, dir: &WorkItemDir, dry_run: bool) -> Result<(Stopped, String)> {
    if dry_run {
        let stopped = flow::would_stop(app, dir)?;
        let numbers: Vec<_> = stopped.iter().map(u32::to_string).collect();
        let text = format!("would end agent {}", numbers.join(", "));
        return Ok((Stopped { success: Success, id: dir.id.clone(), stopped, dry_run }, text));
    }
    let stopped = flow::stop(app, dir)?;
    let numbers: Vec<_> = stopped.iter().map(u32::to_string).collect();
    let done = match numbers[..] {
        [] => "stopped".to_owned(),
        [..] => format!("ended agent {}", numbers.join(", ")),
    };
    let again = flow::respawn_command(app, dir)
        .unwrap_or_else(|| format!("{} shows where it can go from here", dir.command("next")));
    let text = format!("{done}; {again}");
    Ok((Stopped { success: Success, id: dir.id.clone(), stopped, dry_run }, text))
}

/// The value of `--children` with which created tasks are cancelled, too.
const CANCEL: &str = "cancel";

fn finish(app: &App, id: &str) -> Result<CommandAnswer> {
    let dir = find::by_id(&app.home, id)?;
    let mut locked = LockedWorkItem::lock(&app.home, &dir)?;
    let open = locked.history().transition.open.clone().filter(|open| open.is_retried());
    let exited = open.map(|open| open.exited).unwrap_or_default();
    flow::finish(app, &mut locked)?;
    drop(locked);
    flow::judge_exited(app, &dir, &exited)?;
    Ok(CommandAnswer::default())
}

/// Waits until the transition of the task is finished, before it starts another task.
fn spawn_next(app: &App, id: &str) -> Result<CommandAnswer> {
    let dir = find::by_id(&app.home, id)?;
    drop(flow::lock_recovered(app, &dir)?);
    let started = flow::spawn_next(app, &dir.project)?;
    queue::begin_mission(app, &dir.project)?;
    let lines: Vec<_> = started
        .iter()
        .map(|result| format!("task {}: {}", result.id, transition_result::text(result)))
        .collect();
    Ok(CommandAnswer::text(lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use orange_core::Actor;

    use super::*;
    use crate::caller::Caller;
    use crate::machines::Machines;
    use crate::store;

    fn lab() -> (tempfile::TempDir, App, WorkItemDir) {
        let (folder, home) = store::tests::home();
        let dir = store::tests::task(&home, "fix").dir().clone();
        let app = App::for_tests(Machines::only(&[]), home, folder.path());
        (folder, app, dir)
    }

    #[test]
    fn a_task_is_named_or_stood_in_or_one_s_own() {
        let (_folder, mut app, dir) = lab();
        let named =
            |app: &App, name: Option<&str>| named_or_here(app, &TaskName { name: name.map(str::to_owned) });
        assert_eq!(named(&app, Some("fix")).unwrap(), dir);
        assert_eq!(named(&app, None).unwrap_err().kind, ErrorKind::Usage);
        app.caller =
            Caller::Agent { task: dir.id.clone(), spawn: Some(1), claim: Actor::Worker, secret: None };
        assert_eq!(named(&app, None).unwrap(), dir);

        // The current worktree comes before the task of the agent.
        let other = store::tests::task(&app.home, "other").dir().clone();
        store::Pool::lock(&app.home).unwrap().bind("coffee", 1, &other.id, store::tests::usable).unwrap();
        app.folder = app.home.workspace("coffee--1");
        std::fs::create_dir_all(&app.folder).unwrap();
        assert_eq!(named(&app, None).unwrap(), other);
        app.folder = PathBuf::from("/");
        assert_eq!(named(&app, Some("other")).unwrap(), other);
    }

    #[test]
    fn a_mission_is_no_task_wherever_a_command_finds_it() {
        let (_folder, mut app, _) = lab();
        let id = store::tests::mission(&app.home, "brew").dir().id.clone();
        let refused = |app: &App, name: Option<&str>| {
            let error = named_or_here(app, &TaskName { name: name.map(str::to_owned) }).unwrap_err();
            let expect = (ErrorKind::NotFound, format!("{id} is a mission"));
            assert_eq!((error.kind, error.message.clone()), expect);
            assert!(error.help.contains("mission show"), "{}", error.help);
        };
        refused(&app, Some(&id));
        app.caller = Caller::Agent { task: id.clone(), spawn: Some(1), claim: Actor::Worker, secret: None };
        refused(&app, None);
        store::Pool::lock(&app.home).unwrap().bind("coffee", 1, &id, store::tests::usable).unwrap();
        app.folder = app.home.workspace("coffee--1");
        std::fs::create_dir_all(&app.folder).unwrap();
        app.caller = Caller::Person;
        refused(&app, None);
    }
}
