//! Deletes a task or a mission.

use orange_core::Actor;

use crate::app::App;
use crate::flow::snapshot::status_of;
use crate::flow::{TaskPreview, lock_recovered};
use crate::hooks::workspace;
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemKind, trash};
use crate::{Error, ErrorKind, Result};

/// Moves a task or mission to the trash with its journal, and returns its new folder. Its branch and its backups stay. It refuses
/// a task that has started and is not finished, a mission that is not over, and both while they hold a worktree or a session.
pub fn delete(app: &App, dir: &WorkItemDir) -> Result<WorkItemDir> {
    check_person(app, dir)?;
    let mut locked = match dir.kind {
        WorkItemKind::Task => lock_recovered(app, dir)?,
        WorkItemKind::Mission => LockedWorkItem::lock(&app.home, dir)?,
    };
    check_idle(app, dir, locked.task())?;
    workspace::give_back(app, locked.task())?;
    if !locked.history().is_deleted {
        locked.append(Event::TaskDeleted { actor: Actor::Human.into() }, Set::new())?;
    }
    trash::delete(&app.home, locked)
}

/// Makes the checks of [`delete`], and returns the folder in the trash that the task or mission would get.
pub fn would_delete(app: &App, dir: &WorkItemDir) -> Result<WorkItemDir> {
    check_person(app, dir)?;
    let task = match dir.kind {
        WorkItemKind::Task => TaskPreview::of(app, dir)?.task,
        WorkItemKind::Mission => WorkItem::read_last(&app.home, dir, 0)?.0,
    };
    check_idle(app, dir, &task)?;
    Ok(app.home.deleted(dir))
}

fn check_person(app: &App, dir: &WorkItemDir) -> Result<()> {
    app.caller.check_person(&format!("delete a {}", dir.kind.word()))
}

fn check_idle(app: &App, dir: &WorkItemDir, task: &WorkItem) -> Result<()> {
    let may_go = is_at_an_end(app, dir, task)?;
    let has_something = task.owned.workspace.is_some() || task.owned.tmux_session.is_some();
    if may_go && !has_something {
        return Ok(());
    }
    let holds = if has_something { ", and holds a workspace or a session" } else { "" };
    let cancel = || format!("cancel it first: {}", dir.command("cancel"));
    // A mission that has completed cannot be cancelled.
    let is_leaving = dir.kind == WorkItemKind::Mission && app.is_done_with_worktree(task);
    let help = if is_leaving {
        "run `orange monitor --once`, which gives them back, and repeat this command".to_owned()
    } else {
        cancel()
    };
    Err(Error::new(ErrorKind::Refused, format!("{} is {}{holds}", dir.shown(), task.status())).help(help))
}

/// True if the task is finished or was never started, or if the mission is over.
fn is_at_an_end(app: &App, dir: &WorkItemDir, task: &WorkItem) -> Result<bool> {
    if dir.kind == WorkItemKind::Mission {
        return Ok(app.is_over(task));
    }
    let machine = app.machine_of(&task.owned)?;
    let status = status_of(machine, task)?;
    Ok(machine.state(status).terminal || status == machine.initial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::Caller;
    use crate::flow::restore::{Restoration, restore};
    use crate::flow::tests::MACHINES;
    use crate::machines::Machines;
    use crate::store::{find, tests};

    fn lab(status: &str, workspace: Option<&str>) -> (tempfile::TempDir, App, WorkItemDir) {
        let (folder, home) = tests::home();
        let mut locked = tests::mission(&home, "brew");
        locked.append(Event::Unknown, Set::new().status(status).workspace(workspace)).unwrap();
        let dir = locked.dir().clone();
        drop(locked);
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        (folder, app, dir)
    }

    #[track_caller]
    fn refuses(status: &str, workspace: Option<&str>, help: &str) {
        let (_folder, app, dir) = lab(status, workspace);
        for error in [would_delete(&app, &dir).unwrap_err(), delete(&app, &dir).unwrap_err()] {
            assert_eq!(error.kind, ErrorKind::Refused, "{status}");
            assert!(error.help.contains(help), "{status}: {}", error.help);
        }
        assert!(dir.path.is_dir());
    }

    #[test]
    fn a_mission_that_is_not_over_or_holds_something_stays() {
        for status in ["pending", "running", "paused"] {
            refuses(status, None, "orange mission cancel");
        }
        refuses("failed", Some("coffee--1"), "orange mission cancel");
        refuses("completed", Some("coffee--1"), "orange monitor --once");
    }

    #[test]
    fn a_mission_that_is_over_goes_to_the_trash_and_back() {
        for status in ["completed", "failed", "cancelled"] {
            let (_folder, app, dir) = lab(status, None);
            assert_eq!(would_delete(&app, &dir).unwrap(), app.home.deleted(&dir));
            let there = delete(&app, &dir).unwrap();
            assert!(there == app.home.deleted(&dir) && !dir.path.exists());
            let gone = || find::by_id(&app.home, &dir.id);
            assert_eq!(gone().unwrap_err().kind, ErrorKind::NotFound);
            let back = |kind| restore(&app, kind, Some(&dir.id), gone(), None, false);
            assert_eq!(back(WorkItemKind::Task).unwrap_err().kind, ErrorKind::NotFound);
            let Ok(Restoration::Task(mission)) = back(WorkItemKind::Mission) else { panic!("{status}") };
            assert_eq!((mission.id.as_str(), mission.status()), (dir.id.as_str(), status));
            assert_eq!(gone().unwrap(), dir);
        }
    }

    #[test]
    fn a_deletion_that_a_kill_has_interrupted_goes_on() {
        let (_folder, app, dir) = lab("completed", None);
        let deleted = Event::TaskDeleted { actor: Actor::Human.into() };
        LockedWorkItem::lock(&app.home, &dir).unwrap().append(deleted, Set::new()).unwrap();
        let there = delete(&app, &dir).unwrap();
        let journal = std::fs::read_to_string(there.history()).unwrap();
        assert_eq!(journal.matches("task.deleted").count(), 1);
    }

    #[test]
    fn an_agent_deletes_no_mission() {
        let (_folder, mut app, dir) = lab("completed", None);
        app.caller =
            Caller::Agent { task: dir.id.clone(), spawn: Some(1), claim: Actor::Worker, secret: None };
        let error = delete(&app, &dir).unwrap_err();
        assert_eq!((error.kind, dir.path.is_dir()), (ErrorKind::NotAllowed, true));
    }
}
