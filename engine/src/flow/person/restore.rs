//! Restores a deleted task or mission, or the work in a backup.

use orange_core::Actor;

use crate::app::App;
use crate::drive::git::{Backup, Git};
use crate::flow::person::create::admit;
use crate::store::{Event, WorkItem, WorkItemDir, WorkItemKind, find, list, trash};
use crate::{Error, ErrorKind, Result};

/// Result of a restoration.
#[derive(Debug)]
pub enum Restoration {
    /// A deleted task or mission.
    Task(WorkItem),
    /// The work in a backup of a task or mission, on a branch of this name.
    Branch(String, WorkItem, Backup),
}

/// Restores a deleted task or mission; for any other one, and with the number of a backup, it makes a branch of the work in the
/// backup. `found` is the one that has this name and is not deleted.
pub fn restore(
    app: &App,
    kind: WorkItemKind,
    name: Option<&str>,
    found: Result<WorkItemDir>,
    backup: Option<u32>,
    dry_run: bool,
) -> Result<Restoration> {
    let missing = match found {
        Ok(dir) if let Some(there) = deleted_instead(app, name, &dir, backup)? => {
            return bring_back(app, &there, dry_run);
        }
        Ok(dir) => return make_branch(app, &dir, backup, dry_run),
        Err(error) if error.kind != ErrorKind::NotFound => return Err(error),
        Err(error) => error,
    };
    let there = find::deleted(&app.home, kind, name.unwrap_or_default())
        .map_err(|error| if error.kind == ErrorKind::NotFound { missing } else { error })?;
    match backup {
        Some(_) => make_branch(app, &there, backup, dry_run),
        None => bring_back(app, &there, dry_run),
    }
}

/// The deleted one of this name, where the other one that has it is over: it is the one that can come back.
fn deleted_instead(
    app: &App,
    name: Option<&str>,
    dir: &WorkItemDir,
    backup: Option<u32>,
) -> Result<Option<WorkItemDir>> {
    let is_branch = |name: &&str| backup.is_none() && !dir.id.starts_with(name);
    let Some(name) = name.filter(is_branch) else { return Ok(None) };
    if !app.is_over(&WorkItem::read(&app.home, dir)?.0) {
        return Ok(None);
    }
    match find::deleted(&app.home, dir.kind, name) {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Refuses an unfinished task whose branch another unfinished one has.
fn bring_back(app: &App, there: &WorkItemDir, dry_run: bool) -> Result<Restoration> {
    app.caller.check_person(&format!("restore a {}", there.kind.word()))?;
    if dry_run {
        let (task, _) = WorkItem::read(&app.home, there)?;
        let others =
            list::of_branch(&app.home, &task.project, &task.branch, &|kind, owned| app.is_done(kind, owned))?;
        if !app.is_over(&task) {
            admit(app, &others)?;
        }
        return Ok(Restoration::Task(task));
    }
    let restored = Event::TaskRestored { actor: Actor::Human.into() };
    let admit =
        |task: &WorkItem, others: &[WorkItem]| if app.is_over(task) { Ok(()) } else { admit(app, others) };
    trash::restore(&app.home, there, restored, &|kind, owned| app.is_done(kind, owned), admit)
        .map(Restoration::Task)
}

fn make_branch(app: &App, dir: &WorkItemDir, number: Option<u32>, dry_run: bool) -> Result<Restoration> {
    let (task, _) = WorkItem::read(&app.home, dir)?;
    let git = Git::at(&app.project_of(&task)?.path);
    let backups = git.backups(&task.id)?;
    let backup = chosen(dir, &task, &backups, number)?.clone();
    let wanted = format!("{}-backup-{}", task.branch, backup.number().unwrap_or_default());
    let branch = if dry_run { wanted } else { git.branch_at(&wanted, &backup.commit)? };
    Ok(Restoration::Branch(branch, task, backup))
}

fn chosen<'b>(
    dir: &WorkItemDir,
    task: &WorkItem,
    backups: &'b [Backup],
    number: Option<u32>,
) -> Result<&'b Backup> {
    let shown = dir.shown();
    let line = |backup: &Backup| format!("\n  {}  {}", backup.reference, backup.commit);
    let all: String = backups.iter().map(line).collect();
    match (backups, number) {
        ([], _) => Err(Error::new(ErrorKind::NotFound, format!("{shown} is not deleted and has no backup"))
            .help(format!("its work is on its branch, {}", task.branch))),
        ([only], None) => Ok(only),
        (_, None) => {
            Err(Error::new(ErrorKind::Usage, format!("{shown} has several backups:{all}")).help(format!(
                "say which, by the last part of its ref: `orange {} restore {} --backup 1`",
                dir.kind.word(),
                dir.id
            )))
        }
        (_, Some(number)) => backups.iter().find(|backup| backup.number() == Some(number)).ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("{shown} has no backup {number}"))
                .help(format!("it has:{all}"))
        }),
    }
}
