//! Lists all tasks or missions fast; one that cannot be read is listed with its error.

use std::borrow::Cow;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::store::frontmatter::Document;
use crate::store::index::idle::{self, IdleTasks};
use crate::store::index::{self, AskedTasks, Idle, JournalFacts, TextFacts};
use crate::store::work_item::{self, WorkItem};
use crate::store::{Home, Name, Owned, WorkItemDir, WorkItemKind};
use crate::{Error, Result};
use orange_system::files::entries;
use orange_system::many::{contents, in_parallel};
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

/// The journals of every task or mission, or of those of one project, in no order. Takes no lock. Of those that are listed as idle, only
/// the wanted ones are here, and no file of them is looked at.
pub fn journals(
    home: &Home,
    kinds: &[WorkItemKind],
    project: Option<&str>,
    is_wanted: IsWanted<'_>,
) -> Result<Vec<KnownTask>> {
    let mut known = Vec::new();
    for folder in folders_of(home, kinds, project)? {
        let list = folder.list();
        let wanted = judged(list.as_ref(), |owned| is_wanted(folder.kind, owned));
        let mut others = Vec::new();
        for (id, inode) in &folder.names {
            match list.as_ref().and_then(|list| Some((list, list.find(id, *inode)?))) {
                Some((list, task)) if wanted[task.owned] => known.push(KnownTask {
                    dir: folder.dir(id),
                    owned: list.owned.get(task.owned).cloned(),
                    idle: Some(Idle::listed(task.since)),
                }),
                Some(_) => {}
                None => others.push(folder.dir(id)),
            }
        }
        let asked = if list.is_some() { AskedTasks::Some } else { AskedTasks::All };
        let facts: Vec<JournalFacts> = index::facts(&others, asked);
        let idle = facts.iter().filter(|facts| facts.idle.is_some()).count();
        if idle::is_worth_it(idle, folder.names.len()) {
            // A list that cannot be written is only not there.
            idle::write(&folder.path, &folder.dirs()).unwrap_or_default();
        }
        known.extend(others.into_iter().zip(facts).map(KnownTask::new));
    }
    Ok(known)
}

/// All tasks and missions, as the lists of idle ones sort them.
#[derive(Debug, Default)]
pub struct SortedTasks {
    /// Those that are over, as they were when the list was written.
    pub over: Vec<ListedTask>,
    /// The idle ones that are not over.
    pub waiting: Vec<ListedTask>,
    /// All others. Nothing of them was read.
    pub others: Vec<WorkItemDir>,
}

/// A task or mission as a list of idle ones has it.
#[derive(Debug)]
pub struct ListedTask {
    pub dir: WorkItemDir,
    pub owned: Arc<Owned>,
    pub branch: String,
}

impl ListedTask {
    /// Drops the list if this is not what it says.
    pub fn check(&self, found: Option<&WorkItem>) -> Result<()> {
        let is_right = found.is_some_and(|task| task.owned == *self.owned && task.branch == self.branch);
        let folder = self.dir.path.parent().filter(|_| !is_right);
        folder.map_or(Ok(()), |folder| idle::end_epoch(&folder.join(idle::CHANGED)))
    }
}

/// All tasks and missions, grouped by their folders.
pub fn sorted(home: &Home, is_over: IsWanted<'_>) -> Result<SortedTasks> {
    let mut found = SortedTasks::default();
    for folder in folders_of(home, &WorkItemKind::ALL, None)? {
        let list = folder.list();
        let over = judged(list.as_ref(), |owned| is_over(folder.kind, owned));
        for (id, inode) in &folder.names {
            let listed = list.as_ref().and_then(|list| {
                let task = list.find(id, *inode)?;
                let (owned, branch) = (Arc::clone(list.owned.get(task.owned)?), task.branch.to_owned());
                Some((ListedTask { dir: folder.dir(id), owned, branch }, over[task.owned]))
            });
            match listed {
                Some((task, true)) => found.over.push(task),
                Some((task, false)) => found.waiting.push(task),
                None => found.others.push(folder.dir(id)),
            }
        }
    }
    Ok(found)
}

