//! Lists all tasks or missions fast; one that cannot be read is listed with its error.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::store::frontmatter::Document;
use crate::store::index::{self, AskedTasks, Idle, JournalFacts, TextFacts};
use crate::store::work_item::{self, WorkItem};
use crate::store::{Home, Name, Owned, WorkItemDir, WorkItemKind};
use crate::{Error, Result};
use orange_system::files::entries;
use orange_system::many::{are_many, contents, in_parallel, locked};
use orange_system::regular;

/// A task in a list.
#[derive(Debug)]
pub struct WorkItemEntry {
    pub dir: WorkItemDir,
    /// The task by its journal, or why it cannot be read.
    pub task: Result<WorkItem>,
}

impl WorkItemEntry {
    /// Its branch; the original one if its text cannot be read, and the one in the text if its journal cannot.
    pub fn branch(&self) -> Option<Cow<'_, str>> {
        match &self.task {
            Ok(task) => Some(Cow::Borrowed(&task.branch)),
            Err(_) => {
                let created =
                    work_item::read_journal(&self.dir).ok().map(|journal| journal.history().branch.name);
                let written = || branch_of(&self.dir);
                created.filter(|branch| !branch.is_empty()).or_else(written).map(Cow::Owned)
            }
        }
    }
}

/// A task of which only the journal has been read.
#[derive(Debug)]
pub struct KnownTask {
    pub dir: WorkItemDir,
    /// The state that its journal folds to; `None` if only a full read finds it.
    owned: Option<Arc<Owned>>,
    /// That it is known to be idle.
    idle: Option<Idle>,
}

impl KnownTask {
    fn new((dir, facts): (WorkItemDir, JournalFacts)) -> KnownTask {
        KnownTask { dir, owned: facts.owned, idle: facts.idle }
    }

    /// True if it may match; a task that needs a full read always may.
    pub fn may_be(&self, is_wanted: impl FnOnce(&Owned) -> bool) -> bool {
        self.owned.as_deref().is_none_or(is_wanted)
    }

    /// The worktree that it holds.
    pub fn workspace(&self) -> Result<Option<Name>> {
        match &self.owned {
            Some(owned) => Ok(owned.workspace.clone()),
            None => Ok(work_item::read_journal_last(&self.dir, 0)?.history().owned.workspace),
        }
    }
}

/// A task of which only the text has been read.
#[derive(Debug)]
pub struct NamedTask {
    pub dir: WorkItemDir,
    /// Its branch, if the text alone says it.
    branch: Option<String>,
}

impl NamedTask {
    /// True if it may have such a branch; a task that needs a full read always may.
    pub fn may_have(&self, is_wanted: impl FnOnce(&str) -> bool) -> bool {
        self.branch.as_deref().is_none_or(is_wanted)
    }

    /// Its branch; the original one if its text cannot be read.
    pub fn branch(&self) -> Option<Cow<'_, str>> {
        match &self.branch {
            Some(branch) => Some(Cow::Borrowed(branch)),
            None => self.read().branch().map(|branch| Cow::Owned(branch.into_owned())),
        }
    }

    /// The whole task.
    pub fn read(&self) -> WorkItemEntry {
        let facts = index::read(std::slice::from_ref(&self.dir)).pop().unwrap_or_default();
        read(KnownTask::new((self.dir.clone(), facts)), &mut Vec::new())
    }
}

/// The journals of every task or mission, or of those of one project, in no order. Takes no lock.
pub fn journals(home: &Home, kinds: &[WorkItemKind], project: Option<&str>) -> Result<Vec<KnownTask>> {
    let dirs = dirs(home, kinds, project)?;
    let facts = index::facts(&dirs, AskedTasks::All);
    Ok(dirs.into_iter().zip(facts).map(KnownTask::new).collect())
}

/// The branches of every task or mission, or of those of one project, in no order. Takes no lock.
pub fn branches(home: &Home, kinds: &[WorkItemKind], project: Option<&str>) -> Result<Vec<NamedTask>> {
    let dirs = dirs(home, kinds, project)?;
    let facts = index::facts(&dirs, AskedTasks::All);
    Ok(named(dirs, facts))
}

/// The branches of these, by no index.
pub fn branches_of(dirs: Vec<WorkItemDir>) -> Vec<NamedTask> {
    let facts = index::read(&dirs);
    named(dirs, facts)
}

fn named(dirs: Vec<WorkItemDir>, facts: Vec<TextFacts>) -> Vec<NamedTask> {
    dirs.into_iter().zip(facts).map(|(dir, TextFacts { branch, .. })| NamedTask { dir, branch }).collect()
}

