//! Journals that are read on while they grow.

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use rustix::fs::OFlags;

use crate::store::event::Record;
use crate::store::{TaskDir, journal};
use crate::{Error, Result, nofollow};

/// A journal, and how far it has been read.
#[derive(Debug)]
pub struct Follow {
    dir: TaskDir,
    read: u64,
}

impl Follow {
    /// From the beginning on.
    pub fn from_start(dir: TaskDir) -> Follow {
        Follow { dir, read: 0 }
    }

    /// From now on.
    ///
    /// # Errors
    /// Those of [`Follow::more`].
    pub fn from_now(dir: TaskDir) -> Result<Follow> {
        let mut follow = Follow::from_start(dir);
        follow.more()?;
        Ok(follow)
    }

    /// The records that came since it was last read; `None` when there is no such task any more. A line that is being
    /// written waits for the next time.
    ///
    /// # Errors
    /// `corrupt`; `environment`. What could not be understood is not read again.
    pub fn more(&mut self) -> Result<Option<Vec<Record>>> {
        let path = self.dir.history();
        let unreadable = |cause: std::io::Error| Error::io("read", &path, &cause);
        let mut file = match nofollow::open(&path, OFlags::RDONLY) {
            Ok(file) => file,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(unreadable(cause)),
        };
        let length = file.metadata().map_err(unreadable)?.len();
        if length <= self.read {
            self.read = length;
            return Ok(Some(Vec::new()));
        }
        let mut new = Vec::new();
        file.seek(SeekFrom::Start(self.read)).map_err(unreadable)?;
        file.take(journal::LONGEST).read_to_end(&mut new).map_err(unreadable)?;
        new.truncate(new.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1));
        self.read += new.len() as u64;
        Ok(Some(journal::parse(&new, &path)?.records))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;
    use crate::store::{Event, LockedTask, Set, tests};

    #[test]
    fn what_is_new_is_read_once() {
        let (_folder, home) = tests::home();
        let mut locked: LockedTask = tests::task(&home, "fix");
        let mut follow = Follow::from_now(locked.dir().clone()).unwrap();
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
