//! All tasks at once, fast, and never fewer than there are: a broken one is listed with its error.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::store::frontmatter::Document;
use crate::store::task::{self, Task};
use crate::store::{Home, TaskDir};
use crate::{Error, Result};

/// A task in a list.
#[derive(Debug)]
pub struct Listed {
    /// Where it is.
    pub dir: TaskDir,
    /// The task as the journal has it, or why it cannot be read.
    pub task: Result<Task>,
}

/// Every task, or every task of one project, oldest first; those that cannot be read come last. Takes no lock.
///
/// # Errors
/// `environment` when the folder of the tasks cannot be read.
pub fn list(home: &Home, project: Option<&str>) -> Result<Vec<Listed>> {
    let dirs = dirs(home, project)?;
    let mut listed = in_parallel(&dirs, read);
    listed.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    Ok(listed)
}

/// The folders of every task, or of every task of one project, in no order.
///
/// # Errors
/// `environment` when a folder cannot be read.
pub fn dirs(home: &Home, project: Option<&str>) -> Result<Vec<TaskDir>> {
    let projects = match project {
        Some(project) => vec![project.to_owned()],
        None => folders(&home.tasks())?,
    };
    let mut dirs = Vec::new();
    for project in projects {
        let ids = folders(&home.tasks().join(&project))?;
        dirs.extend(ids.into_iter().map(|id| home.task(&project, &id)));
    }
    Ok(dirs)
}

fn read(dir: &TaskDir) -> Listed {
    let task = task::read_journal(dir).and_then(|journal| {
        let log = journal.log();
        let document: Document = task::document(dir, &log)?;
        Task::of(dir, document, &log)
    });
    Listed { dir: dir.clone(), task }
}

/// The names of the folders in a folder; none when there is no such folder. Hidden ones are not ours to show.
fn folders(path: &Path) -> Result<Vec<String>> {
    let fail = |cause: std::io::Error| Error::io("read the folder", path, &cause);
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(fail(cause)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(fail)?;
        let is_folder = entry.file_type().map_err(fail)?.is_dir();
        if let Some(name) = entry.file_name().to_str()
            && is_folder
            && !name.starts_with('.')
        {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn sort_key(listed: &Listed) -> (bool, &str, &TaskDir) {
    match &listed.task {
        Ok(task) => (false, &task.created_at, &listed.dir),
        Err(_) => (true, "", &listed.dir),
    }
}

/// Does the same to every item, on as many threads as are worth it.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    const WORTH_A_THREAD: usize = 64;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(items.len().div_ceil(WORTH_A_THREAD)).max(1);
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::with_capacity(items.len() / threads + 1);
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(work(item));
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
