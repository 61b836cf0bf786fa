//! The list of idle tasks: what their journals and texts said, and that no process has locked one of them since.
//!
//! A reader believes the list without looking at the tasks' files. Its proof is a second file, which has the same epoch. A writer
//! names a task there before it changes its first byte, and a reader believes nothing about such a task. Who writes the list begins
//! a new epoch first, and lists only tasks whose locks are free after that: a writer that took a lock before has finished, and one
//! that takes it later finds the file of the new epoch. An epoch ends with the boot of the system, since a power cut may undo the
//! one write and not the other.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::OFlags;

use crate::store::index::facts::{owned_of, set_of};
use crate::store::index::{AskedTasks, FEW, JournalFacts, TextFacts, facts, head_of};
use crate::store::{Home, Owned, WorkItemDir, WorkItemHistory, id, lock};
use crate::{Error, Result};
use orange_system::many::in_order;
use orange_system::{atomic, clock, fault, nofollow};

/// The list.
pub const IDLE: &str = ".idle.index";

/// The tasks of its epoch that are to be believed no longer.
pub const CHANGED: &str = ".idle.changed";

/// The list of one folder of tasks or missions, sorted by the numbers of their folders.
#[derive(Debug)]
pub struct IdleTasks {
    text: String,
    /// The different values that their journals have.
    pub owned: Vec<Arc<Owned>>,
    lines: Vec<IdleLine>,
    changed: BTreeSet<String>,
}

#[derive(Debug)]
struct IdleLine {
    inode: u64,
    /// The place of its values.
    owned: usize,
    id: Range<usize>,
    /// The place of what follows.
    rest: Range<usize>,
}

/// An idle task in a list.
#[derive(Clone, Copy, Debug)]
pub struct IdleTask<'l> {
    /// The place of its values in the list.
    pub owned: usize,
    /// The time of its last change of status.
    pub since: &'l str,
    pub branch: &'l str,
}

impl IdleTasks {
    /// The list of this folder; `None` if nothing proves that it still holds.
    pub fn read(folder: &Path) -> Option<IdleTasks> {
        let read = |name| String::from_utf8(nofollow::read(&folder.join(name), nofollow::LONGEST).ok()?).ok();
        // The list comes first: a writer that changes a task after that is in the other file, or has begun after this reader.
        let text = read(IDLE)?;
        let changed = read(CHANGED)?;
        let (head, body) = text.split_once('\n').filter(|(head, body)| *head == head_of(body))?;
        let (epoch, _) = body.split_once('\n')?;
        let (this_epoch, changed) = changed.split_once('\n')?;
        let boot = clock::boot();
        if epoch != this_epoch || boot.is_empty() || !epoch.starts_with(&boot) {
            return None;
        }
        let changed = changed.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let lines = Vec::with_capacity(body.len() / 64);
        let mut list = IdleTasks { lines, owned: Vec::new(), changed, text: String::new() };
        let mut start = head.len() + 1 + epoch.len() + 1;
        for line in text[start..].lines() {
            match line.strip_prefix('=') {
                Some(set) => list.owned.push(Arc::new(owned_of(set)?)),
                None => list.lines.push(IdleLine::parse(line, start, list.owned.len())?),
            }
            start += line.len() + 1;
        }
        let is_sorted = list.lines.is_sorted_by(|one, other| one.inode < other.inode);
        list.text = text;
        is_sorted.then_some(list)
    }

    /// The idle task with this id whose folder has this number.
    pub fn find(&self, id: &str, inode: u64) -> Option<IdleTask<'_>> {
        let at = self.lines.binary_search_by_key(&inode, |line| line.inode).ok()?;
        let line = &self.lines[at];
        let is_believed = self.text[line.id.clone()] == *id && !self.changed.contains(id);
        let (since, branch) = self.text[line.rest.clone()].split_once('\t').filter(|_| is_believed)?;
        Some(IdleTask { owned: line.owned, since, branch })
    }
}

impl IdleLine {
    /// The places in a line that begins here. A list has thousands, so each letter is looked at once.
    fn parse(line: &str, start: usize, sets: usize) -> Option<IdleLine> {
        let bytes = line.as_bytes();
        let id = bytes.iter().position(|byte| *byte == b'\t')?;
        let (inode, at) = number(bytes, id + 1)?;
        let (owned, at) = number(bytes, at)?;
        let owned = usize::try_from(owned).ok().filter(|owned| *owned < sets)?;
        Some(IdleLine { inode, owned, id: start..start + id, rest: start + at..start + line.len() })
    }
}

