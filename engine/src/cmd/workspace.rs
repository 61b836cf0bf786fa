//! `orange workspace`: the worktrees of the projects' pools.

use serde_json::{Value, json};

use crate::Result;
use crate::cmd::answer::{Answer, table};
use crate::cmd::args::WorkspaceCommand;
use crate::cmd::project;
use crate::hooks::workspace;
use crate::orange::Orange;
use crate::store::pool;

/// Runs it.
pub fn run(orange: &Orange, command: &WorkspaceCommand) -> Result<Answer> {
    match command {
        WorkspaceCommand::Init { project } => init(orange, project.as_deref()),
        WorkspaceCommand::List { all } => list(orange, *all),
    }
}

fn init(orange: &Orange, name: Option<&str>) -> Result<Answer> {
    let project = project::named_or_here(orange, name)?;
    let names = workspace::init(orange, &project)?;
    let text = format!("{} has {} worktrees: {}", project.name, names.len(), names.join(", "));
    Ok(Answer::new(json!({ "project": project.name, "workspaces": names }), text))
}

fn list(orange: &Orange, all: bool) -> Result<Answer> {
    let here = if all { None } else { Some(project::named_or_here(orange, None)?.name) };
    let slots: Vec<_> = pool::read(&orange.home)?
        .into_iter()
        .filter(|slot| here.as_ref().is_none_or(|name| *name == slot.project))
        .collect();
    let path = |name: &str| orange.home.workspace(name).display().to_string();
    let json = slots.iter().map(|slot| {
        json!({ "name": slot.name, "project": slot.project, "task": slot.task, "path": path(&slot.name) })
    });
    let rows: Vec<_> = slots
        .iter()
        .map(|slot| {
            [slot.name.clone(), slot.task.clone().unwrap_or_else(|| "free".to_owned()), path(&slot.name)]
        })
        .collect();
    let text = if rows.is_empty() {
        "no worktrees yet; `orange workspace init` makes them, and so does the first task".to_owned()
    } else {
        table(["WORKSPACE", "TASK", "PATH"], &rows)
    };
    Ok(Answer::new(Value::Array(json.collect()), text))
}