/// The journals of these, by the state of their files.
pub fn checked_journals(dirs: Vec<WorkItemDir>) -> Vec<KnownTask> {
    let facts = index::facts(&dirs, AskedTasks::Some);
    dirs.into_iter().zip(facts).map(KnownTask::new).collect()
}

/// The branches of every task or mission, or of those of one project, in no order. Takes no lock. Of the branches of those that are over and
/// listed as idle, only the ones that `may_be_meant` are here, as they were when the list was written.
pub fn branches(
    home: &Home,
    kinds: &[WorkItemKind],
    project: Option<&str>,
    is_over: IsWanted<'_>,
    may_be_meant: &dyn Fn(&str, &str) -> bool,
) -> Result<Vec<NamedTask>> {
    let mut found = Vec::new();
    for folder in folders_of(home, kinds, project)? {
        let list = folder.list();
        let over = judged(list.as_ref(), |owned| is_over(folder.kind, owned));
        let mut others = Vec::new();
        for (id, inode) in &folder.names {
            match list.as_ref().and_then(|list| list.find(id, *inode)).filter(|task| over[task.owned]) {
                Some(task) if may_be_meant(id, task.branch) => {
                    found.push(NamedTask { dir: folder.dir(id), branch: Some(task.branch.to_owned()) });
                }
                Some(_) => {}
                None => others.push(folder.dir(id)),
            }
        }
        let facts = index::facts(&others, if list.is_some() { AskedTasks::Some } else { AskedTasks::All });
        found.extend(named(others, facts));
    }
    Ok(found)
}

/// As [`branches`], of all, by the state of their files.
pub fn checked_branches(
    home: &Home,
    kinds: &[WorkItemKind],
    project: Option<&str>,
) -> Result<Vec<NamedTask>> {
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
    Ok(each(journals(home, &[WorkItemKind::Task], project, &|_, _| true)?, Some))
}

/// As [`list`], for missions.
pub fn missions(home: &Home, project: Option<&str>) -> Result<Vec<WorkItemEntry>> {
    Ok(each(journals(home, &[WorkItemKind::Mission], project, &|_, _| true)?, Some))
}

/// Maps each of these tasks with `make`, in the order of [`list`]. Two threads read and map them one by one, so that the
/// texts of thousands of tasks are never in memory together.
pub fn each<R: Send>(known: Vec<KnownTask>, make: impl Fn(WorkItemEntry) -> Option<R> + Sync) -> Vec<R> {
    in_their_order(made_in_parallel(known, &make))
}

/// As [`each`], but an idle task whose values `is_brief` admits may come without its body, to `brief`. This thread maps those: no file
/// of them is read, and two threads would wait for each other for memory.
pub fn each_briefly<R: Send>(
    known: Vec<KnownTask>,
    is_brief: impl Fn(WorkItemKind, &Owned) -> bool,
    mut brief: impl FnMut(BriefTask) -> Option<R>,
    make: impl Fn(WorkItemEntry) -> Option<R> + Sync,
) -> Vec<R> {
    let is_brief = |one: &KnownTask| {
        one.idle.is_some() && one.owned.as_deref().is_some_and(|owned| is_brief(one.dir.kind, owned))
    };
    let (known, mut whole): (Vec<KnownTask>, Vec<KnownTask>) = known.into_iter().partition(is_brief);
    let (dirs, journals): (Vec<WorkItemDir>, Vec<_>) =
        known.into_iter().map(|KnownTask { dir, owned, idle }| (dir, (owned, idle))).unzip();
    let texts: Vec<TextFacts> = index::facts(&dirs, AskedTasks::Some);
    let mut made = Vec::with_capacity(dirs.len());
    for ((dir, (owned, idle)), text) in dirs.into_iter().zip(journals).zip(texts) {
        let task = owned.as_deref().and_then(|owned| text.task(&dir, owned.clone()));
        match (task, idle) {
            (Some(task), Some(idle)) => {
                let key = key_of(&task);
                made.extend(brief(BriefTask { dir, task, idle }).map(|new| (key, new)));
            }
            (_, idle) => whole.push(KnownTask { dir, owned, idle }),
        }
    }
    made.extend(made_in_parallel(whole, &make));
    in_their_order(made)
}

