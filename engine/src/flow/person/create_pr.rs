//! Opens a pull request for a task, by command.

use crate::app::App;
use crate::flow::snapshot::status_of;
use crate::flow::{TaskPreview, lock_with_worktree};
use crate::hooks::pull_request::{self, LinkedPullRequest};
use crate::store::{WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};

/// Opens a pull request for a task, or finds the open one.
pub fn create_pr(app: &App, dir: &WorkItemDir) -> Result<LinkedPullRequest> {
    app.caller.check_person("open a pull request")?;
    let mut locked = lock_with_worktree(app, dir)?;
    check_open(app, locked.task())?;
    pull_request::open(app, &mut locked)
}

/// The address of the open pull request that [`create_pr`] would find; `None` if it would open one.
pub fn would_create_pr(app: &App, dir: &WorkItemDir) -> Result<Option<String>> {
    app.caller.check_person("open a pull request")?;
    let TaskPreview { task, .. } = TaskPreview::of(app, dir)?;
    check_open(app, &task)?;
    Ok(pull_request::known(app, &task)?.map(|known| known.url))
}

fn check_open(app: &App, task: &WorkItem) -> Result<()> {
    let machine = app.machine_of(&task.owned)?;
    if machine.state(status_of(machine, task)?).terminal {
        let message = format!("the task is over: it is {}", task.status());
        return Err(
            Error::new(ErrorKind::Refused, message).help("create a new task for what is still to be done")
        );
    }
    Ok(())
}
