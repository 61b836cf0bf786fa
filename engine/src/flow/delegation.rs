//! Tasks that agents of a task create: who may, what they are, and the merge of their work into the task's branch.

use orange_core::delegation::{Delegated, DelegationLimit, MOST_BELOW_ROOT, admit};
use orange_core::need::{CreatedCount, NeedKind};
use orange_core::queue::{Standing, circle};
use orange_core::{Children, DelegateInto, Delegates, FactKind, Machine};

use crate::app::App;
use crate::flow::blocked::{self, standing};
use crate::flow::watch::rules;
use crate::flow::{merge, need};
use crate::store::{WorkItem, WorkItemDir, WorkItemEntry, WorkItemKind, find, list};
use crate::{Error, ErrorKind, Result};
use orange_api::CreatedTask;

/// A task that an agent of another one has created.
#[derive(Clone, Debug)]
pub struct Child {
    pub dir: WorkItemDir,
    pub task: WorkItem,
    pub standing: Standing,
}

impl From<Child> for CreatedTask {
    fn from(Child { task, standing, .. }: Child) -> CreatedTask {
        CreatedTask {
            id: task.id,
            branch: task.branch,
            summary: task.summary,
            status: task.owned.status,
            standing: standing.into(),
        }
    }
}

/// The tasks that the agents of a task have created, oldest first, with deleted ones at the end.
pub fn children(app: &App, parent: &WorkItem) -> Result<Vec<Child>> {
    let is_child =
        |(_, task): &(WorkItemDir, WorkItem)| task.owned.parent.as_deref() == Some(parent.id.as_str());
    let known = list::journals(&app.home, &[WorkItemKind::Task], Some(&parent.project), &|_, owned| {
        owned.parent.as_deref() == Some(parent.id.as_str())
    })?;
    let known = known
        .into_iter()
        .filter(|known| known.may_be(|owned| owned.parent.as_deref() == Some(parent.id.as_str())));
    let mut found = Vec::new();
    for WorkItemEntry { dir, task } in list::each(known.collect(), Some) {
        found.push((dir, task?));
    }
    found.retain(is_child);
    found.sort_by(|(_, one), (_, other)| (&one.created_at, &one.id).cmp(&(&other.created_at, &other.id)));
    for dir in list::deleted(&app.home, &[WorkItemKind::Task])? {
        // What is left of a damaged one says nothing of its parent.
        let read = WorkItem::read_last(&app.home, &dir, 0).ok();
        found.extend(read.map(|(task, _)| (dir, task)).filter(is_child));
    }
    let child = |(dir, task): (WorkItemDir, WorkItem)| {
        let standing = standing(app, Some(&task));
        Child { dir, task, standing }
    };
    Ok(found.into_iter().map(child).collect())
}

/// The tasks below a task, at every depth; at most one more than there may be.
pub fn below(app: &App, root: &WorkItem) -> Result<Vec<Child>> {
    let mut found = children(app, root)?;
    let mut at = 0;
    while at < found.len() && found.len() <= MOST_BELOW_ROOT as usize {
        let own = children(app, &found[at].task)?;
        found.extend(own);
        at += 1;
    }
    Ok(found)
}

/// The tasks above a task that are there, the one that has created it first.
pub fn above(app: &App, task: &WorkItem) -> Result<Vec<(WorkItemDir, WorkItem)>> {
    let mut found: Vec<(WorkItemDir, WorkItem)> = Vec::new();
    let mut next = task.owned.parent.clone();
    while let Some(id) = next.filter(|_| found.len() <= MOST_BELOW_ROOT as usize) {
        // A task whose parent is gone is the root of those below it.
        let Ok(dir) = find::by_id(&app.home, &id) else { break };
        let (parent, _) = WorkItem::read_last(&app.home, &dir, 0)?;
        next = parent.owned.parent.clone();
        found.push((dir, parent));
    }
    Ok(found)
}

