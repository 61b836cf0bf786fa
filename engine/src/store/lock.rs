//! Advisory locks: one holder at a time, who signs the lock; the kernel releases it when the holder dies.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::marker::PhantomData;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::store::Home;
use crate::{Error, ErrorKind, Result};
use orange_api::Unfit;
use orange_system::{clock, fault, nofollow};

/// The longest signature that is read.
const LONGEST_SIGNATURE: u64 = 4096;

/// Resources that locks protect, in the order in which a process may take the locks. It may hold one of each kind: it never holds
/// the locks of two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockRank {
    /// The work of the monitor, for as long as it runs.
    Monitor,
    /// The taken issues of a project, while the forge is asked and tasks are made.
    Intake,
    /// The slots of a project's schedules, while missions are started.
    Schedule,
    /// The waiting tasks of a project, while the next one is chosen and started.
    Queue,
    /// A project's folder of tasks, while a task is created there.
    Project,
    /// The program that a gate of a task asks, while it runs.
    Program,
    /// The messages about a mission, while one is sent.
    Notices,
    Task,
    /// The pool of worktrees.
    Pool,
    /// A project's default branch, while a task is merged into it.
    Merge,
    /// The private repository of a task's agents, while their commits are taken over.
    Import,
    /// The list of projects. It is the last, so that its holder never waits.
    Projects,
}

/// A held lock, which is released on drop. It stays in its thread, whose order of locks is checked.
#[derive(Debug)]
pub struct Lock {
    file: File,
    _turn: LockTurn,
}

/// Locks this file, and waits as long as the home's patience. `what` names the protected thing in messages.
///
/// A lock is never taken from a living holder, however old it is. When the wait ends, the `locked` error names the holder.
///
/// # Panics
/// In builds with debug assertions, when the thread holds a lock of this rank or a later one: two threads that take locks
/// in different orders could wait for each other.
pub fn acquire(home: &Home, path: &Path, rank: LockRank, what: &str) -> Result<Lock> {
    const LONGEST_NAP: Duration = Duration::from_millis(20);
    let turn = LockTurn::take(rank);
    // An endless patience exceeds what a clock can count.
    let deadline = Instant::now().checked_add(home.patience());
    let mut nap = Duration::from_millis(1);
    loop {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) if is_still_there(&file, path) => {
                return Lock { file, _turn: turn }.sign(path, home.command());
            }
            // The folder was moved or created again while this process waited, so the lock protects nothing.
            Ok(()) => continue,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(cause)) => return Err(Error::io("lock", path, &cause)),
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(held(file, what, home.patience()));
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(LONGEST_NAP);
    }
}

/// Locks this file without waiting; `None` if another process holds it.
///
/// # Panics
/// As [`acquire`].
pub fn acquire_at_once(home: &Home, path: &Path, rank: LockRank) -> Result<Option<Lock>> {
    let turn = LockTurn::take(rank);
    loop {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) if is_still_there(&file, path) => {
                return Lock { file, _turn: turn }.sign(path, home.command()).map(Some);
            }
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(Error::io("lock", path, &cause)),
        }
    }
}

/// The holder of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHolder {
    pub pid: i32,
    /// Since when it holds the lock, RFC 3339 UTC.
    pub since: String,
    /// A description with its command and since when it holds the lock.
    pub description: String,
}

/// The holder of this lock, if it has held it for longer than `patience` by the clock; `None` if there is no such file. After
/// the clock was set back, no time can be compared.
pub fn held_longer(path: &Path, patience: Duration) -> Option<LockHolder> {
    holder(path, patience).ok().flatten()
}

/// The holder of this lock, if it has held it for longer than `patience`; `None` if there is no such file, and an error
/// if it cannot be opened.
pub fn holder(path: &Path, patience: Duration) -> std::io::Result<Option<LockHolder>> {
    match nofollow::open(path, OFlags::RDONLY) {
        Ok(file) => Ok(holder_in(file, patience)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(cause),
    }
}

/// True if no process holds this lock at this moment.
pub fn is_free(path: &Path) -> bool {
    match nofollow::open(path, OFlags::RDONLY) {
        Ok(file) => file.try_lock_shared().is_ok(),
        Err(cause) => cause.kind() == io::ErrorKind::NotFound,
    }
}

fn holder_in(mut file: File, patience: Duration) -> Option<LockHolder> {
    if !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return None;
    }
    let (pid, since, description) = signed(&mut file)?;
    let then = fault::now().checked_sub(patience)?;
    (patience.is_zero() || since < clock::rfc3339(then)).then_some(LockHolder { pid, since, description })
}

impl Lock {
    /// Writes down the holder, for processes that wait.
    fn sign(mut self, path: &Path, command: &str) -> Result<Lock> {
        fault::step("hold", path.display());
        let signature = format!("{}\n{}\n{command}\n", std::process::id(), clock::now());
        let signed = self.file.set_len(0).and_then(|()| self.file.write_all(signature.as_bytes()));
        signed.map_err(|cause| Error::io("write", path, &cause))?;
        Ok(self)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        fault::step("release", "a lock");
        // Closing the file releases the lock; the signature is removed so that nobody sees a former holder.
        self.file.set_len(0).unwrap_or_default();
    }
}

