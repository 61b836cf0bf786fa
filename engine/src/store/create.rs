//! Creates tasks and missions: the folder of one appears whole, with its frontmatter and its first event.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use orange_core::budget::Budget;
use orange_core::plan::Inputs;
use orange_core::{Actor, fnv1a};

use crate::store::frontmatter::Document;
use crate::store::history::Owned;
use crate::store::list::IsWanted;
use crate::store::lock::{Lock, LockRank};
use crate::store::scalar::Value;
use crate::store::slug::slug;
use crate::store::{
    Event, Home, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemKind, event, home, id, journal, list,
    lock, projects, work_item,
};
use crate::{Error, ErrorKind, Result};
use orange_system::{atomic, clock, fault, nofollow, regular};

/// The values of a new task or mission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkItemDraft {
    /// The name of its project.
    pub project: String,
    /// Its branch; `None` for `orange-tasks/<id>`, which the agent renames, or for a mission's [`default_branch`].
    pub branch: Option<String>,
    /// The branch that it is based on and merged into; `None` for the default branch.
    pub base: Option<String>,
    /// The task that waits for it.
    pub parent: Option<String>,
    /// The summary; any text.
    pub summary: String,
    /// The harness of its workers.
    pub harness: String,
    /// The harness of its reviewers.
    pub review_harness: String,
    /// Of waiting tasks, the one with the highest number starts first.
    pub priority: i32,
    /// The ids of the tasks that are to be merged before it starts.
    pub blocked_by: Vec<String>,
    /// The workflow it follows.
    pub workflow: String,
    /// The hash of that workflow's definition.
    pub definition: String,
    /// Its first state.
    pub status: String,
    /// Every counter of the workflow with its initial value.
    pub counters: BTreeMap<String, u32>,
    /// The markdown below the frontmatter.
    pub body: String,
    /// Actor that creates it.
    pub actor: event::Actor,
    /// The task or mission whose agent creates it.
    pub creator: Option<String>,
    /// Limits of its own.
    pub budget: Option<Budget>,
    /// Origin, if the engine makes it by itself.
    pub source: Option<NewSource>,
    /// Values of a mission; `None` for a task.
    pub mission: Option<NewMission>,
}

/// Origin of a task or a mission that the engine makes by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSource {
    /// The source, as [`orange_core::intake::Source`] writes it.
    pub source: String,
    /// The account whose label made it a task.
    pub by: Option<String>,
    /// True if only a person starts it.
    pub is_held: bool,
}

/// Prefix of the branches of missions without a branch name of their own.
pub const MISSIONS: &str = "orange/";

/// Values that a new mission has beside those of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewMission {
    /// The plan that it follows, whole: the contents of `plan.json`.
    pub plan: Vec<u8>,
    /// The prompt of its caller.
    pub prompt: String,
    /// `step` or `auto`.
    pub execution: String,
    /// Policy of its pauses: `never`, `on-warning`, `on-error` or `always`.
    pub intervene: String,
    /// True if the session that started it gets notices.
    pub notices: bool,
    /// Attempts of its steps that were made elsewhere before.
    pub attempts_before: u32,
    /// The values of its inputs.
    pub inputs: Inputs,
    /// The spawn of the agent that creates it.
    pub creator_spawn: Option<u32>,
}

/// As [`create_among`], where nothing is known to be over.
pub fn create(
    home: &Home,
    draft: &WorkItemDraft,
    admit: impl FnOnce(&[WorkItem]) -> Result<()>,
) -> Result<LockedWorkItem> {
    create_among(home, draft, &|_, _| false, admit)
}

/// Creates a task or a mission and returns it locked. `admit` gets the tasks and missions of the project that have the same
/// branch, and may refuse; no other process creates one of this project meanwhile.
pub fn create_among(
    home: &Home,
    draft: &WorkItemDraft,
    is_over: IsWanted<'_>,
    admit: impl FnOnce(&[WorkItem]) -> Result<()>,
) -> Result<LockedWorkItem> {
    projects::check_name(&draft.project)?;
    let _lock = lock_project(home, &draft.project)?;
    let kind = if draft.mission.is_some() { WorkItemKind::Mission } else { WorkItemKind::Task };
    let folder = home.all(kind).join(&draft.project);
    home::make_folder(&folder)?;
    let unfinished = folder.join(UNFINISHED);
    sweep(&unfinished);
    let dir = home.dir(kind, &draft.project, &id::new()?);
    let branch = draft.branch.clone().unwrap_or_else(|| default_branch(kind, draft, &dir.id));
    admit(&rivals(home, draft, &branch, is_over)?)?;
    check_source(home, draft)?;

    let staged = WorkItemDir { path: unfinished.join(&dir.id), ..dir.clone() };
    write(&staged, &branch, draft)?;
    fault::step("rename to", dir.path.display());
    nofollow::rename(&staged.path, &dir.path)
        .map_err(|cause| Error::io(&format!("make the {}", kind.word()), &dir.path, &cause))?;
    atomic::sync_folder(&folder)?;
    LockedWorkItem::lock(home, &dir)
}

