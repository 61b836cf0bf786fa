//! All tasks at once, fast, and never fewer than there are: a broken one is listed with its error.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    Ok(read_all(&dirs(home, project)?))
}

/// The folders of every task, or of every task of one project, in no order.
///
/// # Errors
/// `environment` when a folder cannot be read.
pub fn dirs(home: &Home, project: Option<&str>) -> Result<Vec<TaskDir>> {
    below(&home.tasks(), project)
}

/// Reads these tasks, those that cannot be read last, the others oldest first.
pub fn read_all(dirs: &[TaskDir]) -> Vec<Listed> {
    let mut listed = in_parallel(dirs, read);
    // A listed task is large: its key is sorted, not the task itself.
    listed.sort_by_cached_key(sort_key);
    listed
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
fn read(dir: &TaskDir, buffer: &mut Vec<u8>) -> Listed {
    let task = quickly(dir, buffer).map_or_else(|| carefully(dir), Ok);
    Listed { dir: dir.clone(), task }
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
        if let Some(name) = entry.file_name().to_str()
            && is_folder
            && !is_hidden(name)
        {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn sort_key(listed: &Listed) -> (bool, String, String) {
    let created_at = listed.task.as_ref().map(|task| task.created_at.clone());
    (created_at.is_err(), created_at.unwrap_or_default(), listed.dir.id.clone())
}

/// Does the same to every item, on two threads where that is worth it; each has a buffer. With more, they wait for each
/// other: for memory, and for the folder that they all read.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T, &mut Vec<u8>) -> R + Sync) -> Vec<R> {
    const WORTH_A_THREAD: usize = 64;
    let threads = if items.len() > WORTH_A_THREAD { 2 } else { 1 };
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::with_capacity(items.len() / threads + 1);
        let mut buffer = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(work(item, &mut buffer));
        }
        done
    };
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(share)).collect();
        let mut done = share();
        for helper in helpers {
            match helper.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}
