//! Watches on folders: what is created, written, renamed and removed in them.

#[cfg(target_os = "linux")]
mod inotify;
#[cfg(not(target_os = "linux"))]
mod unreported;

#[cfg(target_os = "linux")]
use inotify as reports;
#[cfg(not(target_os = "linux"))]
use unreported as reports;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Interval of a watch on few folders where the system reports no changes.
const OFTEN: Duration = Duration::from_millis(200);

/// Watch on the entries of folders, not on what is below them. Where the system reports no changes, or no more folders can be
/// watched, anything counts as changed after each interval.
#[derive(Debug)]
pub struct FolderWatch {
    reports: Option<OwnedFd>,
    writes: ReportedWrites,
    interval: Duration,
}

/// Writes into files that a watch reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedWrites {
    /// Each one, also into a file that stays open.
    Each,
    /// Those of a file that is closed after them.
    Closed,
}

/// Folder of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderId(i32);

/// Change in a watched folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderChange {
    /// An entry was created, written, renamed or removed.
    Entry { folder: FolderId, name: String, is_new_folder: bool },
    /// The folder was removed or renamed.
    Gone(FolderId),
    /// The reports of some changes are lost: anything may have changed.
    Lost,
}

/// End of a wait that comes before a change.
#[derive(Clone, Copy, Debug)]
pub enum WaitStop<'f> {
    /// Something can be read here, or all writers are gone.
    Readable(BorrowedFd<'f>),
    /// The reader of this output is gone.
    Unread(BorrowedFd<'f>),
}

/// Reason for the end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// Something has changed, or may have.
    Changed,
    /// The time is over.
    TimedOut,
    /// The stop has come.
    Stopped,
}

impl FolderWatch {
    /// Watches nothing yet.
    pub fn new(writes: ReportedWrites, interval: Duration) -> FolderWatch {
        FolderWatch { reports: reports::open(), writes, interval }
    }

    /// Watches these folders or files, which must exist.
    pub fn of(paths: &[&Path]) -> FolderWatch {
        let mut watch = FolderWatch::new(ReportedWrites::Each, OFTEN);
        let are_watched = paths.iter().all(|path| watch.add(path).is_some());
        watch.reports = watch.reports.filter(|_| are_watched);
        watch
    }

    /// Also watches this folder. `None` if it cannot be opened, or nothing is reported.
    pub fn add(&mut self, folder: &Path) -> Option<FolderId> {
        match reports::add(self.reports.as_ref()?, folder, self.writes) {
            Ok(id) => id,
            Err(_) => {
                self.reports = None;
                None
            }
        }
    }

    /// Also watches this open folder.
    pub fn add_open(&mut self, folder: BorrowedFd<'_>) -> Option<FolderId> {
        let added = self.add(&reports::path_of(folder));
        self.reports = self.reports.take().filter(|_| added.is_some());
        added
    }

    /// Waits for a change, no longer than this.
    pub fn wait(&mut self, stop: Option<WaitStop<'_>>, longest: Option<Duration>) -> WaitEnd {
        let is_blind = self.reports.is_none();
        let longest =
            if is_blind { Some(longest.unwrap_or(self.interval).min(self.interval)) } else { longest };
        let longest = longest.and_then(|longest| Timespec::try_from(longest).ok());
        let mut waited: Vec<PollFd<'_>> = stop.iter().map(WaitStop::polled).collect();
        waited.extend(self.reports.iter().map(|reports| PollFd::new(reports, PollFlags::IN)));
        match poll(&mut waited, longest.as_ref()) {
            Ok(0) if !is_blind => WaitEnd::TimedOut,
            Ok(1..) if stop.is_some() && !waited[0].revents().is_empty() => WaitEnd::Stopped,
            // After an interruption the caller looks, and waits again.
            Ok(_) | Err(rustix::io::Errno::INTR) => WaitEnd::Changed,
            Err(_) => {
                self.reports = None;
                WaitEnd::Changed
            }
        }
    }

    /// Takes the changes since the last call.
    pub fn take(&mut self) -> Vec<FolderChange> {
        match self.reports.as_ref().map(reports::take) {
            Some(Ok(changes)) => changes,
            Some(Err(_)) | None => {
                self.reports = None;
                vec![FolderChange::Lost]
            }
        }
    }

