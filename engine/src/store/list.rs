//! All tasks at once, fast, and never fewer than there are: a broken one is listed with its error.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, OFlags};

use crate::files::entries;
use crate::store::frontmatter::Document;
use crate::store::task::{self, Task};
use crate::store::{Home, TaskDir, journal};
use crate::{Error, Result};

/// A task in a list.
#[derive(Debug)]
pub struct Listed {
    /// Where it is.
    pub dir: TaskDir,
    /// The task as the journal has it, or why it cannot be read.
    pub task: Result<Task>,
}

impl Listed {
    /// Its branch; the one that it was created for when its `TASK.md` cannot be read.
    pub fn branch(&self) -> Option<Cow<'_, str>> {
        match &self.task {
            Ok(task) => Some(Cow::Borrowed(&task.branch)),
            Err(_) => task::read_journal(&self.dir).ok().map(|journal| Cow::Owned(journal.log().branch)),
        }
    }
}

/// Every task, or every task of one project, oldest first; those that cannot be read come last. Takes no lock.
///
/// # Errors
/// `environment` when the folder of the tasks cannot be read.
pub fn list(home: &Home, project: Option<&str>) -> Result<Vec<Listed>> {
    each(&home.tasks(), project, Some)
}

/// What `make` makes of every task below this folder, or of every one of a project, in the order of [`list`]. Each task is
/// handed over as soon as it is read, by one of two threads, so that thousands of them are never kept at once.
///
/// # Errors
/// `environment` when a folder cannot be read.
pub fn each<R: Send>(
    folder: &Path,
    project: Option<&str>,
    make: impl Fn(Listed) -> Option<R> + Sync,
) -> Result<Vec<R>> {
    let made = Mutex::new((Vec::new(), Vec::new()));
    in_parallel(below(folder, project)?, &|dir, buffer| {
        let listed = read(dir, buffer);
        let key = sort_key(&listed);
        if let Some(new) = make(listed) {
            let (keys, made) = &mut *locked(&made);
            keys.push((key, made.len()));
            made.push(Some(new));
        }
    });
    let (mut keys, mut made) = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    keys.sort_unstable();
    Ok(keys.into_iter().filter_map(|(_, place)| made[place].take()).collect())
}