/// A task of which all but the body is known: its journal is idle.
#[derive(Debug)]
pub struct BriefTask {
    pub dir: WorkItemDir,
    pub task: WorkItem,
    pub idle: Idle,
}

impl BriefTask {
    /// The task as one of a list, and that it is idle.
    pub fn into_entry(self) -> (WorkItemEntry, Option<Idle>) {
        let BriefTask { dir, task, idle } = self;
        (WorkItemEntry { dir, task: Ok(task) }, Some(idle))
    }
}

/// Results of `make` for these tasks, each with its place in a list.
fn made_in_parallel<R: Send>(
    known: Vec<KnownTask>,
    make: &(dyn Fn(WorkItemEntry) -> Option<R> + Sync),
) -> Vec<(String, R)> {
    let made = in_parallel(known, &|known, buffer| {
        let listed = read(known, buffer);
        let key = sort_key(&listed);
        make(listed).map(|new| (key, new))
    });
    made.into_iter().flatten().collect()
}

fn in_their_order<R>(made: Vec<(String, R)>) -> Vec<R> {
    let made = made.into_iter().enumerate();
    let (mut keys, mut made): (Vec<_>, Vec<_>) =
        made.map(|(place, (key, new))| ((key, place), Some(new))).unzip();
    keys.sort_unstable();
    keys.into_iter().filter_map(|(_, place)| made[place].take()).collect()
}

