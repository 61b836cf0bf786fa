//! Checks of the pool: free worktrees, those of tasks, and backups.

use orange_core::Workspace;

use crate::Result;
use crate::doctor::{CheckData, CheckFinding, FindingLevel, or_fine};
use crate::drive::git::Git;
use crate::flow::collect::{self, WorktreeFate};
use crate::store::{WorkItem, WorkItemEntry, WorkItemKind};

/// Worktrees that `orange workspace gc` would change, and those that it would leave alone.
pub(super) fn pool(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for one in collect::plan(seen.app, seen.slots()?, seen.projects()?)? {
        let (message, remedy) = match one.fate {
            WorktreeFate::GiveBack => (format!("{} is held by a finished task", one.name), String::new()),
            WorktreeFate::Finish => (
                format!("the reclaim of {} is not finished: its process was killed", one.name),
                "`orange monitor --once` finishes it, and so does `orange workspace gc`".to_owned(),
            ),
            WorktreeFate::Clean => {
                (format!("{} is held by a task that no longer exists", one.name), String::new())
            }
            WorktreeFate::Remove => (format!("{} is not needed", one.name), String::new()),
            WorktreeFate::Leave(why) => (format!("{} is left alone", one.name), why),
        };
        findings.push(CheckFinding::new(FindingLevel::Warning, message).remedy(remedy));
    }
    let fine = match seen.slots()?.len() {
        1 => "1 worktree".to_owned(),
        number => format!("{number} worktrees"),
    };
    Ok(or_fine(findings, fine))
}

/// Checks that each worktree of a task or mission exists, is linked to its repository, belongs to that one by the pool, and that
/// a task's has a readable `TASK.md`. A plain folder has no repository.
pub(super) fn held(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for WorkItemEntry { dir, task } in seen.listed()? {
        let Ok(task) = task else { continue };
        let of = dir.shown();
        let Some(name) = &task.owned.workspace else { continue };
        let folder = seen.app.home.workspace(name);
        let project = seen.projects()?.iter().find(|project| project.name == task.project);
        let Some(project) = project.filter(|project| project.path.is_dir()) else { continue };
        let git = Git::at(&project.path);
        let is_plain = task.holds() == Some(Workspace::Folder);
        let is_bound = is_plain
            || seen.slots()?.iter().any(|slot| slot.name == *name && slot.task.as_ref() == Some(&task.id));
        let shown = folder.display();
        let id = &task.id;
        let (again, ends) = match dir.kind {
            WorkItemKind::Task => (
                format!("`orange task respawn {id}`"),
                format!(
                    "`orange task cancel {id} --yes` ends it and keeps the branch; `orange task create {}` begins a new one there",
                    task.branch
                ),
            ),
            WorkItemKind::Mission => (
                format!("`orange mission continue {id}`"),
                format!("`orange mission cancel {id}` ends it and keeps the branch"),
            ),
        };
        let finding = if !is_bound {
            CheckFinding::new(
                FindingLevel::Broken,
                format!("{of} has {name}, and the pool gives it to another"),
            )
            .remedy(ends)
        } else if !folder.is_dir() {
            CheckFinding::new(FindingLevel::Warning, format!("{shown}, of {of}, is gone"))
                .remedy(format!("{again} makes it again with its agent"))
        } else if !is_plain && !git.has_worktree(&folder)? {
            let message = format!("{shown}, of {of}, is no longer a worktree of its repository");
            CheckFinding::new(FindingLevel::Broken, message).remedy(format!(
                "`mv '{shown}' '{shown}.away'`, and take what you need from there; {again} makes it again"
            ))
        } else if let Some(error) = (!is_plain).then(|| git.check_link(&folder).err()).flatten() {
            CheckFinding::new(FindingLevel::Broken, format!("{of}: {}", error.message))
                .remedy(error.help.clone())
        } else if let Err(error) = WorkItem::read(&seen.app.home, dir) {
            CheckFinding::new(FindingLevel::Broken, error.message.clone()).remedy(error.help.clone())
        } else {
            continue;
        };
        findings.push(finding);
    }
    Ok(or_fine(findings, "the worktrees of tasks are complete"))
}

/// Finds locks in the projects' repositories that no visible git process holds.
pub(super) fn git_locks(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for project in seen.projects()?.iter().filter(|project| project.path.is_dir()) {
        findings.extend(Git::at(&project.path).abandoned_locks()?.iter().map(|lock| {
            let lock = lock.display();
            CheckFinding::new(
                FindingLevel::Warning,
                format!("no running git holds {lock}: one may have died"),
            )
            .remedy(format!("if no git is running there: `rm '{lock}'`"))
        }));
    }
    Ok(or_fine(findings, "no git lock is abandoned"))
}

pub(super) fn backups(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for project in seen.projects()?.iter().filter(|project| project.path.is_dir()) {
        let count = Git::at(&project.path).count_backups()?;
        findings.push(CheckFinding::fine(format!("{}: {count}", project.name)));
    }
    Ok(or_fine(findings, "none"))
}