/// The tasks of a project that have this branch. Of the others no more is read than says that they have another one: people
/// write that into `TASK.md` as they like, so there is no list of branches that would always be right.
///
/// # Errors
/// `corrupt` when one of these tasks cannot be read; `environment` when a folder cannot be read.
pub fn of_branch(home: &Home, project: &str, branch: &str) -> Result<Vec<Task>> {
    let found = Mutex::new(Vec::new());
    in_parallel(below(&home.tasks(), Some(project))?, &|dir, buffer| {
        if branch_of(&dir, buffer).is_none_or(|own| own == branch) {
            let listed = read(dir, buffer);
            locked(&found).extend((listed.branch().as_deref() == Some(branch)).then_some(listed.task));
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect()
}

/// As [`of_branch`], in the project of this task and without it.
///
/// # Errors
/// As [`of_branch`].
pub fn others_of_branch(home: &Home, dir: &TaskDir, branch: &str) -> Result<Vec<Task>> {
    let mut others = of_branch(home, &dir.project, branch)?;
    others.retain(|other| other.id != dir.id);
    Ok(others)
}

/// The folders of every task, or of every task of one project, in no order.
///
/// # Errors
/// `environment` when a folder cannot be read.
pub fn dirs(home: &Home, project: Option<&str>) -> Result<Vec<TaskDir>> {
    below(&home.tasks(), project)
}

/// The folders of every task below this one, or of every task of one project, in no order.
///
/// # Errors
/// `environment` when a folder cannot be read.
pub fn below(folder: &Path, project: Option<&str>) -> Result<Vec<TaskDir>> {
    let mut dirs = Vec::new();
    for project in projects(folder, project)? {
        let place = folder.join(&project);
        let of = |id: String| TaskDir { path: place.join(&id), project: project.clone(), id };
        dirs.extend(folders(&place)?.into_iter().map(of));
    }
    Ok(dirs)
}

/// The folders of the tasks with exactly this id, one in a project at most. No other task is looked at.
///
/// # Errors
/// `environment` when the folder cannot be read.
pub fn with_id(folder: &Path, project: Option<&str>, id: &str) -> Result<Vec<TaskDir>> {
    if is_hidden(id) || id.is_empty() || id.contains('/') {
        return Ok(Vec::new());
    }
    let of = |project: String| TaskDir { path: folder.join(&project).join(id), project, id: id.to_owned() };
    let is_there = |dir: &TaskDir| dir.path.symlink_metadata().is_ok_and(|found| found.is_dir());
    Ok(projects(folder, project)?.into_iter().map(of).filter(is_there).collect())
}

fn projects(folder: &Path, project: Option<&str>) -> Result<Vec<String>> {
    project.map_or_else(|| folders(folder), |project| Ok(vec![project.to_owned()]))
}

/// Reads a task with as little as that takes; what is unusual about it is found out with all care.
fn read(dir: TaskDir, buffer: &mut Vec<u8>) -> Listed {
    let task = quickly(&dir, buffer).map_or_else(|| carefully(&dir), Ok);
    Listed { dir, task }
}

fn quickly(dir: &TaskDir, buffer: &mut Vec<u8>) -> Option<Task> {
    let owned = journal::owned(contents(&dir.history(), buffer).ok()?)?;
    let document = Document::parse(contents(&dir.task_md(), buffer).ok()?).ok()?;
    let task = Task::with(dir, document, owned, ("", "")).ok()?;
    (!task.branch.is_empty() && !task.created_at.is_empty()).then_some(task)
}

fn carefully(dir: &TaskDir) -> Result<Task> {
    let log = task::read_journal(dir)?.log();
    let document = task::document(dir, &log)?;
    Task::of(dir, document, &log)
}

/// The branch that a task has, where its `TASK.md` alone can tell.
fn branch_of(dir: &TaskDir, buffer: &mut Vec<u8>) -> Option<String> {
    Document::parse(contents(&dir.task_md(), buffer).ok()?).ok()?.get("branch").ok()?
}

/// A whole file, in a buffer that grows as needed and is used again for the next one.
fn contents<'a>(path: &Path, buffer: &'a mut Vec<u8>) -> std::io::Result<&'a [u8]> {
    const ENOUGH_FOR_MOST: usize = 64 * 1024;
    /// Also where somebody has put a pipe.
    const AT_ONCE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
    // The C library of the static binary asks the kernel twice for what one call can say, ten thousand times here.
    let mut file = File::from(rustix::fs::open(path, AT_ONCE, Mode::empty())?);
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize((2 * length).max(ENOUGH_FOR_MOST), 0);
        }
        length += file.read(&mut buffer[length..])?;
        // A regular file gives less than was asked for at its end only.
        if length < buffer.len() {
            return Ok(&buffer[..length]);
        }
    }
}

/// Whether a folder of this name is not ours to show.
fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// The names of the folders in a folder; none when there is no such folder.
fn folders(path: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in entries(path)? {
        let found = entry.file_type().map_err(|cause| Error::io("look at", &entry.path(), &cause))?;
        let is_folder = found.is_dir();
        names.extend(entry.file_name().into_string().ok().filter(|name| is_folder && !is_hidden(name)));
    }
    Ok(names)
}

/// One text that sorts as its parts do: comparing it is most of the time that sorting takes.
fn sort_key(listed: &Listed) -> String {
    const BEHIND_ALL: &str = "\u{10FFFF}";
    match &listed.task {
        Ok(task) => [&task.created_at, "\0", &task.id].concat(),
        Err(_) => [BEHIND_ALL, &listed.dir.id].concat(),
    }
}

/// Does the same with every folder, on two threads where that is worth it; each has a buffer. With more, they wait for each
/// other: for memory, and for the folder that they all read.
fn in_parallel(dirs: Vec<TaskDir>, work: &(dyn Fn(TaskDir, &mut Vec<u8>) + Sync)) {
    const WORTH_A_THREAD: usize = 64;
    let has_help = dirs.len() > WORTH_A_THREAD;
    let dirs = Mutex::new(dirs.into_iter());
    let next = || locked(&dirs).next();
    let share = || {
        let mut buffer = Vec::new();
        while let Some(dir) = next() {
            work(dir, &mut buffer);
        }
    };
    std::thread::scope(|scope| {
        if has_help {
            scope.spawn(share);
        }
        share();
    });
}

/// A panic of the other thread ends this one too, once both are joined.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
