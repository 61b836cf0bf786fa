//! Tasks that agents of a task create: who may, what they are, and the merge of their work into the task's branch.

use orange_core::delegation::MOST_BELOW_ROOT;
use orange_core::need::CreatedCount;
use orange_core::queue::Standing;
use orange_core::{Children, Delegates, FactKind, Machine};

use crate::Result;
use crate::app::App;
use crate::store::{WorkItem, WorkItemDir, WorkItemEntry, WorkItemKind, find, list};
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

/// A task is merged in the state of merged tasks; where a workflow has none, in every other end than that of cancelled tasks.
pub fn standing(app: &App, task: Option<&WorkItem>) -> Standing {
    let Some(task) = task else { return Standing::Gone };
    if !app.is_over(task) {
        let is_deleted = !app.home.task(&task.project, &task.id).path.exists();
        return if is_deleted { Standing::Gone } else { Standing::Open };
    }
    let Ok(machine) = app.machine_of(&task.owned) else { return Standing::Open };
    let status = machine.state_named(task.status());
    let is_merged = match machine.commands.merge {
        Some(merge) => status == Some(merge),
        None => status != machine.commands.cancel,
    };
    if is_merged { Standing::Merged } else { Standing::Ended }
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
    let mut kinds = machine.watched_kinds(machine.state_named(task.status())?);
    if !kinds.any(|kind| kind == FactKind::Children) {
        return None;
    }
    let children = children(app, task).ok()?;
    let open = children.iter().filter(|child| child.standing == Standing::Open).count();
    Some(CreatedCount { open, all: children.len() })
}

/// Permission of the state of a task for its agent.
pub fn permission(app: &App, task: &WorkItem) -> Option<Delegates<'static>> {
    let machine = app.machine_of(&task.owned).ok()?;
    machine.state(machine.state_named(task.status())?).delegates
}

/// The task that has created this one and has not yet left the state in which it creates tasks.
pub fn still_creates(app: &App, task: &WorkItem) -> Option<WorkItem> {
    let parent = parent_of(app, task)?;
    permission(app, &parent).map(|_| parent)
}

/// The task that has created this one, if it is unfinished.
pub fn parent_of(app: &App, task: &WorkItem) -> Option<WorkItem> {
    let dir = find::by_id(&app.home, task.owned.parent.as_deref()?).ok()?;
    let (parent, _) = WorkItem::read_last(&app.home, &dir, 0).ok()?;
    (!app.is_over(&parent)).then_some(parent)
}

/// True if the work of a task is merged into the branch of the one that has created it.
pub fn is_merged_into_parent(app: &App, task: &WorkItem) -> bool {
    parent_of(app, task).is_some_and(|parent| task.owned.base.as_ref() == Some(&parent.branch))
}
