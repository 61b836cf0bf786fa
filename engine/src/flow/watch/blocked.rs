//! Tasks that other tasks block: none of them starts by itself before these are merged.

use orange_core::queue::{Block, Standing, block, circle};

use crate::app::App;
use crate::flow::delegation::{self, standing};
use crate::store::{WorkItem, WorkItemDir, WorkItemKind, find};
use crate::{Error, ErrorKind, Result};

/// Task that blocks another one: its id, and the task if it is there.
#[derive(Clone, Debug)]
pub struct Blocked {
    id: String,
    /// The task; `None` if it is gone.
    task: Option<WorkItem>,
    reason: Reason,
}

/// Reason for which a task waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// That one is to be merged before.
    Unmerged,
    /// That one will never be merged.
    Final,
    /// The agent of that one has created it, and may create more.
    Creates,
}

impl Blocked {
    /// Returns the task that blocks a task; `None` if nothing blocks it.
    pub fn of(app: &App, task: &WorkItem) -> Option<Blocked> {
        if let Some(parent) = delegation::still_creates(app, task) {
            return Some(Blocked { id: parent.id.clone(), task: Some(parent), reason: Reason::Creates });
        }
        if let Some(parent) = &task.owned.parent
            && standing(app, read(app, parent).as_ref()) == Standing::Ended
        {
            return Some(Blocked { id: parent.clone(), task: read(app, parent), reason: Reason::Final });
        }
        let before: Vec<(&str, Option<WorkItem>)> =
            task.blocked_by.iter().map(|id| (id.as_str(), read(app, id))).collect();
        let standing: Vec<(usize, Standing)> =
            before.iter().enumerate().map(|(at, (_, task))| (at, standing(app, task.as_ref()))).collect();
        let (at, reason) = match block(&standing)? {
            Block::Until(at) => (at, Reason::Unmerged),
            Block::Never(at) => (at, Reason::Final),
        };
        let (id, task) = before.into_iter().nth(at)?;
        Some(Blocked { id: id.to_owned(), task, reason })
    }

    /// Reason for the wait, in words.
    pub fn words(&self) -> String {
        match &self.task {
            Some(task) if self.reason == Reason::Creates => {
                format!("when {}, which has created it, is no longer {}", task.branch, task.status())
            }
            None => format!("after {}, which does not exist any more", self.id),
            Some(task) if self.reason == Reason::Final => {
                format!("after {}, which is {} and was not merged", task.branch, task.status())
            }
            Some(task) => format!("after {}, which is {}", task.branch, task.status()),
        }
    }

    /// The refusal of a start.
    pub fn refusal(&self, id: &str) -> Error {
        Error::new(ErrorKind::Refused, format!("task {id} starts {}", self.words())).help(self.help(id))
    }

    /// Help for a person: the commands that start the task.
    pub fn help(&self, id: &str) -> String {
        let wait = match self.reason {
            Reason::Final => "",
            Reason::Unmerged => "it starts once that is merged; ",
            Reason::Creates => {
                return format!("it starts by itself; `orange task spawn {id} --force` starts it now");
            }
        };
        format!(
            "{wait}`orange task spawn {id} --force` starts it now, and `orange task edit {id} --unblock` lets it start like any other"
        )
    }
}

/// The ids of the tasks of a project that these names mean.
///
/// # Errors
/// `not_found` for a name that no task of the project has.
pub fn named(app: &App, project: &str, names: &[String]) -> Result<Vec<String>> {
    let mut ids: Vec<String> = Vec::new();
    for name in names {
        let found = find::named(&app.home, WorkItemKind::Task, name, Some(project), &|kind, owned| {
            app.is_end(kind, owned)
        })?;
        if !ids.contains(&found.id) {
            ids.push(found.id);
        }
    }
    Ok(ids)
}

/// Refuses tasks that themselves wait for this one.
pub fn check_circle(app: &App, dir: &WorkItemDir, blockers: &[String]) -> Result<()> {
    let path = circle(&dir.id, blockers, |id| before(app, id));
    if path.is_empty() {
        return Ok(());
    }
    let message = format!("task {} would wait for itself: after {}", dir.id, path.join(", after "));
    Err(Error::new(ErrorKind::Refused, message).help("leave out the one that waits for this task"))
}

/// The tasks that are to come before this one: those that block it, and those that it has created.
pub fn before(app: &App, id: &str) -> Vec<String> {
    let Some(task) = read(app, id) else { return Vec::new() };
    // A list that cannot be read is reported where it is shown.
    let created = delegation::open(app, &task).unwrap_or_default();
    task.blocked_by.into_iter().chain(created.into_iter().map(|task| task.id)).collect()
}

/// A task by its id, also a deleted one.
fn read(app: &App, id: &str) -> Option<WorkItem> {
    let dir =
        find::by_id(&app.home, id).ok().or_else(|| find::deleted(&app.home, WorkItemKind::Task, id).ok())?;
    WorkItem::read_last(&app.home, &dir, 0).ok().map(|(task, _)| task)
}