/// Changes the branch of a task, and these keys of its frontmatter. `admit` gets the other tasks and missions of the project
/// that have that branch, and may refuse; no other task of this project gets a branch meanwhile. `prepare` runs with the locked task
/// before the branch is recorded.
pub fn rebranch(
    home: &Home,
    dir: &WorkItemDir,
    branch: &str,
    changes: &[(&str, Value<'_>)],
    is_over: IsWanted<'_>,
    admit: impl FnOnce(&[WorkItem]) -> Result<()>,
    prepare: impl FnOnce(&LockedWorkItem) -> Result<()>,
) -> Result<()> {
    let _lock = lock_project(home, &dir.project)?;
    admit(&list::others_of_branch(home, dir, branch, is_over)?)?;
    let mut locked = LockedWorkItem::lock(home, dir)?;
    prepare(&locked)?;
    locked.edit(changes)
}

/// Runs this with a locked task and the other tasks and missions of its project that have its branch. No task of the project
/// gets a branch meanwhile.
pub fn in_project<T>(
    home: &Home,
    dir: &WorkItemDir,
    is_over: IsWanted<'_>,
    act: impl FnOnce(LockedWorkItem, &[WorkItem]) -> Result<T>,
) -> Result<T> {
    let _lock = lock_project(home, &dir.project)?;
    let (task, _) = WorkItem::read_last(home, dir, 0)?;
    let others = list::others_of_branch(home, dir, &task.branch, is_over)?;
    act(LockedWorkItem::lock(home, dir)?, &others)
}

/// Changes these keys of a task's frontmatter. `admit` may refuse; of no other task of the project they change meanwhile.
pub fn edit(
    home: &Home,
    dir: &WorkItemDir,
    changes: &[(&str, Value<'_>)],
    admit: impl FnOnce(&LockedWorkItem) -> Result<()>,
) -> Result<()> {
    let _lock = lock_project(home, &dir.project)?;
    let mut locked = LockedWorkItem::lock(home, dir)?;
    admit(&locked)?;
    locked.edit(changes)
}

/// Locks a project: none of its tasks and missions is created, restored or given another branch meanwhile.
pub(super) fn lock_project(home: &Home, project: &str) -> Result<Lock> {
    home.prepare()?;
    let folder = home.tasks().join(project);
    home::make_folder(&folder)?;
    lock::acquire(home, &folder.join(".lock"), LockRank::Project, &format!("project {project}"))
}

/// The folder below the project's for those that are not complete: a folder of its own, so that leftovers are found without
/// reading all tasks.
const UNFINISHED: &str = ".new";

fn write(dir: &WorkItemDir, branch: &str, draft: &WorkItemDraft) -> Result<()> {
    let limited = draft
        .budget
        .map(|budget| Event::BudgetChanged { of: String::new(), budget, actor: draft.actor.clone() }.into());
    let records = journal::records(0, [created(branch, draft)].into_iter().chain(limited).collect());
    let now = records.first().map_or_else(clock::now, |created| created.timestamp.clone());
    let text = task_md(dir, branch, draft, &now);
    Document::parse(text.as_bytes()).map_err(|flaw| {
        let file = dir.kind.file();
        Error::new(ErrorKind::Usage, format!("this text cannot stand in a {file}: {flaw}")).help(flaw.mend)
    })?;
    regular::check_length(&text)?;

    home::make_folder(&dir.path)?;
    atomic::write(&dir.task_md(), text.as_bytes())?;
    if let Some(mission) = &draft.mission {
        atomic::write(&dir.plan(), &mission.plan)?;
    }
    journal::append(&dir.history(), &records)?;
    atomic::sync_folder(&dir.path)
}

fn created(branch: &str, draft: &WorkItemDraft) -> (Event, Set) {
    let set = Set::new()
        .status(&draft.status)
        .workflow(&draft.workflow, &draft.definition)
        .base(draft.base.as_deref())
        .parent(draft.parent.as_deref())
        .source(
            draft.source.as_ref().map(|it| it.source.as_str()),
            draft.source.as_ref().and_then(|it| it.by.as_deref()),
            draft.source.as_ref().is_some_and(|it| it.is_held),
        )
        .workspace(None)
        .tmux_session(None);
    let set = draft.counters.iter().fold(set, |set, (name, value)| set.counter(name, *value));
    let (branch, actor, creator) = (branch.to_owned(), draft.actor.clone(), draft.creator.clone());
    let created = match &draft.mission {
        None => Event::TaskCreated { branch, actor, creator },
        Some(mission) => Event::MissionCreated {
            branch,
            actor,
            creator,
            creator_spawn: mission.creator_spawn,
            prompt: mission.prompt.clone(),
            plan_hash: plan_hash(&mission.plan),
            execution: mission.execution.clone(),
            intervene: mission.intervene.clone(),
            notices: mission.notices,
            attempts_before: mission.attempts_before,
            inputs: mission.inputs.clone(),
        },
    };
    (created, set)
}

/// The hash of the bytes of a `plan.json`, which tells a damaged one.
pub fn plan_hash(plan: &[u8]) -> String {
    format!("{:016x}", fnv1a(plan.iter().copied()))
}

/// The first version of the file; later writes keep the order that it has by then.
fn task_md(dir: &WorkItemDir, branch: &str, draft: &WorkItemDraft, now: &str) -> String {
    let owned = Owned {
        counters: draft.counters.clone(),
        workflow: draft.workflow.clone(),
        base: draft.base.clone(),
        parent: draft.parent.clone(),
        source: draft.source.as_ref().map(|it| it.source.clone()),
        ..Owned::default()
    };
    let mut fields = vec![
        ("id", Value::Text(&dir.id)),
        ("project", Value::Text(&dir.project)),
        ("branch", Value::Text(branch)),
        ("summary", Value::Text(&draft.summary)),
        ("status", Value::Text(&draft.status)),
        ("harness", Value::Text(&draft.harness)),
        ("review_harness", Value::Text(&draft.review_harness)),
    ];
    let (priority, blocked_by) = (draft.priority.to_string(), draft.blocked_by.join(", "));
    let queued = [("priority", Value::Plain(&priority)), ("blocked_by", Value::Text(&blocked_by))];
    fields.extend(
        queued.into_iter().filter(|(_, value)| ![Value::Plain("0"), Value::Text("")].contains(value)),
    );
    fields.extend(work_item::owned_fields(&owned).into_iter().filter(|(key, _)| *key != "status"));
    fields.push(("created_at", Value::Plain(now)));
    fields.push(("updated_at", Value::Plain(now)));

    let mut text = String::from("---\n");
    for (key, value) in fields {
        // Writing to a string cannot fail.
        writeln!(text, "{key}: {}", value.encoded()).unwrap_or_default();
    }
    text.push_str("---\n");
    text.push_str(&draft.body);
    text
}

/// `orange-tasks/<id>` for a task; for a mission `orange/`, the words of its summary or of its workflow, and the beginning of its id,
/// by which `orange mission` finds it, too.
fn default_branch(kind: WorkItemKind, draft: &WorkItemDraft, id: &str) -> String {
    const LONGEST: usize = 40;
    const SHORT: usize = 8;
    let short: String = id.chars().take(SHORT).collect();
    match kind {
        WorkItemKind::Task => format!("orange-tasks/{id}"),
        WorkItemKind::Mission => match slug(&draft.summary, LONGEST) {
            words if words.is_empty() => format!("{MISSIONS}{}-{short}", slug(&draft.workflow, LONGEST)),
            words => format!("{MISSIONS}{words}-{short}"),
        },
    }
}

/// The tasks and missions whose branch excludes that of a new one. None has a branch with the id of a new task.
fn rivals(home: &Home, draft: &WorkItemDraft, branch: &str, is_over: IsWanted<'_>) -> Result<Vec<WorkItem>> {
    if draft.branch.is_none() && draft.mission.is_none() {
        return Ok(Vec::new());
    }
    list::of_branch(home, &draft.project, branch, is_over)
}

/// Refuses a second task or mission that the engine makes of a source. The project's lock is held.
fn check_source(home: &Home, draft: &WorkItemDraft) -> Result<()> {
    let source = draft.source.as_ref().filter(|_| draft.actor == Actor::Engine.into());
    let Some(NewSource { source, .. }) = source else { return Ok(()) };
    let Some(first) = of_source(home, &draft.project, source)? else { return Ok(()) };
    Err(Error::new(ErrorKind::Refused, format!("{} {} was made of {source}", first.kind.word(), first.id))
        .help("add the label again: that makes another task"))
}

/// The task or mission that was made of a source, also a deleted one. What its agents made of it came later.
///
/// # Errors
/// Those of reading a task or a mission of the project.
pub fn of_source(home: &Home, project: &str, source: &str) -> Result<Option<WorkItem>> {
    let mut dirs = list::dirs(home, &WorkItemKind::ALL, Some(project))?;
    dirs.extend(list::deleted(home, &WorkItemKind::ALL)?.into_iter().filter(|dir| dir.project == project));
    let mut first: Option<WorkItem> = None;
    for dir in dirs {
        let item = match WorkItem::read_last(home, &dir, 0) {
            Ok((item, _)) => item,
            Err(error) if error.kind == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let is_earlier = first.as_ref().is_none_or(|first| item.created_at < first.created_at);
        if is_earlier && item.owned.source.as_deref() == Some(source) {
            first = Some(item);
        }
    }
    Ok(first)
}

/// Removes what killed processes left. The project's lock is held, so no process is creating a task.
fn sweep(unfinished: &Path) {
    for left in nofollow::entries(unfinished).unwrap_or_default() {
        // What cannot be removed appears in no list; the next creation tries again.
        fs::remove_dir_all(left.path()).unwrap_or_default();
    }
}