/// The number at this place, and the place after the tab behind it.
fn number(bytes: &[u8], from: usize) -> Option<(u64, usize)> {
    let (mut number, mut at) = (0_u64, from);
    loop {
        match *bytes.get(at)? {
            b'\t' => return (at > from).then_some((number, at + 1)),
            digit @ b'0'..=b'9' => number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?,
            _ => return None,
        }
        at += 1;
    }
}

/// Says in the list of a task's folder that the task is going to change, if its journal could be one of an idle task. The caller
/// holds the task's lock, and has changed nothing.
pub fn forget(home: &Home, dir: &WorkItemDir, history: &WorkItemHistory) -> Result<()> {
    let owned = &history.owned;
    let is_busy = history.transition.open.is_some() || !history.agents.alive.is_empty();
    if is_busy || owned.workspace.is_some() || owned.tmux_session.is_some() {
        return Ok(());
    }
    // A deleted task belongs to the folder from which it came.
    let path = home.all(dir.kind).join(&dir.project).join(CHANGED);
    let Ok(named) = nofollow::read(&path, nofollow::LONGEST) else { return end_epoch(&path) };
    if named.split(|byte| *byte == b'\n').skip(1).any(|line| line == dir.id.as_bytes()) {
        return Ok(());
    }
    fault::step("append to", path.display());
    // A kill may have left half a line, which this one must not continue.
    let line = format!("\n{}\n", dir.id);
    let file = nofollow::open(&path, OFlags::WRONLY | OFlags::APPEND);
    match file.and_then(|mut file| file.write_all(line.as_bytes())) {
        Ok(()) => Ok(()),
        Err(_) => end_epoch(&path),
    }
}

/// Ends an epoch: nothing is believed before the list is written again.
pub fn end_epoch(path: &Path) -> Result<()> {
    match nofollow::remove(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path, &cause)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// True if so many idle tasks of all are not in the list that it is worth its writing.
pub fn is_worth_it(missing: usize, all: usize) -> bool {
    missing > FEW + all / 64
}

/// Writes the list of a folder, of these tasks, each with the number of its folder. A list that cannot be written is only not there.
pub fn write(folder: &Path, dirs: &[(WorkItemDir, u64)]) -> Result<()> {
    let boot = clock::boot();
    let inodes: BTreeSet<u64> = dirs.iter().map(|(_, inode)| *inode).collect();
    // Some file systems do not number their folders.
    if boot.is_empty() || inodes.len() < dirs.len() {
        return Ok(());
    }
    let epoch = format!("{boot} {}", id::new()?);
    atomic::write_unsynced(&folder.join(CHANGED), format!("{epoch}\n").as_bytes())?;
    let is_free = in_order(dirs, &|(dir, _), _| lock::is_free(&dir.lock_file()));
    let mut free: Vec<&(WorkItemDir, u64)> =
        dirs.iter().zip(is_free).filter_map(|(dir, is_free)| is_free.then_some(dir)).collect();
    free.sort_unstable_by_key(|(_, inode)| *inode);
    let own: Vec<WorkItemDir> = free.iter().map(|(dir, _)| dir.clone()).collect();
    let journals = facts::<JournalFacts>(&own, AskedTasks::Some);
    let texts = facts::<TextFacts>(&own, AskedTasks::Some);
    let (mut sets, mut lines) = (BTreeMap::new(), String::new());
    for ((dir, inode), (journal, text)) in free.into_iter().zip(journals.into_iter().zip(texts)) {
        let (Some(owned), Some(idle), Some(branch)) = (journal.owned, journal.idle, text.branch) else {
            continue;
        };
        let Ok(set) = serde_json::to_string(&set_of(&owned)) else { continue };
        if branch.contains(char::is_control) || owned_of(&set).as_ref() != Some(&*owned) {
            continue;
        }
        let next = sets.len();
        let at = *sets.entry(set).or_insert(next);
        // Writing to a string cannot fail.
        writeln!(lines, "{}\t{inode}\t{at}\t{}\t{branch}", dir.id, idle.since).unwrap_or_default();
    }
    let mut sets: Vec<(String, usize)> = sets.into_iter().collect();
    sets.sort_unstable_by_key(|(_, at)| *at);
    let sets: String = sets.iter().map(|(set, _)| format!("={set}\n")).collect();
    let body = [&epoch, "\n", &sets, &lines].concat();
    atomic::write_unsynced(&folder.join(IDLE), [&head_of(&body), "\n", &body].concat().as_bytes())
}
