//! Watches the worktree of the selected row, where agents write: its text, and every file while the changes are shown.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use orange_system::changes::{FolderChange, FolderId, FolderWatch, ReportedWrites, WaitEnd, WaitStop};

use super::ShellNote;
use crate::model::effect::{Event, WatchedWorktree};

/// Editors write a file in several steps, and programs write many files.
const QUIET: Duration = Duration::from_millis(100);

/// Longest time until a report, where something is always written.
const LONGEST: Duration = Duration::from_secs(1);

/// Time between two looks where the system reports no changes.
const WITHOUT_REPORTS: Duration = Duration::from_secs(10);

/// Largest number of folders that are watched. Of the others, no change is noticed.
const MOST: usize = 4096;

/// The watch on one worktree.
pub(super) struct WorktreeWatch {
    wanted: Arc<Mutex<Option<WatchedWorktree>>>,
    control: Option<PipeWriter>,
}

impl WorktreeWatch {
    /// It watches nothing yet.
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
    let mut watched: Option<WatchedFolders> = None;
    loop {
        let is_new = match &mut watched {
            Some(now) => now.watch.wait(Some(WaitStop::Readable(control.as_fd())), None) == WaitEnd::Stopped,
            None => true,
        };
        if is_new {
            match control.read(&mut [0; 64]) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
            let wanted = wanted.lock().unwrap_or_else(PoisonError::into_inner).clone();
            watched = wanted.map(|it| WatchedFolders::new(folders.join(&it.worktree), it.is_whole));
        } else if watched.as_mut().is_some_and(WatchedFolders::have_changed)
            && sender.send(ShellNote::Event(Event::Edited)).is_err()
        {
            return;
        }
    }
}

/// The folders of a worktree that are watched.
struct WatchedFolders {
    watch: FolderWatch,
    root: PathBuf,
    folders: BTreeMap<FolderId, PathBuf>,
    /// The folders that git ignores; `None` where only the text is watched.
    ignored: Option<BTreeSet<PathBuf>>,
}

impl WatchedFolders {
    fn new(root: PathBuf, is_whole: bool) -> WatchedFolders {
        let watch = FolderWatch::new(ReportedWrites::Closed, WITHOUT_REPORTS);
        let ignored = is_whole.then(|| ignored(&root));
        let mut watched = WatchedFolders { watch, root: root.clone(), folders: BTreeMap::new(), ignored };
        watched.follow(root);
        watched
    }

    /// Watches a folder and those in it. One that is gone meanwhile is left out.
    fn follow(&mut self, folder: PathBuf) {
        let mut left = vec![folder];
        while let Some(folder) = left.pop().filter(|_| self.folders.len() < MOST) {
            let is_ignored = self.ignored.as_ref().is_some_and(|ignored| ignored.contains(&folder));
            if is_ignored || folder.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            let Some(id) = self.watch.add(&folder) else { continue };
            if self.ignored.is_some() {
                let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
                let folders = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
                left.extend(folders.map(|entry| entry.path()));
            }
            self.folders.insert(id, folder);
        }
    }

    /// Waits until it is quiet. True if something of what has changed is shown.
    fn have_changed(&mut self) -> bool {
        let (mut is_shown, mut new) = (false, Vec::new());
        for change in self.watch.take_until_quiet(QUIET, LONGEST) {
            match change {
                FolderChange::Entry { folder, name, is_new_folder } => {
                    is_shown |= self.ignored.is_some() || name == "TASK.md";
                    if is_new_folder && self.ignored.is_some() {
                        new.extend(self.folders.get(&folder).map(|folder| folder.join(&name)));
                    }
                }
                FolderChange::Gone(folder) => {
                    is_shown |= self.folders.remove(&folder).is_some() && self.ignored.is_some();
                }
                FolderChange::Lost => is_shown = true,
            }
        }
        if !new.is_empty() {
            // A new folder may be an ignored one.
            self.ignored = Some(ignored(&self.root));
            new.into_iter().for_each(|folder| self.follow(folder));
        }
        is_shown
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