    /// Takes changes until none has come for a while (`quiet`), or for the longest time.
    pub fn take_until_quiet(&mut self, quiet: Duration, longest: Duration) -> Vec<FolderChange> {
        let begun = Instant::now();
        let mut changes = self.take();
        while self.reports.is_some()
            && begun.elapsed() < longest
            && self.wait(None, Some(quiet)) == WaitEnd::Changed
        {
            changes.extend(self.take());
        }
        changes
    }

    /// Waits until something has changed, or may have, and no longer than this. What it was is discarded.
    pub fn wait_for_any(&mut self, longest: Duration) {
        self.wait(None, Some(longest));
        drop(self.take());
    }
}

impl WaitStop<'_> {
    fn polled(&self) -> PollFd<'_> {
        match self {
            WaitStop::Readable(file) => PollFd::from_borrowed_fd(*file, PollFlags::IN),
            // The system reports an error or a hangup unasked.
            WaitStop::Unread(file) => PollFd::from_borrowed_fd(*file, PollFlags::empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::pipe;
    use std::os::fd::AsFd;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const SOON: Duration = Duration::from_millis(1);

    fn watch(folder: &Path) -> (FolderWatch, FolderId) {
        let mut watch = FolderWatch::new(ReportedWrites::Closed, HOUR);
        let id = watch.add(folder).unwrap();
        (watch, id)
    }

    #[test]
    fn it_wakes_up_for_a_change_and_else_when_the_time_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut watch = FolderWatch::of(&[folder.path()]);
        let begun = Instant::now();
        watch.wait_for_any(SOON);
        fs::write(folder.path().join("a"), "x").unwrap();
        watch.wait_for_any(HOUR);
        assert!(begun.elapsed() < HOUR);
    }

    #[test]
    fn a_closed_pipe_stops_a_wait() {
        let folder = tempfile::tempdir().unwrap();
        let opened = fs::File::open(folder.path()).unwrap();
        let (reader, writer) = pipe().unwrap();
        let mut watch = FolderWatch::new(ReportedWrites::Closed, HOUR);
        assert!(watch.add_open(opened.as_fd()).is_some());
        fs::write(folder.path().join("a"), "").unwrap();
        let stop = || Some(WaitStop::Readable(reader.as_fd()));
        assert_eq!(watch.wait(stop(), Some(HOUR)), WaitEnd::Changed);
        drop(watch.take());
        assert_eq!(watch.wait(stop(), Some(SOON)), WaitEnd::TimedOut);
        drop(writer);
        assert_eq!(watch.wait(stop(), Some(HOUR)), WaitEnd::Stopped);
    }

    #[test]
    fn an_output_without_a_reader_stops_a_wait() {
        let folder = tempfile::tempdir().unwrap();
        let (mut watch, _) = watch(folder.path());
        let (reader, writer) = pipe().unwrap();
        let stop = || Some(WaitStop::Unread(writer.as_fd()));
        assert_eq!(watch.wait(stop(), Some(SOON)), WaitEnd::TimedOut);
        drop(reader);
        assert_eq!(watch.wait(stop(), Some(HOUR)), WaitEnd::Stopped);
    }

    #[test]
    fn changes_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let (mut watch, outer) = watch(folder.path());
        let inside = watch.add(&inner).unwrap();
        let entry = |name: &str, is_new_folder| FolderChange::Entry {
            folder: outer,
            name: name.to_owned(),
            is_new_folder,
        };
        fs::create_dir(folder.path().join("new")).unwrap();
        assert_eq!(watch.take(), [entry("new", true)]);
        fs::remove_dir(&inner).unwrap();
        let removed = watch.take();
        assert!(removed.contains(&entry("inner", false)), "{removed:?}");
        assert!(removed.contains(&FolderChange::Gone(inside)), "{removed:?}");
        assert_eq!(watch.take(), []);
    }

    #[test]
    fn a_folder_that_is_not_there_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let (mut watch, _) = watch(folder.path());
        assert_eq!(watch.add(&folder.path().join("missing")), None);
        assert_eq!(watch.wait(None, Some(SOON)), WaitEnd::TimedOut, "it still watches the other one");
    }

    #[test]
    fn without_reports_anything_may_have_changed() {
        let mut watch = FolderWatch { reports: None, writes: ReportedWrites::Each, interval: SOON };
        assert_eq!(watch.add(Path::new("/")), None);
        assert_eq!(watch.wait(None, None), WaitEnd::Changed);
        assert_eq!(watch.take_until_quiet(HOUR, HOUR), [FolderChange::Lost]);
    }
}
