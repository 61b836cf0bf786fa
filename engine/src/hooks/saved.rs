//! Journals where the work of a task is that a worktree no longer has.

use crate::Result;
use crate::app::App;
use crate::drive::git::{Backup, BackupContext, SavedWork};
use crate::store::{Event, LockedWorkItem, Set, WorkItemDir};

/// Keeps what a task leaves, and journals where.
pub fn with_context(
    app: &App,
    locked: &mut LockedWorkItem,
    default_branch: &str,
    keep: impl FnOnce(&mut BackupContext<'_>) -> Result<()>,
) -> Result<()> {
    let WorkItemDir { id, .. } = locked.dir().clone();
    let aside = app.home.set_aside(&id);
    let mut note = |kept| note(locked, kept);
    keep(&mut BackupContext { task: &id, default_branch, aside: &aside, note: &mut note })
}

/// Journals the backup once in each transition, and once outside of them: after a kill, the same backup is found again.
pub(super) fn note(locked: &mut LockedWorkItem, kept: SavedWork) -> Result<()> {
    let (name, event) = match kept {
        SavedWork::Commit(Backup { reference, commit }) => {
            (reference.clone(), Event::WorkBackedUp { reference, commit })
        }
        SavedWork::Aside(folder) => {
            let folder = folder.to_string_lossy().into_owned();
            (folder.clone(), Event::WorkSetAside { folder })
        }
    };
    let history = locked.history();
    let known = history.transition.open.as_ref().map_or(&history.transition.kept, |pending| &pending.kept);
    // The record names the backup of a worktree that is being reclaimed.
    if known.contains(&name) && history.worktree.reclaiming.is_none() {
        Ok(())
    } else {
        locked.append(event, Set::new())
    }
}
