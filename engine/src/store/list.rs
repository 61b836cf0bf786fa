//! Lists all tasks or missions fast; one that cannot be read is listed with its error.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use orange_journal::fold::owned;
use rustix::fs::OFlags;

use crate::error::Unfit;
use crate::files::entries;
use crate::store::frontmatter::Document;
use crate::store::task::{self, Task};
use crate::store::{DirKind, Home, Name, Owned, TaskDir, journal, regular};
use crate::{Error, Result, nofollow};

/// A task in a list.
#[derive(Debug)]
pub struct Listed {
    /// Where it is.
    pub dir: TaskDir,
    /// The task by its journal, or why it cannot be read.
    pub task: Result<Task>,
}

impl Listed {
    /// Its branch; the original one if its text cannot be read, and the one in the text if its journal cannot.
    pub fn branch(&self) -> Option<Cow<'_, str>> {
        match &self.task {
            Ok(task) => Some(Cow::Borrowed(&task.branch)),
            Err(_) => {
                let created = task::read_journal(&self.dir).ok().map(|journal| journal.history().branch);
                let written = || branch_of(&self.dir, &mut Vec::new());
                created.filter(|branch| !branch.is_empty()).or_else(written).map(Cow::Owned)
            }
        }
    }
}

/// A task of which only the journal has been read.
#[derive(Debug)]
pub struct Known {
    /// Where it is.
    pub dir: TaskDir,
    /// The sum of its journal; `None` if only a full read finds it.
    owned: Option<Owned>,
}

impl Known {
    fn read(dir: TaskDir, buffer: &mut Vec<u8>) -> Known {
        let bytes = contents(&dir.history(), journal::LONGEST, buffer).ok();
        Known { owned: bytes.and_then(owned), dir }
    }

    /// Whether it may match; a task that needs a full read always may.
    pub fn may_be(&self, is_wanted: impl FnOnce(&Owned) -> bool) -> bool {
        self.owned.as_ref().is_none_or(is_wanted)
    }

    /// The worktree that it holds.
    pub fn workspace(&self) -> Result<Option<Name>> {
        match &self.owned {
            Some(owned) => Ok(owned.workspace.clone()),
            None => Ok(task::read_journal_last(&self.dir, 0)?.history().owned.workspace),
        }
    }
}

/// The journals of every task or mission, or of those of one project, in no order. Takes no lock.
pub fn journals(home: &Home, kinds: &[DirKind], project: Option<&str>) -> Result<Vec<Known>> {
    Ok(journals_of(dirs(home, kinds, project)?))
}

