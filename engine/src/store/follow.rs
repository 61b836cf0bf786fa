//! A reader of journals that grow.

use orange_journal::follow;
use rustix::fs::OFlags;

use crate::Result;
use crate::store::{Record, WorkItemDir, journal};
use orange_system::files::if_found;
use orange_system::nofollow;

/// A journal, and how far it has been read.
#[derive(Debug)]
pub struct FollowedJournal {
    dir: WorkItemDir,
    read: follow::Follow,
}

impl FollowedJournal {
    /// From the beginning on.
    pub fn from_start(dir: WorkItemDir) -> FollowedJournal {
        FollowedJournal { dir, read: follow::Follow::default() }
    }

    pub fn from_now(dir: WorkItemDir) -> Result<FollowedJournal> {
        let mut follow = FollowedJournal::from_start(dir);
        follow.more()?;
        Ok(follow)
    }

    /// The records since the last call; `None` if the task no longer exists. A later call reads a line that is incomplete.
    pub fn more(&mut self) -> Result<Option<Vec<Record>>> {
        let path = self.dir.history();
        let file = if_found(&path, nofollow::open(&path, OFlags::RDONLY))?;
        let more = file.map(|mut file| self.read.more(&mut file));
        more.transpose().map_err(|cause| journal::misread(&path, &cause))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;
    use crate::store::{Event, LockedWorkItem, Set, tests};

    #[test]
    fn what_is_new_is_read_once() {
        let (_folder, home) = tests::home();
        let mut locked: LockedWorkItem = tests::task(&home, "fix");
        let mut follow = FollowedJournal::from_now(locked.dir().clone()).unwrap();
        assert_eq!(follow.more().unwrap().unwrap(), []);
        locked.append(Event::Unknown, Set::new().status("b")).unwrap();
        locked.append(Event::Unknown, Set::new().status("c")).unwrap();
        let statuses: Vec<_> = follow
            .more()
            .unwrap()
            .unwrap()
            .into_iter()
            .map(|record| record.set.0["status"].clone())
            .collect();
        assert_eq!(statuses, ["b", "c"]);
        assert_eq!(follow.more().unwrap().unwrap(), []);

        let mut file = OpenOptions::new().append(true).open(locked.dir().history()).unwrap();
        file.write_all(b"{\"seq\":9,\"timestamp\":\"t\",").unwrap();
        assert_eq!(follow.more().unwrap().unwrap(), []);
        file.write_all(b"\"type\":\"x\"}\n").unwrap();
        assert_eq!(follow.more().unwrap().unwrap()[0].seq, 9);

        file.write_all(b"nonsense\nnonsense\n").unwrap();
        assert!(follow.more().is_err());
        assert_eq!(follow.more().unwrap().unwrap(), []);
        std::fs::remove_file(locked.dir().history()).unwrap();
        assert_eq!(follow.more().unwrap(), None);
    }
}
