//! The task whose agent creates others: what its state permits, and what is refused.

use orange_core::delegation::{Delegated, DelegationLimit, MOST_BELOW_ROOT, admit};
use orange_core::queue::circle;
use orange_core::{DelegateInto, Delegates};

use crate::app::App;
use crate::flow::blocked;
use crate::flow::delegation::{above, below, children, permission};
use crate::store::{WorkItem, WorkItemKind, find};
use crate::{Error, ErrorKind, Result};

/// The task whose agent creates tasks, and what its state permits.
#[derive(Debug)]
pub struct Parent {
    pub task: WorkItem,
    delegates: Delegates<'static>,
}

impl Parent {
    /// The task of the asking agent, if its state has `delegates`.
    pub fn of_caller(app: &App) -> Result<Option<Parent>> {
        let Some(id) = app.caller.task() else { return Ok(None) };
        let dir = find::by_id(&app.home, id)?;
        if dir.kind != WorkItemKind::Task {
            return Ok(None);
        }
        let (task, journal) = WorkItem::read_last(&app.home, &dir, 0)?;
        let Some(delegates) = permission(app, &task) else { return Ok(None) };
        app.caller.check(&app.home, &app.folder, &task, &journal.history())?;
        Ok(Some(Parent { task, delegates }))
    }

    /// The workflow of the created tasks, if it is not the project's.
    pub fn workflow(&self) -> Option<&'static str> {
        self.delegates.workflow
    }

    /// The base of the created tasks, if it is not the project's.
    pub fn base(&self) -> Option<&str> {
        match self.delegates.into {
            DelegateInto::Parent => Some(&self.task.branch),
            DelegateInto::Base => self.task.owned.base.as_deref(),
        }
    }

    /// Refuses a task that the permission does not cover, and one that would wait for itself.
    pub fn check(&self, app: &App, project: &str, workflow: Option<&str>, base: Option<&str>) -> Result<()> {
        let only = |what: String| Error::new(ErrorKind::Refused, what).help("leave that out");
        if project != self.task.project {
            return Err(only(format!(
                "the agent creates tasks of {}, and this is one of {project}",
                self.task.project
            )));
        }
        if let Some(workflow) = workflow.filter(|it| self.workflow().is_some_and(|own| own != *it)) {
            let own = self.workflow().unwrap_or_default();
            return Err(only(format!(
                "the tasks that this agent creates follow `{own}`, and not `{workflow}`"
            )));
        }
        if let Some(base) = base.filter(|it| self.base() != Some(it)) {
            let own = self.base().unwrap_or("the default branch");
            return Err(only(format!(
                "the work of tasks that this agent creates goes into {own}, and not into {base}"
            )));
        }
        self.check_limits(app)
    }

    /// Refuses blockers that wait for the task that creates this one.
    pub fn check_circle(&self, app: &App, blockers: &[String]) -> Result<()> {
        let path = circle(&self.task.id, blockers, |id| blocked::before(app, id));
        if path.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the new task would wait for itself: {}, which has created it, waits for it",
            self.task.branch
        );
        Err(Error::new(ErrorKind::Refused, message)
            .help("leave out --blocked-by for the task that creates it"))
    }

    /// Refuses one more task beyond the limits.
    pub fn check_limits(&self, app: &App) -> Result<()> {
        let above = above(app, &self.task)?;
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let own = number(children(app, &self.task)?.len());
        let root = above.last().map_or(&self.task, |(_, root)| root);
        let below_root = number(below(app, root)?.len());
        let facts = Delegated { own, depth: number(above.len()), below_root };
        admit(&self.delegates, facts).map_err(|limit| self.refusal(limit))
    }

    fn refusal(&self, limit: DelegationLimit) -> Error {
        let (branch, status) = (&self.task.branch, self.task.status());
        let (message, help) = match limit {
            DelegationLimit::Most(most) => (
                format!("{branch} has created {most} tasks, the most that its workflow allows"),
                "do the rest here, or name what is left in TASK.md",
            ),
            DelegationLimit::Depth(depth) => (
                format!(
                    "{branch} is {depth} below the first task, and its workflow allows no task below that"
                ),
                "do the work here",
            ),
            DelegationLimit::BelowRoot => (
                format!(
                    "the task above {branch} has {MOST_BELOW_ROOT} tasks below it, the most that there may be"
                ),
                "do the rest here, or name what is left in TASK.md",
            ),
        };
        Error::new(ErrorKind::Refused, format!("no task is created from {status}: {message}")).help(help)
    }
}