/// The tasks that the agents of a task have created, as a whole.
pub fn whole(app: &App, parent: &WorkItem) -> Result<Children> {
    Ok(Children::of(children(app, parent)?.into_iter().map(|child| child.standing)))
}

/// The unfinished tasks that the agents of a task have created.
pub fn open(app: &App, parent: &WorkItem) -> Result<Vec<WorkItem>> {
    let open = children(app, parent)?.into_iter().filter(|child| child.standing == Standing::Open);
    Ok(open.map(|child| child.task).collect())
}

/// The number of tasks that a task has created, if its state waits for them, and if they can be read.
pub fn awaited(app: &App, machine: &Machine<'_>, task: &WorkItem) -> Option<CreatedCount> {
    if !rules::watches_for(machine, task, |kind| kind == FactKind::Children) {
        return None;
    }
    let children = children(app, task).ok()?;
    let open = children.iter().filter(|child| child.standing == Standing::Open).count();
    Some(CreatedCount { open, all: children.len() })
}

/// What the state of a task permits its agent.
pub fn permission(app: &App, task: &WorkItem) -> Option<Delegates<'static>> {
    let machine = app.machine_of(&task.owned).ok()?;
    machine.state(machine.state_named(task.status())?).delegates
}

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

/// The task that has created this one and has not yet left the state in which it creates tasks.
pub fn still_creates(app: &App, task: &WorkItem) -> Option<WorkItem> {
    let parent = parent_of(app, task)?;
    permission(app, &parent).map(|_| parent)
}

/// The task that has created this one, if it is unfinished.
fn parent_of(app: &App, task: &WorkItem) -> Option<WorkItem> {
    let dir = find::by_id(&app.home, task.owned.parent.as_deref()?).ok()?;
    let (parent, _) = WorkItem::read_last(&app.home, &dir, 0).ok()?;
    (!app.is_over(&parent)).then_some(parent)
}

/// True if the work of a task is merged into the branch of the one that has created it.
pub fn is_merged_into_parent(app: &App, task: &WorkItem) -> bool {
    parent_of(app, task).is_some_and(|parent| task.owned.base.as_ref() == Some(&parent.branch))
}

/// True if the engine is to merge the work of a task into the branch of the one that has created it: nobody but a person is waited for,
/// and no agent works on that branch.
pub fn is_ready(app: &App, dir: &WorkItemDir, task: &WorkItem) -> Result<bool> {
    if task.owned.parent.is_none() || task.pr_url.is_some() || app.is_over(task) {
        return Ok(false);
    }
    let Some(parent) = parent_of(app, task) else { return Ok(false) };
    let is_free = parent.owned.workspace.is_none() && permission(app, &parent).is_none();
    if !is_free || task.owned.base.as_ref() != Some(&parent.branch) {
        return Ok(false);
    }
    let need = need::look(app, dir, None)?;
    Ok(need.is_some_and(|(_, need)| need.kind == NeedKind::ReviewReady))
}

/// Merges the work of a task into the branch of the one that has created it, for the engine. Returns the story; `None` if the work is not
/// ready any more, or its workflow leaves the merge to a person.
///
/// # Errors
/// As [`merge::merge`].
pub fn merge_into_parent(app: &App, dir: &WorkItemDir) -> Result<Option<String>> {
    let (task, _) = WorkItem::read_last(&app.home, dir, 0)?;
    if !is_ready(app, dir, &task)? {
        return Ok(None);
    }
    let wish = merge::MergeWish {
        local: true,
        push: Some(false),
        is_for_parent: true,
        ..merge::MergeWish::default()
    };
    match merge::merge(app, dir, wish) {
        Ok(merged) => Ok(Some(format!("merged {} into {}", merged.branch, merged.into))),
        Err(error) if error.kind == ErrorKind::NotAllowed => Ok(None),
        Err(error) => Err(error),
    }
}
