//! The trash: deleted tasks, until a person restores or removes them.

use std::path::Path;

use crate::store::create::lock_project;
use crate::store::{Event, Home, LockedTask, Set, Task, TaskDir, atomic, home, list};
use crate::{Error, Kind, Result, nofollow};

/// Moves the folder of a task to the trash. Processes that wait for its lock learn that it is gone.
pub fn delete(home: &Home, locked: LockedTask) -> Result<TaskDir> {
    let dir = locked.dir().clone();
    let there = home.deleted(&dir.project, &dir.id);
    rename(&dir.path, &there.path)?;
    drop(locked);
    Ok(there)
}

/// Restores a deleted task, after `restored` is in its journal. `admit` gets it and the tasks that now have its branch, and
/// may refuse; no other process creates a task of this project meanwhile.
pub fn restore(
    home: &Home,
    there: &TaskDir,
    restored: Event,
    admit: impl FnOnce(&Task, &[Task]) -> Result<()>,
) -> Result<Task> {
    let _lock = lock_project(home, &there.project)?;
    let (task, _) = Task::read(home, there)?;
    admit(&task, &list::of_branch(home, &there.project, &task.branch)?)?;
    let dir = home.task(&there.project, &there.id);
    let mut locked = LockedTask::lock(home, there)?;
    // A kill may have come between the event and the move.
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