/// The tasks and missions of a project that have this branch, or one that git cannot have beside it. Of the others no more than the text
/// counts, where people may change the branch.
pub fn of_branch(home: &Home, project: &str, branch: &str, is_over: IsWanted<'_>) -> Result<Vec<WorkItem>> {
    let is_meant = |_: &str, own: &str| exclude_each_other(own, branch);
    let mut found = branches(home, &WorkItemKind::ALL, Some(project), is_over, &is_meant)?;
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
pub fn others_of_branch(
    home: &Home,
    dir: &WorkItemDir,
    branch: &str,
    is_over: IsWanted<'_>,
) -> Result<Vec<WorkItem>> {
    let mut others = of_branch(home, &dir.project, branch, is_over)?;
    others.retain(|other| other.id != dir.id);
    Ok(others)
}

/// The worktree that a task holds by its journal.
pub fn workspace_of(dir: &WorkItemDir) -> Result<Option<Name>> {
    let facts = index::read(std::slice::from_ref(dir)).pop().unwrap_or_default();
    KnownTask::new((dir.clone(), facts)).workspace()
}

/// A judgement about the values of a task or mission, such as that it is over.
pub type IsWanted<'f> = &'f dyn Fn(WorkItemKind, &Owned) -> bool;

/// The judgement about all values of a list of idle tasks.
fn judged(list: Option<&IdleTasks>, judge: impl Fn(&Owned) -> bool) -> Vec<bool> {
    list.into_iter().flat_map(|list| &list.owned).map(|owned| judge(owned)).collect()
}

/// The folder with the tasks or missions of one project.
struct ProjectFolder {
    kind: WorkItemKind,
    project: String,
    path: PathBuf,
    /// The ids in it, each with the number of its folder.
    names: Vec<(String, u64)>,
}

impl ProjectFolder {
    fn dir(&self, id: &str) -> WorkItemDir {
        let (project, id, path) = (self.project.clone(), id.to_owned(), self.path.join(id));
        WorkItemDir { kind: self.kind, project, id, path }
    }

    fn dirs(&self) -> Vec<(WorkItemDir, u64)> {
        self.names.iter().map(|(id, inode)| (self.dir(id), *inode)).collect()
    }

    /// The list of its idle tasks.
    fn list(&self) -> Option<IdleTasks> {
        (self.names.len() > index::FEW).then(|| IdleTasks::read(&self.path)).flatten()
    }
}

fn folders_of(home: &Home, kinds: &[WorkItemKind], project: Option<&str>) -> Result<Vec<ProjectFolder>> {
    let mut found = Vec::new();
    for kind in kinds {
        found.extend(below(&home.all(*kind), *kind, project)?);
    }
    Ok(found)
}

/// The folders of every task or mission, or of those of one project, in no order.
pub fn dirs(home: &Home, kinds: &[WorkItemKind], project: Option<&str>) -> Result<Vec<WorkItemDir>> {
    Ok(flat(&folders_of(home, kinds, project)?))
}

fn flat(folders: &[ProjectFolder]) -> Vec<WorkItemDir> {
    folders.iter().flat_map(|folder| folder.names.iter().map(|(id, _)| folder.dir(id))).collect()
}

/// The folders of every deleted task or mission, in no order.
pub fn deleted(home: &Home, kinds: &[WorkItemKind]) -> Result<Vec<WorkItemDir>> {
    let mut dirs = flat(&below(&home.trash(), WorkItemKind::Task, None)?);
    dirs.iter_mut().for_each(|dir| dir.kind = WorkItemKind::of(&dir.path));
    dirs.retain(|dir| kinds.contains(&dir.kind));
    Ok(dirs)
}

fn below(folder: &Path, kind: WorkItemKind, project: Option<&str>) -> Result<Vec<ProjectFolder>> {
    let mut found = Vec::new();
    for project in projects(folder, project)? {
        let path = folder.join(&project);
        found.push(ProjectFolder { kind, names: folders(&path)?, project, path });
    }
    Ok(found)
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
        names.extend(names_of(&home.all(kind))?);
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn projects(folder: &Path, project: Option<&str>) -> Result<Vec<String>> {
    project.map_or_else(|| names_of(folder), |project| Ok(vec![project.to_owned()]))
}

/// Reads the rest of a task fast, and repeats that with all checks if anything is unusual.
fn read(KnownTask { dir, owned, .. }: KnownTask, buffer: &mut Vec<u8>) -> WorkItemEntry {
    let owned = owned.map(Arc::unwrap_or_clone);
    let task = owned.and_then(|owned| quickly(&dir, owned, buffer)).map_or_else(|| carefully(&dir), Ok);
    WorkItemEntry { dir, task }
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

fn names_of(path: &Path) -> Result<Vec<String>> {
    Ok(folders(path)?.into_iter().map(|(name, _)| name).collect())
}

/// The names of the folders in a folder, and the number of each; none if there is no such folder.
fn folders(path: &Path) -> Result<Vec<(String, u64)>> {
    let mut names = Vec::new();
    for entry in entries(path)? {
        let found = entry.file_type().map_err(|cause| Error::io("look at", &entry.path(), &cause))?;
        let name = entry.file_name().into_string().ok();
        let name = name.filter(|name| found.is_dir() && !is_hidden(name));
        names.extend(name.map(|name| (name, entry.ino())));
    }
    Ok(names)
}

/// One string that sorts like its parts: comparisons take most of the time of sorting.
fn sort_key(listed: &WorkItemEntry) -> String {
    const BEHIND_ALL: &str = "\u{10FFFF}";
    match &listed.task {
        Ok(task) => key_of(task),
        Err(_) => [BEHIND_ALL, &listed.dir.id].concat(),
    }
}

fn key_of(task: &WorkItem) -> String {
    [&task.created_at, "\0", &task.id].concat()
}
