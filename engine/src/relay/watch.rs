//! Waits until something changes in a folder, or a pipe is closed.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Notices when an entry is added to one of its folders. Without the system's help, it assumes so at short intervals.
#[derive(Debug)]
pub(super) struct RequestWatch {
    #[cfg(target_os = "linux")]
    notify: Option<std::os::fd::OwnedFd>,
}

/// The interval with the system's help, since its reports can be lost.
const SELDOM: Duration = Duration::from_secs(5);

/// The interval without it.
const OFTEN: Duration = Duration::from_millis(20);

impl RequestWatch {
    /// Watches nothing yet.
    pub(super) fn new() -> RequestWatch {
        RequestWatch {
            #[cfg(target_os = "linux")]
            notify: rustix::fs::inotify::init(
                rustix::fs::inotify::CreateFlags::NONBLOCK | rustix::fs::inotify::CreateFlags::CLOEXEC,
            )
            .ok(),
        }
    }

    /// Also watches this folder.
    pub(super) fn add(&mut self, folder: BorrowedFd<'_>) {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;

            use rustix::fs::inotify::WatchFlags;

            let changes = WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::CREATE
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::DELETE
                | WatchFlags::MOVE_SELF
                | WatchFlags::DELETE_SELF
                | WatchFlags::ONLYDIR;
            let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
            self.notify = self
                .notify
                .take()
                .filter(|notify| rustix::fs::inotify::add_watch(notify, path, changes).is_ok());
        }
        #[cfg(not(target_os = "linux"))]
        let _ = folder;
    }

    /// Waits until something has changed, or may have. False once the pipe is closed.
    pub(super) fn wait(&self, pipe: BorrowedFd<'_>) -> bool {
        let mut waited = vec![PollFd::from_borrowed_fd(pipe, PollFlags::IN)];
        let notify = self.notify();
        waited.extend(notify.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let patience = if notify.is_some() { SELDOM } else { OFTEN };
        let patience = Timespec::try_from(patience).ok();
        // After an interruption the caller looks, and waits again.
        let changed = poll(&mut waited, patience.as_ref()).unwrap_or_default();
        let is_open = changed == 0 || waited[0].revents().is_empty();
        self.forget();
        is_open
    }

    fn notify(&self) -> Option<BorrowedFd<'_>> {
        #[cfg(target_os = "linux")]
        return self.notify.as_ref().map(AsFd::as_fd);
        #[cfg(not(target_os = "linux"))]
        return None;
    }

    /// Discards the system's reports: the caller looks itself.
    fn forget(&self) {
        let mut buffer = [0; 4096];
        let read = |buffer: &mut [u8]| self.notify().map(|fd| rustix::io::read(fd, buffer));
        while matches!(read(&mut buffer), Some(Ok(1..))) {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::pipe;

    use super::super::folder::open_worktree;
    use super::*;

    #[test]
    fn a_watch_wakes_up_for_new_files_and_a_closed_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let opened = open_worktree(folder.path()).unwrap();
        let (reader, writer) = pipe().unwrap();
        let mut watch = RequestWatch::new();
        watch.add(opened.as_fd());
        fs::write(folder.path().join("a"), "").unwrap();
        assert!(watch.wait(reader.as_fd()));
        drop(writer);
        assert!(!watch.wait(reader.as_fd()));
    }
}
