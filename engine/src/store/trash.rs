//! The trash: deleted tasks, whole, until a person brings them back or removes them.

use std::path::Path;

use crate::store::create::lock_project;
use crate::store::{Event, Home, LockedTask, Set, Task, TaskDir, atomic, home, list};
use crate::{Error, Kind, Result, nofollow};

/// Moves a task to the trash: its folder with everything in it. Who waits for its lock is told that it is gone.
///
/// # Errors
/// `refused` when a task of this id is there already; `environment` when the disk refuses.
pub fn delete(home: &Home, locked: LockedTask) -> Result<TaskDir> {
    let dir = locked.dir().clone();
    let there = home.deleted(&dir.project, &dir.id);
    rename(&dir.path, &there.path)?;
    drop(locked);
    Ok(there)
}

/// Brings a deleted task back, once `restored` is in its journal. `admit` sees it and the tasks that have its branch now,
/// and may refuse; nobody else creates a task of this project meanwhile.
///
/// # Errors
/// Those of `admit`; `corrupt` when it cannot be read; `refused` when there is such a task; `locked`, `environment`.
pub fn restore(
    home: &Home,
    there: &TaskDir,
    restored: Event,
    admit: impl FnOnce(&Task, &[Task]) -> Result<()>,
) -> Result<Task> {
    let (_folder, _lock) = lock_project(home, &there.project)?;
    let (task, _) = Task::read(home, there)?;
    admit(&task, &list::of_branch(home, &there.project, &task.branch)?)?;
    let dir = home.task(&there.project, &there.id);
    let mut locked = LockedTask::lock(home, there)?;
    // A kill may have come between this and the move.
    if locked.history().is_deleted {
        locked.append(restored, Set::new())?;
    }
    rename(&there.path, &dir.path)?;
    Task::read(home, &dir).map(|(task, _)| task)
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    let (Some(old), Some(new)) = (from.parent(), to.parent()) else { return Ok(()) };
    if to.symlink_metadata().is_ok() {
        return Err(Error::new(Kind::Refused, format!("{} is there already", to.display()))
            .help("move that folder away"));
    }
    home::make_folder(new)?;
    nofollow::rename(from, to).map_err(|cause| {
        Error::io("move", from, &cause).help(format!("it was to become {}", to.display()))
    })?;
    atomic::sync_folder(new)?;
    atomic::sync_folder(old)
}