/// Every task, or every task of one project, oldest first; unreadable ones come last. Takes no lock.
pub fn list(home: &Home, project: Option<&str>) -> Result<Vec<WorkItemEntry>> {
    Ok(each(journals(home, &[WorkItemKind::Task], project)?, Some))
}

/// As [`list`], for missions.
pub fn missions(home: &Home, project: Option<&str>) -> Result<Vec<WorkItemEntry>> {
    Ok(each(journals(home, &[WorkItemKind::Mission], project)?, Some))
}

/// Maps each of these tasks with `make`, in the order of [`list`]. Two threads read and map them one by one, so that the
/// texts of thousands of tasks are never in memory together.
pub fn each<R: Send>(known: Vec<KnownTask>, make: impl Fn(WorkItemEntry) -> Option<R> + Sync) -> Vec<R> {
    in_their_order(known.into_iter().map(|known| (known, None)).collect(), &|listed, _| make(listed))
}

/// As [`each`], of which a idle task whose values `is_brief` admits may come without its body. `make` learns whether it does.
pub fn each_briefly<R: Send>(
    known: Vec<KnownTask>,
    is_brief: impl Fn(WorkItemKind, &Owned) -> bool,
    make: impl Fn(WorkItemEntry, Brevity) -> Option<R> + Sync,
) -> Vec<R> {
    let is_brief = |one: &KnownTask| {
        one.idle.is_some() && one.owned.as_deref().is_some_and(|owned| is_brief(one.dir.kind, owned))
    };
    let (brief, whole): (Vec<KnownTask>, Vec<KnownTask>) = known.into_iter().partition(is_brief);
    let dirs: Vec<WorkItemDir> = brief.iter().map(|known| known.dir.clone()).collect();
    let texts = index::facts(&dirs, AskedTasks::Some).into_iter().map(Some);
    let all = brief.into_iter().zip(texts).chain(whole.into_iter().map(|known| (known, None)));
    in_their_order(all.collect(), &make)
}

/// Extent to which a task has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brevity {
    /// All but its body: its journal is idle.
    Brief(Idle),
    Whole,
}

fn in_their_order<R: Send>(
    all: Vec<(KnownTask, Option<TextFacts>)>,
    make: &(dyn Fn(WorkItemEntry, Brevity) -> Option<R> + Sync),
) -> Vec<R> {
    let made = Mutex::new((Vec::new(), Vec::new()));
    let are_many = are_many(&all);
    in_parallel(all, are_many, &|(known, text), buffer| {
        let (listed, brevity) = match text.and_then(|text| briefly(&known, &text)) {
            Some((listed, idle)) => (listed, Brevity::Brief(idle)),
            None => (read(known, buffer), Brevity::Whole),
        };
        let key = sort_key(&listed);
        if let Some(new) = make(listed, brevity) {
            let (keys, made) = &mut *locked(&made);
            keys.push((key, made.len()));
            made.push(Some(new));
        }
    });
    let (mut keys, mut made) = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    keys.sort_unstable();
    keys.into_iter().filter_map(|(_, place)| made[place].take()).collect()
}

/// The tasks and missions of a project that have this branch, or one that git cannot have beside it. Of the others no more than the text
/// counts, where people may change the branch.
pub fn of_branch(home: &Home, project: &str, branch: &str) -> Result<Vec<WorkItem>> {
    let mut found = branches(home, &WorkItemKind::ALL, Some(project))?;
    found.retain(|named| named.may_have(|own| exclude_each_other(own, branch)));
    let mut listed: Vec<WorkItemEntry> = found.iter().map(NamedTask::read).collect();
    listed.retain(|listed| listed.branch().is_some_and(|own| exclude_each_other(&own, branch)));
    listed.into_iter().map(|listed| listed.task).collect()
}

/// True if git can have only one of two branches: they are equal, or a file and its folder, as `fix` and `fix/login`.
pub fn exclude_each_other(one: &str, other: &str) -> bool {
    let is_below = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|it| it.starts_with('/'));
    one == other || is_below(one, other) || is_below(other, one)
}

/// As [`of_branch`], without this task.
pub fn others_of_branch(home: &Home, dir: &WorkItemDir, branch: &str) -> Result<Vec<WorkItem>> {
    let mut others = of_branch(home, &dir.project, branch)?;
    others.retain(|other| other.id != dir.id);
    Ok(others)
}

/// The worktree that a task holds by its journal.
pub fn workspace_of(dir: &WorkItemDir) -> Result<Option<Name>> {
    let facts = index::read(std::slice::from_ref(dir)).pop().unwrap_or_default();
    KnownTask::new((dir.clone(), facts)).workspace()
}

/// The folders of every task or mission, or of those of one project, in no order.
pub fn dirs(home: &Home, kinds: &[WorkItemKind], project: Option<&str>) -> Result<Vec<WorkItemDir>> {
    let mut dirs = Vec::new();
    for kind in kinds {
        dirs.extend(below(&home.all(*kind), *kind, project)?);
    }
    Ok(dirs)
}