/// Registers the ranks that a thread holds, in builds with debug assertions.
#[derive(Debug)]
struct LockTurn {
    #[cfg(debug_assertions)]
    rank: LockRank,
    /// Prevents the lock from being sent to another thread.
    _thread: PhantomData<*const ()>,
}

#[cfg(debug_assertions)]
mod order {
    use std::cell::RefCell;
    use std::marker::PhantomData;

    use super::{LockRank, LockTurn};

    thread_local! {
        static RANKS: RefCell<Vec<LockRank>> = const { RefCell::new(Vec::new()) };
    }

    impl LockTurn {
        pub(super) fn take(rank: LockRank) -> LockTurn {
            RANKS.with_borrow_mut(|ranks| {
                assert!(
                    ranks.iter().all(|held| *held < rank),
                    "the lock of a {rank:?} is taken while those of {ranks:?} are held"
                );
                ranks.push(rank);
            });
            LockTurn { rank, _thread: PhantomData }
        }
    }

    impl Drop for LockTurn {
        fn drop(&mut self) {
            RANKS.with_borrow_mut(|ranks| ranks.retain(|held| *held != self.rank));
        }
    }
}

#[cfg(not(debug_assertions))]
impl LockTurn {
    fn take(_: LockRank) -> LockTurn {
        LockTurn { _thread: PhantomData }
    }
}

fn open(path: &Path) -> Result<File> {
    nofollow::open(path, OFlags::RDWR | OFlags::CREATE).map_err(|cause| {
        if cause.kind() == io::ErrorKind::NotFound {
            return Error::new(
                ErrorKind::NotFound,
                format!("{} is gone", path.parent().unwrap_or(path).display()),
            );
        }
        let error = Error::io("open", path, &cause);
        if Unfit::of(&cause).is_some() { error } else { error.help("make it writable for you") }
    })
}

fn is_still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

fn held(mut file: File, what: &str, patience: Duration) -> Error {
    let holder = signed(&mut file).map_or_else(|| "another process".to_owned(), |(.., holder)| holder);
    Error::new(ErrorKind::Locked, format!("{what} is locked by {holder}; waited {patience:?}"))
        .help("wait until it is done and try again; if it hangs, end that process: its lock goes with it")
}

/// The process that holds the lock, since when, and a description.
fn signed(file: &mut File) -> Option<(i32, String, String)> {
    let mut signature = String::new();
    file.rewind().and_then(|()| file.take(LONGEST_SIGNATURE).read_to_string(&mut signature)).ok()?;
    let mut lines = signature.lines();
    let (pid, since, command) = (lines.next()?, lines.next()?, lines.next()?);
    Some((pid.parse().ok()?, since.to_owned(), format!("process {pid} (`{command}`) since {since}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{home, task};
    use crate::store::{LockedWorkItem, Pool};

    #[track_caller]
    fn check(first: LockRank, second: LockRank, fits: bool) {
        let (_folder, home) = home();
        home.prepare().unwrap();
        let both = || {
            let [one, other] = ["a", "b"].map(|name| home.root().join(name));
            let _first = acquire(&home, &one, first, "one").unwrap();
            let _second = acquire(&home, &other, second, "the other").unwrap();
        };
        let taken = std::thread::scope(|scope| scope.spawn(both).join());
        assert_eq!(taken.is_ok(), fits || cfg!(not(debug_assertions)));
    }

    #[test]
    fn locks_are_taken_in_one_order() {
        let ranks = [LockRank::Project, LockRank::Task, LockRank::Pool, LockRank::Merge, LockRank::Projects];
        for (one, first) in ranks.into_iter().enumerate() {
            for (other, second) in ranks.into_iter().enumerate() {
                check(first, second, one < other);
            }
        }
    }

    #[test]
    fn a_patience_without_end_is_one() {
        let (_folder, home) = home();
        let home = home.patient(Duration::MAX);
        home.prepare().unwrap();
        let path = home.root().join("a");
        let lock = acquire(&home, &path, LockRank::Task, "it").unwrap();
        assert_eq!(held_longer(&path, home.patience()), None);
        drop(lock);
    }

    #[test]
    fn a_lock_that_was_taken_before_the_clock_was_set_back_is_held() {
        let (_folder, home) = home();
        home.prepare().unwrap();
        let path = home.root().join("a");
        let lock = acquire(&home, &path, LockRank::Task, "it").unwrap();
        let held = |patience| held_longer(&path, patience).map(|holder| holder.pid);
        for year in ["2001", "2999"] {
            let signature = format!("7\n{year}-01-01T00:00:00.000Z\norange\n");
            std::fs::write(&path, signature).unwrap();
            assert_eq!(held(Duration::ZERO), Some(7), "{year}");
            assert_eq!(held(home.patience()), (year == "2001").then_some(7), "{year}");
        }
        drop(lock);
        assert_eq!(held(Duration::ZERO), None);
    }

    #[test]
    fn a_lock_that_is_released_may_be_taken_again() {
        let (_folder, home) = home();
        let dir = task(&home, "fix").dir().clone();
        drop(Pool::lock(&home).unwrap());
        let locked = LockedWorkItem::lock(&home, &dir).unwrap();
        drop(Pool::lock(&home).unwrap());
        drop(locked);
        drop(task(&home, "other"));
    }
}
