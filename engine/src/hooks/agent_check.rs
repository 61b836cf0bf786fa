//! Checks that refuse the start of an agent before anything has changed.

use std::path::Path;

use orange_core::{Permissions, Workspace};

use crate::Result;
use crate::app::App;
use crate::drive::harness::Harness;
use crate::setup;
use crate::store::WorkItem;
use orange_system::process;

/// Refuses a spawn that cannot work.
///
/// # Errors
/// `environment`: tmux or the harness is missing, the harness would ask a question that nobody answers, or the process table
/// cannot be read; `not_found`: there is no such harness; `refused`: the harness has no option for a model or an effort that the workflow names.
pub fn preflight(app: &App, task: &WorkItem, spawn: &orange_core::Spawn<'_>) -> Result<()> {
    process::check()?;
    app.tmux.check()?;
    permitted(app, task, spawn)
}

/// True if an agent may do everything.
pub fn is_full(spawn: &orange_core::Spawn<'_>) -> bool {
    matches!(spawn.permissions, Permissions::Full)
}

/// Refuses a spawn whose harness is missing, or would ask a question that nobody answers.
///
/// # Errors
/// As [`preflight`].
pub fn permitted(app: &App, task: &WorkItem, spawn: &orange_core::Spawn<'_>) -> Result<()> {
    let harness = app.harness(spawn.harness_name(&task.harness, &task.review_harness))?;
    check_harness(app, &harness, spawn)?;
    check_questions(app, &harness, spawn, &app.project_of(task)?.path)
}

/// Refuses a harness that would ask a question in this repository that nobody answers.
///
/// # Errors
/// `environment`.
pub fn check_questions(
    app: &App,
    harness: &Harness,
    spawn: &orange_core::Spawn<'_>,
    repo: &Path,
) -> Result<()> {
    let around = app.around()?;
    setup::check(&app.home, &around, &harness.name, repo, is_full(spawn))?;
    match spawn.workspace {
        Workspace::Worktree => Ok(()),
        Workspace::Folder => setup::check_folder(&app.home, &around, &harness.name, &app.home.workspaces()),
    }
}

/// Refuses a harness whose program is not there, or that has no option for what the workflow says of this agent.
///
/// # Errors
/// `environment`, and `refused`.
pub fn check_harness(app: &App, harness: &Harness, spawn: &orange_core::Spawn<'_>) -> Result<()> {
    harness.check(app.path())?;
    harness.check_option("model", &harness.model, spawn.model)?;
    harness.check_option("effort", &harness.effort, spawn.effort)
}
