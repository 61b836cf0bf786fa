//! The companion: waits for requests in the folder of one spawn, and for changes of the worktree's `TASK.md`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use super::confinement;
use super::counter::{RequestCheck, RequestCounter};
use super::folder::{Office, RequestFolder, open_worktree};
use crate::app::App;
use crate::drive::git::REQUEST_FOLDER;
use crate::store::{WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};
use orange_system::changes::{FolderWatch, ReportedWrites, WaitEnd, WaitStop};

/// Longest time between two looks: reports can be lost.
const SELDOM: Duration = Duration::from_secs(5);

/// Time between two looks where the system reports no changes.
const OFTEN: Duration = Duration::from_millis(20);

/// The time before a removed folder is created again.
const CLEANING: Duration = Duration::from_millis(300);

/// Answers requests until its standard input is closed. `ready` is called when it begins, `check` says what an agent may ask for,
/// and `look` is called every few seconds, with whether the worktree's `TASK.md` was saved or removed since. It refuses an
/// agent without a worktree or a record, and if another process answers.
pub fn serve(
    app: &App,
    dir: &WorkItemDir,
    spawn: u32,
    check: RequestCheck,
    ready: impl FnOnce() -> io::Result<()>,
    look: impl Fn(bool),
) -> Result<()> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let Some(record) = journal.history().agents.alive.get(&spawn).cloned() else {
        return Err(Error::new(ErrorKind::Refused, format!("task {} has no live agent {spawn}", dir.id)));
    };
    let mut place = WatchedFolder::of(app, &task, spawn)?;
    let wall = record.sandbox.is_some().then(|| place.path.clone());
    let mut counter = RequestCounter::new(app, dir, spawn, record.actor, wall, check);
    let folder = place.open()?;
    counter.reply_to_interrupted(&folder);
    // Before the agent begins, so that nothing that it saves is older.
    let mut saved = TaskFileStamp::of(&place.path);
    ready().map_err(|cause| {
        Error::new(
            ErrorKind::Environment,
            format!("the process that started the companion has ended: {cause}"),
        )
    })?;
    let pipe = io::stdin();
    loop {
        // The agent may have removed the folder. If it cannot be created now, the next change is another occasion.
        if let Ok(folder) = place.open() {
            counter.take(&folder);
        }
        look(saved.has_changed(&place.path));
        if place.watch.wait(Some(WaitStop::Readable(pipe.as_fd())), Some(SELDOM)) == WaitEnd::Stopped {
            break;
        }
        drop(place.watch.take());
    }
    // The last requests get their replies before the end of the agent is reported.
    while let Some(office) = &place.office {
        if counter.take(&office.folder) {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    counter.close();
    Ok(())
}

/// The request folder and its watch.
struct WatchedFolder {
    path: PathBuf,
    worktree: OwnedFd,
    spawn: u32,
    confinement: String,
    office: Option<Office>,
    watch: FolderWatch,
}

impl WatchedFolder {
    fn of(app: &App, task: &WorkItem, spawn: u32) -> Result<WatchedFolder> {
        let Some(name) = &task.owned.workspace else {
            return Err(Error::new(ErrorKind::Refused, format!("task {} has no worktree", task.id)));
        };
        let path = app.home.workspace(name);
        let worktree = open_worktree(&path).map_err(|cause| Error::io("open", &path, &cause))?;
        let confinement = confinement::own();
        Ok(WatchedFolder { path, worktree, spawn, confinement, office: None, watch: new_watch() })
    }

    /// The folder, which is created with its lock if it is missing, and watched.
    fn open(&mut self) -> Result<Arc<RequestFolder>> {
        if let Some(office) = &self.office
            && office.is_in_place(self.worktree.as_fd(), self.spawn)
        {
            return Ok(Arc::clone(&office.folder));
        }
        if self.office.take().is_some() {
            // `git clean` fails if a folder that it removes reappears at once.
            thread::sleep(CLEANING);
        }
        let folder = RequestFolder::make(self.worktree.as_fd(), self.spawn);
        let path = self.path.join(REQUEST_FOLDER).join(self.spawn.to_string());
        let office = folder
            .and_then(|folder| folder.occupy(&self.confinement))
            .map_err(|cause| Error::io("make", &path, &cause))?;
        let Some(office) = office else {
            let message = format!("another process answers the requests in {}", path.display());
            return Err(Error::new(ErrorKind::Refused, message));
        };
        self.watch = new_watch();
        for folder in [self.worktree.as_fd(), office.folder.as_fd()] {
            self.watch.add_open(folder);
        }
        let folder = Arc::clone(&office.folder);
        self.office = Some(office);
        Ok(folder)
    }
}

fn new_watch() -> FolderWatch {
    FolderWatch::new(ReportedWrites::Closed, OFTEN)
}

/// The identity and time of the worktree's `TASK.md` at the last check.
#[derive(PartialEq)]
struct TaskFileStamp(Option<(u64, u64, SystemTime)>);

impl TaskFileStamp {
    fn of(worktree: &Path) -> TaskFileStamp {
        use std::os::unix::fs::MetadataExt;
        let found = worktree.join("TASK.md").symlink_metadata();
        TaskFileStamp(found.and_then(|it| Ok((it.ino(), it.len(), it.modified()?))).ok())
    }

    fn has_changed(&mut self, worktree: &Path) -> bool {
        let now = TaskFileStamp::of(worktree);
        let before = std::mem::replace(self, now);
        before != *self
    }
}
