//! The request folder of one spawn, `.orange/<spawn>/` in a worktree, whose contents are not trusted.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::drive::git::REQUEST_FOLDER;
use crate::store::secret;

/// The process that holds this file's lock answers the requests.
const LOCK: &str = "lock";

/// The number of entries that one call reads; further ones wait.
const MOST_ENTRIES: usize = 1024;

/// The age at which unread entries are removed if there are many.
const STALE: Duration = Duration::from_secs(10 * 60);

/// The name of a request, and of all its files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestName(String);

/// The files of a request, each `<name>.<part>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestPart {
    Request,
    /// The request after a process has claimed it.
    Claimed,
    Reply,
    /// A request or a reply that is being written.
    Draft,
}

/// The requests in a folder.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Unclaimed requests.
    pub requests: Vec<RequestName>,
    /// Claimed requests.
    pub claimed: Vec<RequestName>,
}

/// An open request folder, which stays the same when its path changes.
#[derive(Debug)]
pub(super) struct RequestFolder {
    dir: OwnedFd,
}

/// A request folder in which this process answers.
#[derive(Debug)]
pub(super) struct Office {
    pub folder: Arc<RequestFolder>,
    lock: File,
}

/// Opens a folder by its path.
pub(super) fn open_worktree(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

impl RequestFolder {
    /// The folder of this spawn in a worktree, reached without following a link; `NotFound` if there is none.
    pub(super) fn open(worktree: BorrowedFd<'_>, spawn: u32) -> io::Result<RequestFolder> {
        let root = open_folder(worktree, REQUEST_FOLDER)?;
        let dir = open_folder(root.as_fd(), &spawn.to_string())?;
        Ok(RequestFolder { dir })
    }

    /// The folder of this spawn in a worktree, which is created if it is missing.
    pub(super) fn make(worktree: BorrowedFd<'_>, spawn: u32) -> io::Result<RequestFolder> {
        make_folder(worktree, REQUEST_FOLDER)?;
        let root = open_folder(worktree, REQUEST_FOLDER)?;
        let name = spawn.to_string();
        make_folder(root.as_fd(), &name)?;
        match open_folder(root.as_fd(), &name) {
            Ok(dir) => Ok(RequestFolder { dir }),
            // The project may have a file `.orange`; below a folder `.orange`, names of spawns are ours.
            Err(Errno::NOTDIR | Errno::LOOP) => {
                rustix::fs::unlinkat(&root, &name, AtFlags::empty())?;
                make_folder(root.as_fd(), &name)?;
                Ok(RequestFolder { dir: open_folder(root.as_fd(), &name)? })
            }
            Err(cause) => Err(cause.into()),
        }
    }

    /// Starts answering in this folder with this confinement; `None` if another process does.
    pub(super) fn occupy(self, confinement: &str) -> io::Result<Option<Office>> {
        const PAUSE: Duration = Duration::from_millis(1);
        if self.is_answered() {
            return Ok(None);
        }
        // The file is always created: an existing one may be a hard link to another file.
        self.clear(LOCK);
        let mut lock = self.open_regular(LOCK, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        if !lock_beside_askers(&lock, || thread::sleep(PAUSE))? {
            return Ok(None);
        }
        lock.write_all(confinement.as_bytes())?;
        Ok(Some(Office { folder: Arc::new(self), lock }))
    }

    /// True if a process answers in this folder.
    pub(super) fn is_answered(&self) -> bool {
        self.open_regular(LOCK, OFlags::RDONLY)
            .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The confinement of the process that answers; `None` without one.
    pub(super) fn answered_from(&self) -> Option<String> {
        const LONGEST: u64 = 1024;
        let lock = self.open_regular(LOCK, OFlags::RDONLY).ok().filter(|_| self.is_answered())?;
        let mut text = String::new();
        lock.take(LONGEST).read_to_string(&mut text).ok().map(|_| text)
    }

    /// The requests. Foreign entries are removed, and old unread ones if there are many.
    pub(super) fn list(&self) -> io::Result<Listing> {
        const MUCH: usize = 128;
        let mut listing = Listing::default();
        for (number, entry) in Dir::read_from(&self.dir)?.take(MOST_ENTRIES).enumerate() {
            let entry = entry?;
            let name = entry.file_name().to_str().unwrap_or_default();
            match parse(name) {
                Some((name, RequestPart::Request)) => listing.requests.push(name),
                Some((name, RequestPart::Claimed)) => listing.claimed.push(name),
                Some((_, RequestPart::Reply | RequestPart::Draft)) if number > MUCH => self.clear_stale(name),
                Some((_, RequestPart::Reply | RequestPart::Draft)) => {}
                None if [".", "..", LOCK].contains(&name) => {}
                None => self.clear(entry.file_name()),
            }
        }
        Ok(listing)
    }

    /// Claims a request; false if another process has claimed it, or it was withdrawn.
    pub(super) fn claim(&self, name: &RequestName) -> io::Result<bool> {
        match self.rename_new(&name.of(RequestPart::Request), &name.of(RequestPart::Claimed)) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(Errno::EXIST) => {
                self.remove(name, RequestPart::Request);
                Ok(false)
            }
            Err(cause) => Err(cause.into()),
        }
    }

    /// Writes a new file atomically; an existing one stays.
    pub(super) fn create(&self, name: &RequestName, part: RequestPart, contents: &[u8]) -> io::Result<()> {
        let draft = name.of(RequestPart::Draft);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.dir, &draft, flags, Mode::RUSR | Mode::WUSR)?;
        let written = File::from(file).write_all(contents);
        let named = written.and_then(|()| Ok(self.rename_new(&draft, &name.of(part))?));
        if named.is_err() {
            self.remove(name, RequestPart::Draft);
        }
        named
    }

    /// Reads a regular file of at most `longest` bytes.
    pub(super) fn read(&self, name: &RequestName, part: RequestPart, longest: u64) -> io::Result<Vec<u8>> {
        let file = self.open_regular(&name.of(part), OFlags::RDONLY)?;
        let mut contents = Vec::new();
        file.take(longest + 1).read_to_end(&mut contents)?;
        if contents.len() as u64 > longest {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("it has more than {longest} bytes"),
            ));
        }
        Ok(contents)
    }

    /// True if this file exists.
    pub(super) fn has(&self, name: &RequestName, part: RequestPart) -> bool {
        rustix::fs::statat(&self.dir, name.of(part), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Removes a file, and returns whether it existed.
    pub(super) fn remove(&self, name: &RequestName, part: RequestPart) -> bool {
        rustix::fs::unlinkat(&self.dir, name.of(part), AtFlags::empty()).is_ok()
    }

    /// Removes a file or an empty folder, if possible.
    fn clear(&self, name: impl rustix::path::Arg + Copy) {
        let removed = rustix::fs::unlinkat(&self.dir, name, AtFlags::empty());
        removed.or_else(|_| rustix::fs::unlinkat(&self.dir, name, AtFlags::REMOVEDIR)).unwrap_or_default();
    }

    fn clear_stale(&self, name: &str) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let written = rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let written = written.ok().and_then(|found| u64::try_from(found.st_mtime).ok()).unwrap_or_default();
        if written < now.saturating_sub(STALE).as_secs() {
            self.clear(name);
        }
    }

    /// Renames a file unless the new name is taken.
    fn rename_new(&self, from: &str, to: &str) -> rustix::io::Result<()> {
        match rustix::fs::renameat_with(&self.dir, from, &self.dir, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                // Some file systems need two steps. Names are random, so no other process takes this one in between.
                match rustix::fs::statat(&self.dir, to, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST),
                    Err(_) => rustix::fs::renameat(&self.dir, from, &self.dir, to),
                }
            }
            renamed => renamed,
        }
    }

    /// Opens a regular file without following a link or blocking.
    fn open_regular(&self, name: &str, flags: OFlags) -> io::Result<File> {
        match rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => check_regular(found.st_mode)?,
            Err(Errno::NOENT) if flags.contains(OFlags::CREATE) => {}
            Err(cause) => return Err(cause.into()),
        }
        let safe = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.dir, name, flags | safe, Mode::RUSR | Mode::WUSR)?;
        check_regular(rustix::fs::fstat(&file)?.st_mode)?;
        Ok(File::from(file))
    }
}

