//! `orange workspace`: the worktrees of the projects' pools.

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, table};
use crate::cmd::args::WorkspaceCommand;
use crate::cmd::project;
use crate::flow::collect::{self, CollectResult, WorktreeFate};
use crate::store::pool::{self, Slot};
use crate::{Error, ErrorKind, Result};
use orange_api::{CollectedWorktree, MadeWorktrees, Worktree};

pub fn run(app: &App, command: &WorkspaceCommand) -> Result<CommandAnswer> {
    match command {
        WorkspaceCommand::Init { project } => init(app, project.as_deref()),
        WorkspaceCommand::List { all } => list(app, *all),
        WorkspaceCommand::Gc { dry_run } => gc(app, *dry_run),
    }
}

fn init(app: &App, name: Option<&str>) -> Result<CommandAnswer> {
    let project = project::named_or_here(app, name)?;
    let names = collect::make(app, &project)?;
    let text = match &names[..] {
        [name] => format!("{} has 1 worktree: {name}", project.name),
        names => format!("{} has {} worktrees: {}", project.name, names.len(), names.join(", ")),
    };
    CommandAnswer::of(&MadeWorktrees { project: project.name, workspaces: names }, text)
}

fn list(app: &App, all: bool) -> Result<CommandAnswer> {
    let here = if all { None } else { Some(project::named_or_here(app, None)?.name) };
    let slots = pool::read(&app.home)?.into_iter();
    let slots = slots.filter(|slot| here.as_ref().is_none_or(|name| *name == slot.project));
    let worktree = |slot: Slot| Worktree {
        path: app.home.workspace(&slot.name).display().to_string(),
        name: slot.name,
        project: slot.project,
        task: slot.task,
    };
    let worktrees: Vec<Worktree> = slots.map(worktree).collect();
    let row = |worktree: &Worktree| {
        let task = worktree.task.as_deref().unwrap_or("free");
        [worktree.name.clone(), task.to_owned(), worktree.path.clone()]
    };
    let rows: Vec<_> = worktrees.iter().map(row).collect();
    let text = if rows.is_empty() {
        "no worktrees yet; `orange workspace init` makes them, and so does the first task or mission"
            .to_owned()
    } else {
        table(["WORKSPACE", "HELD BY", "PATH"], &rows)
    };
    CommandAnswer::of(&worktrees, text)
}

fn gc(app: &App, dry_run: bool) -> Result<CommandAnswer> {
    let collected = collect::collect(app, dry_run)?;
    let worktrees: Vec<_> = collected.iter().map(|one| to_answer(one, dry_run)).collect();
    let text = if collected.is_empty() {
        "every worktree is held by a task or mission, or kept for the next one".to_owned()
    } else {
        collected.iter().map(|one| describe(one, dry_run)).collect::<Vec<_>>().join("\n")
    };
    let answer = CommandAnswer::of(&worktrees, text)?;
    let has_failed = collected.iter().any(|one| one.failure.is_some());
    Ok(if has_failed { answer.wrong(ErrorKind::Environment) } else { answer })
}

fn to_answer(one: &CollectResult, dry_run: bool) -> CollectedWorktree {
    let reason = if let WorktreeFate::Leave(why) = &one.fate { Some(why.to_string()) } else { None };
    CollectedWorktree {
        name: one.name.clone(),
        fate: if one.failure.is_some() { "failed".into() } else { word(&one.fate).into() },
        reason,
        kept: one.kept.clone(),
        error: one.failure.as_ref().map(Error::one_line),
        dry_run,
    }
}

fn describe(one: &CollectResult, dry_run: bool) -> String {
    let would = if dry_run { "would be " } else { "" };
    let mut text = match (&one.fate, &one.failure) {
        (_, Some(error)) => format!("{}: cannot be {}: {error}", one.name, word(&one.fate)),
        (WorktreeFate::Leave(why), None) => format!("{}: left alone: {why}", one.name),
        (
            WorktreeFate::GiveBack | WorktreeFate::Finish | WorktreeFate::Clean | WorktreeFate::Remove,
            None,
        ) => {
            format!("{}: {would}{}", one.name, word(&one.fate))
        }
    };
    for place in &one.kept {
        text += &format!("\n  work is kept in {place}");
    }
    text
}

fn word(fate: &WorktreeFate) -> &'static str {
    match fate {
        WorktreeFate::GiveBack => "given back",
        WorktreeFate::Finish => "finished",
        WorktreeFate::Clean => "cleaned",
        WorktreeFate::Remove => "removed",
        WorktreeFate::Leave(_) => "left alone",
    }
}
