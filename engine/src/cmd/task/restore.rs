//! `orange task restore`: out of the trash, or out of a backup.

use super::create::admit;
use super::named_or_here;
use crate::answer::{Restored, Success};
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::args::TaskName;
use crate::drive::git::{Backup, Git};
use crate::flow::delete;
use crate::store::{Task, TaskDir, find};
use crate::{Error, Kind, Result};

/// Brings a deleted task back; of any other, and with the number of a backup, makes a branch of the work in it.
pub fn run(app: &App, task: &TaskName, backup: Option<u32>) -> Result<Answer> {
    let missing = match named_or_here(app, task) {
        Ok(dir) if let Some(there) = deleted_instead(app, task, &dir, backup)? => {
            return bring_back(app, &there);
        }
        Ok(dir) => return make_branch(app, &dir, backup),
        Err(error) if error.kind != Kind::NotFound => return Err(error),
        Err(error) => error,
    };
    let there = find::deleted(&app.home, task.name.as_deref().unwrap_or_default())
        .map_err(|error| if error.kind == Kind::NotFound { missing } else { error })?;
    match backup {
        Some(_) => make_branch(app, &there, backup),
        None => bring_back(app, &there),
    }
}

/// The deleted task of this name, where the other one that has it is over: it is the one that can come back.
fn deleted_instead(
    app: &App,
    task: &TaskName,
    dir: &TaskDir,
    backup: Option<u32>,
) -> Result<Option<TaskDir>> {
    let is_branch = |name: &&String| backup.is_none() && !dir.id.starts_with(name.as_str());
    let Some(name) = task.name.as_ref().filter(is_branch) else { return Ok(None) };
    if !app.is_over(&Task::read(&app.home, dir)?.0.owned) {
        return Ok(None);
    }
    match find::deleted(&app.home, name) {
        Err(error) if error.kind == Kind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

fn bring_back(app: &App, there: &TaskDir) -> Result<Answer> {
    let task =
        delete::restore(
            app,
            there,
            |task, others| {
                if app.is_over(&task.owned) { Ok(()) } else { admit(app, others) }
            },
        )?;
    let path = app.home.task(&task.project, &task.id).task_md().display().to_string();
    let text = format!("task {} is back: {} ({})", task.id, task.branch, task.status());
    Answer::of(&Restored::Task { success: Success, id: task.id, status: task.owned.status, path }, text)
}

fn make_branch(app: &App, dir: &TaskDir, number: Option<u32>) -> Result<Answer> {
    let (task, _) = Task::read(&app.home, dir)?;
    let git = Git::at(&app.project_of(&task)?.path);
    let backups = git.backups(&task.id)?;
    let backup = chosen(&task, &backups, number)?;
    let wanted = format!("{}-backup-{}", task.branch, backup.number().unwrap_or_default());
    let branch = git.branch_at(&wanted, &backup.commit)?;
    let text = format!("branch {branch} has the work of {}: {}", backup.reference, backup.commit);
    let Backup { reference, commit, .. } = backup.clone();
    Answer::of(&Restored::Branch { success: Success, id: task.id, branch, reference, commit }, text)
}

fn chosen<'b>(task: &Task, backups: &'b [Backup], number: Option<u32>) -> Result<&'b Backup> {
    let id = &task.id;
    let line = |backup: &Backup| format!("\n  {}  {}", backup.reference, backup.commit);
    let all: String = backups.iter().map(line).collect();
    match (backups, number) {
        ([], _) => Err(Error::new(Kind::NotFound, format!("task {id} is not deleted and has no backup"))
            .help(format!("its work is on its branch, {}", task.branch))),
        ([only], None) => Ok(only),
        (_, None) => Err(Error::new(Kind::Usage, format!("task {id} has several backups:{all}"))
            .help(format!("say which, by the last part of its ref: `orange task restore {id} --backup 1`"))),
        (_, Some(number)) => backups.iter().find(|backup| backup.number() == Some(number)).ok_or_else(|| {
            Error::new(Kind::NotFound, format!("task {id} has no backup {number}"))
                .help(format!("it has:{all}"))
        }),
    }
}