/// The journals of these, in no order.
pub fn journals_of(dirs: Vec<TaskDir>) -> Vec<Known> {
    let found = Mutex::new(Vec::new());
    in_parallel(dirs, &|dir, buffer| {
        let known = Known::read(dir, buffer);
        locked(&found).push(known);
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Every task, or every task of one project, oldest first; unreadable ones come last. Takes no lock.
pub fn list(home: &Home, project: Option<&str>) -> Result<Vec<Listed>> {
    Ok(each(journals(home, &[DirKind::Task], project)?, Some))
}

/// As [`list`], for missions.
pub fn missions(home: &Home, project: Option<&str>) -> Result<Vec<Listed>> {
    Ok(each(journals(home, &[DirKind::Mission], project)?, Some))
}

/// Maps each of these tasks with `make`, in the order of [`list`]. Two threads read and map them one by one, so that the
/// texts of thousands of tasks are never in memory together.
pub fn each<R: Send>(known: Vec<Known>, make: impl Fn(Listed) -> Option<R> + Sync) -> Vec<R> {
    let made = Mutex::new((Vec::new(), Vec::new()));
    in_parallel(known, &|known, buffer| {
        let listed = read(known, buffer);
        let key = sort_key(&listed);
        if let Some(new) = make(listed) {
            let (keys, made) = &mut *locked(&made);
            keys.push((key, made.len()));
            made.push(Some(new));
        }
    });
    let (mut keys, mut made) = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    keys.sort_unstable();
    keys.into_iter().filter_map(|(_, place)| made[place].take()).collect()
}

/// The tasks and missions of a project that have this branch, or one that git cannot have beside it. Of the others only the text is read:
/// people may change the branch there, so no index of branches could always be right.
pub fn of_branch(home: &Home, project: &str, branch: &str) -> Result<Vec<Task>> {
    let found = Mutex::new(Vec::new());
    in_parallel(dirs(home, &DirKind::ALL, Some(project))?, &|dir, buffer| {
        if branch_of(&dir, buffer).is_none_or(|own| exclude_each_other(&own, branch)) {
            let listed = read(Known::read(dir, buffer), buffer);
            let counts = listed.branch().is_some_and(|own| exclude_each_other(&own, branch));
            locked(&found).extend(counts.then_some(listed.task));
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect()
}

/// Whether git can have only one of two branches: they are the same, or a file and its folder, as `fix` and `fix/login`.
pub fn exclude_each_other(one: &str, other: &str) -> bool {
    let is_below = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|it| it.starts_with('/'));
    one == other || is_below(one, other) || is_below(other, one)
}

/// As [`of_branch`], without this task.
pub fn others_of_branch(home: &Home, dir: &TaskDir, branch: &str) -> Result<Vec<Task>> {
    let mut others = of_branch(home, &dir.project, branch)?;
    others.retain(|other| other.id != dir.id);
    Ok(others)
}

/// The worktree that a task holds by its journal.
pub fn workspace_of(dir: &TaskDir) -> Result<Option<Name>> {
    Known::read(dir.clone(), &mut Vec::new()).workspace()
}

/// The folders of every task or mission, or of those of one project, in no order.
pub fn dirs(home: &Home, kinds: &[DirKind], project: Option<&str>) -> Result<Vec<TaskDir>> {
    let mut dirs = Vec::new();
    for kind in kinds {
        dirs.extend(below(&home.all(*kind), *kind, project)?);
    }
    Ok(dirs)
}

/// The folders of every deleted task or mission, in no order.
pub fn deleted(home: &Home, kinds: &[DirKind]) -> Result<Vec<TaskDir>> {
    let mut dirs = below(&home.trash(), DirKind::Task, None)?;
    dirs.iter_mut().for_each(|dir| dir.kind = DirKind::of(&dir.path));
    dirs.retain(|dir| kinds.contains(&dir.kind));
    Ok(dirs)
}

fn below(folder: &Path, kind: DirKind, project: Option<&str>) -> Result<Vec<TaskDir>> {
    let mut dirs = Vec::new();
    for project in projects(folder, project)? {
        let place = folder.join(&project);
        let of = |id: String| TaskDir { kind, path: place.join(&id), project: project.clone(), id };
        dirs.extend(folders(&place)?.into_iter().map(of));
    }
    Ok(dirs)
}

/// The folders with exactly this id, at most one of each kind in each project, without looking at others.
pub fn with_id(home: &Home, kinds: &[DirKind], project: Option<&str>, id: &str) -> Result<Vec<TaskDir>> {
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
    for kind in DirKind::ALL {
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
fn read(Known { dir, owned }: Known, buffer: &mut Vec<u8>) -> Listed {
    let task = owned.and_then(|owned| quickly(&dir, owned, buffer)).map_or_else(|| carefully(&dir), Ok);
    Listed { dir, task }
}

fn quickly(dir: &TaskDir, owned: Owned, buffer: &mut Vec<u8>) -> Option<Task> {
    let document = Document::parse(contents(&dir.task_md(), regular::LIMIT, buffer).ok()?).ok()?;
    let task = Task::with(dir, document, owned, ("", "")).ok()?;
    (!task.branch.is_empty() && !task.created_at.is_empty()).then_some(task)
}

fn carefully(dir: &TaskDir) -> Result<Task> {
    let history = task::read_journal(dir)?.history();
    let document = task::document(dir, &history)?;
    Task::of(dir, document, &history)
}

/// The branch of a task, if its text alone says it.
fn branch_of(dir: &TaskDir, buffer: &mut Vec<u8>) -> Option<String> {
    Document::parse(contents(&dir.task_md(), regular::LIMIT, buffer).ok()?).ok()?.get("branch").ok()?
}

/// Reads a whole file into a buffer that grows as needed and is used again for the next file.
fn contents<'a>(path: &Path, limit: u64, buffer: &'a mut Vec<u8>) -> std::io::Result<&'a [u8]> {
    const ENOUGH_FOR_MOST: usize = 64 * 1024;
    let mut file = nofollow::open(path, OFlags::RDONLY)?;
    // The length is checked first, so that a huge file is not read up to the limit.
    if file.metadata()?.len() > limit {
        return Err(Unfit::TooLong(limit).into());
    }
    let mut length = 0;
    loop {
        if length as u64 > limit {
            return Err(Unfit::TooLong(limit).into());
        }
        if length == buffer.len() {
            buffer.resize((2 * length).max(ENOUGH_FOR_MOST), 0);
        }
        length += file.read(&mut buffer[length..])?;
        // A regular file returns less than requested only at its end.
        if length < buffer.len() {
            return Ok(&buffer[..length]);
        }
    }
}

/// Whether the name is hidden, and so no task or project.
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
fn sort_key(listed: &Listed) -> String {
    const BEHIND_ALL: &str = "\u{10FFFF}";
    match &listed.task {
        Ok(task) => [&task.created_at, "\0", &task.id].concat(),
        Err(_) => [BEHIND_ALL, &listed.dir.id].concat(),
    }
}

/// Runs `work` on all of these, on two threads if they are many; each thread has a buffer. More threads would wait for each
/// other: for memory, and for the folder that they all read.
fn in_parallel<T: Send>(all: Vec<T>, work: &(dyn Fn(T, &mut Vec<u8>) + Sync)) {
    const WORTH_A_THREAD: usize = 64;
    let has_help = all.len() > WORTH_A_THREAD;
    let all = Mutex::new(all.into_iter());
    let next = || locked(&all).next();
    let share = || {
        let mut buffer = Vec::new();
        while let Some(one) = next() {
            work(one, &mut buffer);
        }
    };
    std::thread::scope(|scope| {
        if has_help {
            scope.spawn(share);
        }
        share();
    });
}

/// The lock of a mutex, also after a panic of the other thread, which ends this one once both are joined.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
