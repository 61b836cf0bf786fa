//! Waits until something in a folder changes.

use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Notices when a file in one of its folders is created, written or renamed. Without the system's help, it assumes so at short
/// intervals.
#[derive(Debug)]
pub struct FolderWatch {
    #[cfg(target_os = "linux")]
    notify: Option<std::os::fd::OwnedFd>,
}

/// The interval without the system's help.
const OFTEN: Duration = Duration::from_millis(200);

impl FolderWatch {
    /// Watches these folders, which must exist.
    pub fn of(folders: &[&Path]) -> FolderWatch {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

            let changes = WatchFlags::CREATE | WatchFlags::MODIFY | WatchFlags::MOVED_TO;
            let notify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
            let watches = |notify: &std::os::fd::OwnedFd| {
                folders.iter().all(|folder| add_watch(notify, *folder, changes).is_ok())
            };
            FolderWatch { notify: notify.filter(watches) }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = folders;
            FolderWatch {}
        }
    }

    /// Waits until something has changed, or may have, and no longer than this.
    pub fn wait(&self, longest: Duration) {
        #[cfg(target_os = "linux")]
        if let Some(notify) = &self.notify {
            let longest = Timespec::try_from(longest).ok();
            let mut waited = [PollFd::new(notify, PollFlags::IN)];
            // After an interruption the caller looks, and waits again.
            poll(&mut waited, longest.as_ref()).unwrap_or_default();
            let mut buffer = [0; 4096];
            while matches!(rustix::io::read(notify, &mut buffer), Ok(1..)) {}
            return;
        }
        std::thread::sleep(longest.min(OFTEN));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;

    #[test]
    fn it_wakes_up_for_a_change_and_else_when_the_time_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let changes = FolderWatch::of(&[folder.path()]);
        let begun = Instant::now();
        changes.wait(Duration::from_millis(1));
        fs::write(folder.path().join("a"), "x").unwrap();
        changes.wait(Duration::from_secs(3600));
        assert!(begun.elapsed() < Duration::from_secs(3000));
    }
}