impl RequestName {
    pub(super) fn random() -> crate::Result<RequestName> {
        secret::new().map(RequestName)
    }

    fn of(&self, part: RequestPart) -> String {
        format!("{}.{}", self.0, part.as_str())
    }
}

impl RequestPart {
    const ALL: [RequestPart; 4] =
        [RequestPart::Request, RequestPart::Claimed, RequestPart::Reply, RequestPart::Draft];

    fn as_str(self) -> &'static str {
        match self {
            RequestPart::Request => "request",
            RequestPart::Claimed => "claimed",
            RequestPart::Reply => "reply",
            RequestPart::Draft => "draft",
        }
    }
}

/// The request and the part that a file name means.
fn parse(name: &str) -> Option<(RequestName, RequestPart)> {
    const DIGITS: usize = 32;
    let (name, part) = name.split_once('.')?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let part = RequestPart::ALL.into_iter().find(|known| known.as_str() == part)?;
    (name.len() == DIGITS && name.bytes().all(is_digit)).then(|| (RequestName(name.to_owned()), part))
}

impl AsFd for RequestFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }
}

impl Office {
    /// True if the folder and its lock are still at their paths.
    pub(super) fn is_in_place(&self, worktree: BorrowedFd<'_>, spawn: u32) -> bool {
        let found = RequestFolder::open(worktree, spawn);
        let lock = |folder: &RequestFolder| folder.open_regular(LOCK, OFlags::RDONLY);
        found.is_ok_and(|found| {
            is_same(&found, &*self.folder) && lock(&found).is_ok_and(|lock| is_same(lock, &self.lock))
        })
    }
}

/// Locks a file that others lock only for a moment, to test whether a folder is answered. False if a process keeps the lock.
fn lock_beside_askers(file: &File, mut pause: impl FnMut()) -> io::Result<bool> {
    const PATIENCE: Duration = Duration::from_secs(2);
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if Instant::now() < until => pause(),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
    }
}

fn open_folder(parent: BorrowedFd<'_>, name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

fn make_folder(parent: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    match rustix::fs::mkdirat(parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

fn check_regular(mode: rustix::fs::RawMode) -> io::Result<()> {
    if FileType::from_raw_mode(mode) == FileType::RegularFile {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"))
}

fn is_same(one: impl AsFd, other: impl AsFd) -> bool {
    match (rustix::fs::fstat(one), rustix::fs::fstat(other)) {
        (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_whether_a_folder_is_answered_keeps_nobody_from_it() {
        let worktree = tempfile::tempdir().unwrap();
        let path = worktree.path().join(LOCK);
        let lock = File::create(&path).unwrap();
        let mut asker = Some(File::open(&path).unwrap());
        asker.as_ref().unwrap().try_lock_shared().unwrap();
        assert!(lock_beside_askers(&lock, || drop(asker.take())).unwrap());
        assert!(asker.is_none(), "the first try has met the one who asks");
    }
}
