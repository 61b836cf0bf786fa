//! The trash: deleted tasks and missions, until a person restores or removes them.

use std::path::Path;

use crate::store::create::lock_project;
use crate::store::list::IsWanted;
use crate::store::{Event, Home, LockedWorkItem, Set, WorkItem, WorkItemDir, home, list};
use crate::{Error, ErrorKind, Result};
use orange_system::{atomic, fault, nofollow};

/// Moves the folder of a task or mission to the trash. Processes that wait for its lock learn that it is gone.
pub fn delete(home: &Home, locked: LockedWorkItem) -> Result<WorkItemDir> {
    let dir = locked.dir().clone();
    let there = home.deleted(&dir);
    rename(&dir.path, &there.path)?;
    drop(locked);
    Ok(there)
}

/// Restores a deleted task or mission, after `restored` is in its journal. `admit` gets it and the tasks that now have its branch, and
/// may refuse; no other process creates a task of this project meanwhile.
pub fn restore(
    home: &Home,
    there: &WorkItemDir,
    restored: Event,
    is_over: IsWanted<'_>,
    admit: impl FnOnce(&WorkItem, &[WorkItem]) -> Result<()>,
) -> Result<WorkItem> {
    let _lock = lock_project(home, &there.project)?;
    let (task, _) = WorkItem::read(home, there)?;
    admit(&task, &list::of_branch(home, &there.project, &task.branch, is_over)?)?;
    let dir = home.dir(there.kind, &there.project, &there.id);
    let mut locked = LockedWorkItem::lock(home, there)?;
    // A kill may have come between the event and the move.
    if locked.history().is_deleted {
        locked.append(restored, Set::new())?;
    }
    rename(&there.path, &dir.path)?;
    WorkItem::read(home, &dir).map(|(task, _)| task)
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    let (Some(old), Some(new)) = (from.parent(), to.parent()) else { return Ok(()) };
    if to.symlink_metadata().is_ok() {
        return Err(Error::new(ErrorKind::Refused, format!("{} is there already", to.display()))
            .help("move that folder away"));
    }
    home::make_folder(new)?;
    fault::step("move to", to.display());
    nofollow::rename(from, to).map_err(|cause| {
        Error::io("move", from, &cause).help(format!("it was to become {}", to.display()))
    })?;
    atomic::sync_folder(new)?;
    atomic::sync_folder(old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{WorkItemKind, find, tests};

    #[test]
    fn a_folder_of_the_trash_keeps_its_kind() {
        let (_folder, home) = tests::home();
        let task = delete(&home, tests::task(&home, "grind")).unwrap();
        let mission = delete(&home, tests::mission(&home, "brew")).unwrap();
        let deleted = |kinds: &[WorkItemKind]| list::deleted(&home, kinds).unwrap();
        assert_eq!(deleted(&[WorkItemKind::Task]), std::slice::from_ref(&task));
        assert_eq!(deleted(&[WorkItemKind::Mission]), std::slice::from_ref(&mission));
        assert_eq!(deleted(&WorkItemKind::ALL).len(), 2);
        assert_eq!(list::dirs(&home, &WorkItemKind::ALL, None).unwrap(), []);
        for name in [mission.id.as_str(), "brew"] {
            assert_eq!(find::deleted(&home, WorkItemKind::Mission, name).unwrap(), mission);
            assert_eq!(find::deleted(&home, WorkItemKind::Task, name).unwrap_err().kind, ErrorKind::NotFound);
        }
    }

    #[test]
    fn nothing_is_moved_over_what_is_there() {
        let (_folder, home) = tests::home();
        let locked = tests::mission(&home, "brew");
        let dir = locked.dir().clone();
        std::fs::create_dir_all(home.deleted(&dir).path).unwrap();
        assert_eq!(delete(&home, locked).unwrap_err().kind, ErrorKind::Refused);
        assert!(dir.task_md().exists());
    }
}