/// The folders of every deleted task or mission, in no order.
pub fn deleted(home: &Home, kinds: &[WorkItemKind]) -> Result<Vec<WorkItemDir>> {
    let mut dirs = below(&home.trash(), WorkItemKind::Task, None)?;
    dirs.iter_mut().for_each(|dir| dir.kind = WorkItemKind::of(&dir.path));
    dirs.retain(|dir| kinds.contains(&dir.kind));
    Ok(dirs)
}

fn below(folder: &Path, kind: WorkItemKind, project: Option<&str>) -> Result<Vec<WorkItemDir>> {
    let mut dirs = Vec::new();
    for project in projects(folder, project)? {
        let place = folder.join(&project);
        let of = |id: String| WorkItemDir { kind, path: place.join(&id), project: project.clone(), id };
        dirs.extend(folders(&place)?.into_iter().map(of));
    }
    Ok(dirs)
}

/// The folders with exactly this id, at most one of each kind in each project, without looking at others.
pub fn with_id(
    home: &Home,
    kinds: &[WorkItemKind],
    project: Option<&str>,
    id: &str,
) -> Result<Vec<WorkItemDir>> {
    if is_hidden(id) || id.is_empty() || id.contains('/') {
        return Ok(Vec::new());
    }
    let mut dirs = Vec::new();
    for kind in kinds {
        dirs.extend(projects(&home.all(*kind), project)?.iter().map(|project| home.dir(*kind, project, id)));
    }
    dirs.retain(|dir| dir.path.symlink_metadata().is_ok_and(|found| found.is_dir()));
    Ok(dirs)
}

/// The names of the projects that have tasks or missions, each once.
pub fn projects_with_tasks(home: &Home) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for kind in WorkItemKind::ALL {
        names.extend(folders(&home.all(kind))?);
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn projects(folder: &Path, project: Option<&str>) -> Result<Vec<String>> {
    project.map_or_else(|| folders(folder), |project| Ok(vec![project.to_owned()]))
}

/// Reads the rest of a task fast, and repeats that with all checks if anything is unusual.
fn read(KnownTask { dir, owned, .. }: KnownTask, buffer: &mut Vec<u8>) -> WorkItemEntry {
    let owned = owned.map(Arc::unwrap_or_clone);
    let task = owned.and_then(|owned| quickly(&dir, owned, buffer)).map_or_else(|| carefully(&dir), Ok);
    WorkItemEntry { dir, task }
}

/// A idle task without its body, by the indexes alone.
fn briefly(known: &KnownTask, text: &TextFacts) -> Option<(WorkItemEntry, Idle)> {
    let task = text.task(&known.dir, known.owned.as_deref()?.clone())?;
    Some((WorkItemEntry { dir: known.dir.clone(), task: Ok(task) }, known.idle.clone()?))
}

fn quickly(dir: &WorkItemDir, owned: Owned, buffer: &mut Vec<u8>) -> Option<WorkItem> {
    let document = Document::parse(contents(&dir.task_md(), regular::LIMIT, buffer).ok()?).ok()?;
    let task = WorkItem::with(dir, document, owned, ("", "")).ok()?;
    (!task.branch.is_empty() && !task.created_at.is_empty()).then_some(task)
}

fn carefully(dir: &WorkItemDir) -> Result<WorkItem> {
    let history = work_item::read_journal(dir)?.history();
    let document = work_item::document(dir, &history)?;
    WorkItem::of(dir, document, &history)
}

/// The branch of a task, if its text alone says it.
fn branch_of(dir: &WorkItemDir) -> Option<String> {
    let mut buffer = Vec::new();
    let bytes = contents(&dir.task_md(), regular::LIMIT, &mut buffer).ok()?;
    Document::parse(bytes).ok()?.get("branch").ok()?
}

/// True if the name is hidden, and so not that of a task or project.
fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// The names of the folders in a folder; none if there is no such folder.
fn folders(path: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in entries(path)? {
        let found = entry.file_type().map_err(|cause| Error::io("look at", &entry.path(), &cause))?;
        let is_folder = found.is_dir();
        names.extend(entry.file_name().into_string().ok().filter(|name| is_folder && !is_hidden(name)));
    }
    Ok(names)
}

/// One string that sorts like its parts: comparisons take most of the time of sorting.
fn sort_key(listed: &WorkItemEntry) -> String {
    const BEHIND_ALL: &str = "\u{10FFFF}";
    match &listed.task {
        Ok(task) => [&task.created_at, "\0", &task.id].concat(),
        Err(_) => [BEHIND_ALL, &listed.dir.id].concat(),
    }
}
