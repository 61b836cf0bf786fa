//! Watches the worktree of the selected row, where agents write: its text, and every file while the changes are shown.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

use super::ShellNote;
use crate::model::effect::{Event, WatchedWorktree};

/// Editors write a file in several steps, and programs write many files.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Longest time until a report, where something is always written.
const LONGEST: Duration = Duration::from_secs(1);

/// Largest number of folders that are watched. Of the others, no change is noticed.
const MOST: usize = 4096;

/// The watch on one worktree.
pub(super) struct WorktreeWatch {
    wanted: Arc<Mutex<Option<WatchedWorktree>>>,
    control: Option<PipeWriter>,
}

impl WorktreeWatch {
    /// It watches nothing yet. Where nothing can be watched, files are read when the row changes.
    pub(super) fn new(home: Option<PathBuf>, sender: Sender<ShellNote>) -> WorktreeWatch {
        let wanted = Arc::new(Mutex::new(None));
        let control = home.zip(io::pipe().ok()).map(|(home, (reader, control))| {
            let folders = home.join("workspaces");
            let wanted = wanted.clone();
            thread::spawn(move || run(&folders, reader, &wanted, &sender));
            control
        });
        WorktreeWatch { wanted, control }
    }

    /// Watches this worktree, and no other.
    pub(super) fn watch(&mut self, watched: Option<WatchedWorktree>) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = watched;
        if let Some(control) = &mut self.control {
            // The thread ends with the process.
            control.write_all(b"w").unwrap_or_default();
        }
    }
}

fn run(
    folders: &Path,
    mut control: PipeReader,
    wanted: &Mutex<Option<WatchedWorktree>>,
    sender: &Sender<ShellNote>,
) {
    let mut watch: Option<WatchedFolders> = None;
    loop {
        let mut ready = vec![PollFd::new(&control, PollFlags::IN)];
        ready.extend(watch.iter().map(|watch| PollFd::new(&watch.inotify, PollFlags::IN)));
        match poll(&mut ready, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return,
        }
        if !ready[0].revents().is_empty() {
            match control.read(&mut [0; 64]) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
            let watched = wanted.lock().unwrap_or_else(PoisonError::into_inner).clone();
            watch = watched.and_then(|it| WatchedFolders::new(folders.join(&it.worktree), it.is_whole).ok());
        } else if let Some(now) = &mut watch {
            match now.changes() {
                Ok(true) if sender.send(ShellNote::Event(Event::Edited)).is_err() => return,
                Ok(_) => {}
                Err(_) => watch = None,
            }
        }
    }
}

/// The folders of a worktree that are watched.
struct WatchedFolders {
    inotify: OwnedFd,
    folders: BTreeMap<i32, PathBuf>,
    /// The folders that git ignores; `None` where only the text is watched.
    ignored: Option<BTreeSet<PathBuf>>,
}

impl WatchedFolders {
    fn new(root: PathBuf, is_whole: bool) -> Result<WatchedFolders, Errno> {
        let inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let ignored = is_whole.then(|| ignored(&root));
        let mut watch = WatchedFolders { inotify, folders: BTreeMap::new(), ignored };
        watch.follow(root);
        Ok(watch)
    }

    /// Watches a folder and those in it. One that is gone meanwhile is left out.
    fn follow(&mut self, folder: PathBuf) {
        let what = WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::ONLYDIR;
        let mut left = vec![folder];
        while let Some(folder) = left.pop().filter(|_| self.folders.len() < MOST) {
            let is_ignored = self.ignored.as_ref().is_some_and(|ignored| ignored.contains(&folder));
            if is_ignored || folder.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            let Ok(watched) = add_watch(&self.inotify, &folder, what) else { continue };
            if self.ignored.is_some() {
                let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
                let folders = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
                left.extend(folders.map(|entry| entry.path()));
            }
            self.folders.insert(watched, folder);
        }
    }

    /// Takes what has happened until it is quiet. Returns whether something of it is shown.
    fn changes(&mut self) -> Result<bool, Errno> {
        let begin = Instant::now();
        let mut is_shown = false;
        loop {
            is_shown |= self.take()?;
            let mut ready = [PollFd::new(&self.inotify, PollFlags::IN)];
            if begin.elapsed() > LONGEST || matches!(poll(&mut ready, Some(&QUIET)), Ok(0)) {
                return Ok(is_shown);
            }
        }
    }

    fn take(&mut self) -> Result<bool, Errno> {
        let (mut is_shown, mut new) = (false, Vec::new());
        let mut buffer = [MaybeUninit::uninit(); 8192];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error),
            };
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            is_shown |= self.ignored.is_some() || name == "TASK.md";
            let is_new = event.events().intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
            if is_new && self.ignored.is_some() && event.events().contains(ReadFlags::ISDIR) {
                new.extend(self.folders.get(&event.wd()).map(|folder| folder.join(&name)));
            }
        }
        if !new.is_empty() {
            // A new folder may be an ignored one.
            let root = self.folders.values().min().cloned();
            self.ignored = root.map(|root| ignored(&root));
            new.into_iter().for_each(|folder| self.follow(folder));
        }
        Ok(is_shown)
    }
}

/// The folders of a worktree that git ignores; none where git does not tell.
fn ignored(root: &Path) -> BTreeSet<PathBuf> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"]);
    git.current_dir(root).env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null());
    let output = git.output().map(|output| output.stdout).unwrap_or_default();
    let names = output.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    names.filter_map(|name| name.strip_suffix('/').map(|name| root.join(name))).collect()
}
