//! Owed starts: a finished task owes a start to the next waiting task. Each is a file beside the project's tasks until that
//! task has started, so that a later process can make up for one that was killed.

use std::path::PathBuf;

use crate::store::lock::{self, Lock, LockRank};
use crate::store::{Home, WorkItemDir, WorkItemKind, home, list, work_item};
use crate::{Error, Result};
use orange_system::files::if_found;
use orange_system::{atomic, nofollow};

/// A start that a task owes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    /// The task that owes it.
    pub by: String,
    /// The task that was chosen for it and may have started.
    pub chosen: Option<String>,
    path: PathBuf,
}

/// Takes the lock under which the next task is chosen and started.
pub fn lock(home: &Home, project: &str) -> Result<Lock> {
    let folder = home.owed(project);
    home::make_folder(&folder)?;
    lock::acquire(home, &folder.join(".lock"), LockRank::Queue, &format!("the queue of {project}"))
}

/// Records that this task owes a start to the next task of its project.
pub fn note(home: &Home, dir: &WorkItemDir) -> Result<()> {
    let folder = home.owed(&dir.project);
    home::make_folder(&folder)?;
    atomic::write(&folder.join(&dir.id), b"")
}

/// Every owed start of a project, by the names of the tasks that owe them. One that cannot be read is an error of its own,
/// so that the others still happen.
pub fn all(home: &Home, project: &str) -> Result<Vec<Result<Owed>>> {
    let folder = home.owed(project);
    let entries =
        nofollow::entries(&folder).map_err(|cause| Error::io("read the folder", &folder, &cause))?;
    let names = entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort_unstable();
    Ok(names.into_iter().filter_map(|by| Owed::read(folder.join(&by), by).transpose()).collect())
}

impl Owed {
    /// `None` if it has just been removed.
    fn read(path: PathBuf, by: String) -> Result<Option<Owed>> {
        let bytes = if_found(&path, nofollow::read(&path, nofollow::LONGEST))?;
        Ok(bytes.map(|bytes| {
            let chosen = String::from_utf8_lossy(&bytes).trim().to_owned();
            Owed { by, chosen: Some(chosen).filter(|chosen| !chosen.is_empty()), path }
        }))
    }

    /// True if the task that owes it has finished its transition: until then its hook may run again.
    pub fn is_due(&self, home: &Home, project: &str) -> bool {
        let dir = list::with_id(home, &WorkItemKind::ALL, Some(project), &self.by).unwrap_or_default().pop();
        // A task that is gone or unreadable runs no hook.
        let history =
            dir.and_then(|dir| work_item::read_journal_last(&dir, 0).ok()).map(|journal| journal.history());
        history.is_none_or(|history| history.transition.open.is_none())
    }

    /// Records which task is about to start for it.
    pub fn choose(&self, task: &str) -> Result<()> {
        atomic::write(&self.path, task.as_bytes())
    }

    /// Removes it: that task has started, or none waits.
    pub fn remove(&self) -> Result<()> {
        atomic::remove(&self.path)
    }
}
