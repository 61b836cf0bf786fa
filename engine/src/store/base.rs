//! The last text that the worktree's copy of `TASK.md` and the store's had in common: the base of their merge.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use orange_core::fnv1a;

use crate::store::WorkItemDir;
use crate::{Error, Result};
use orange_system::regular::{self, PathEntry};
use orange_system::{atomic, clock};

/// The text, and what distinguishes an older version of the copy from a newer one after a power cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyBase {
    /// The copy at that time, byte for byte.
    pub text: String,
    /// Time at which the copy was written, in nanoseconds.
    saved: u128,
    /// The boot id of the system.
    boot: String,
}

impl CopyBase {
    /// The recorded base; `None` without a record, or if a power cut left it incomplete.
    pub fn read(dir: &WorkItemDir) -> Result<Option<CopyBase>> {
        if let Some((next, merged)) = record(&dir.next_base())?
            && fingerprint(&contents(&dir.task_md())?) == merged
        {
            // The process that merged this was killed before it could record that.
            return Ok(Some(next));
        }
        Ok(record(&dir.base())?.map(|(base, _)| base))
    }

    /// The base for a copy that was saved at this time with this text.
    pub(crate) fn of(text: String, saved: SystemTime) -> CopyBase {
        CopyBase { text, saved: nanoseconds(saved), boot: clock::boot() }
    }

    /// Records that the copy at this path has this text, all of which is in the store. It does not wait for the disk:
    /// [`CopyBase::read`] and [`CopyBase::is_older`] detect what a power cut loses.
    pub fn write(dir: &WorkItemDir, text: &str, copy: &Path) -> Result<()> {
        put(&dir.base(), text, copy, 0)?;
        atomic::remove(&dir.next_base())
    }

    /// Records that the store has all of this text as soon as its own is `merged`.
    pub fn announce(dir: &WorkItemDir, text: &str, copy: &Path, merged: &str) -> Result<()> {
        put(&dir.next_base(), text, copy, fingerprint(merged))
    }

    /// Removes the records.
    pub fn forget(dir: &WorkItemDir) -> Result<()> {
        atomic::remove(&dir.next_base())?;
        atomic::remove(&dir.base())
    }

    /// True if a copy that was saved at this time is an older version, which a power cut brought back.
    pub fn is_older(&self, saved: SystemTime) -> bool {
        let boot = clock::boot();
        // Where it is not known, nothing shows that there was a power cut.
        let is_known = !boot.is_empty() && !self.boot.is_empty();
        nanoseconds(saved) <= self.saved && is_known && self.boot != boot
    }
}

/// A record and the fingerprint in it.
fn record(path: &Path) -> Result<Option<(CopyBase, u64)>> {
    Ok(String::from_utf8(contents(path)?).ok().and_then(|record| parse(&record)))
}

fn contents(path: &Path) -> Result<Vec<u8>> {
    match regular::read(path).map_err(|cause| Error::io("read", path, &cause))? {
        PathEntry::File(bytes, _) => Ok(bytes),
        PathEntry::Nothing | PathEntry::Link | PathEntry::TooLong | PathEntry::Other => Ok(Vec::new()),
    }
}

fn put(path: &Path, text: &str, copy: &Path, merged: u64) -> Result<()> {
    // The copy may just have been removed.
    let saved = fs::symlink_metadata(copy).and_then(|found| found.modified()).unwrap_or(SystemTime::now());
    let (boot, saved, length) = (clock::boot(), nanoseconds(saved), text.len());
    let hash = fnv1a(text.bytes());
    let record = format!("{boot} {saved} {length} {hash:016x} {merged:016x}\n{text}");
    atomic::write_unsynced(path, record.as_bytes())
}

fn parse(record: &str) -> Option<(CopyBase, u64)> {
    let (head, text) = record.split_once('\n')?;
    let mut words = head.split(' ');
    let (boot, saved) = (words.next()?, words.next()?.parse().ok()?);
    let length: usize = words.next()?.parse().ok()?;
    let mut hash = || u64::from_str_radix(words.next()?, 16).ok();
    let is_whole = text.len() == length && fnv1a(text.bytes()) == hash()?;
    let base = CopyBase { text: text.to_owned(), saved, boot: boot.to_owned() };
    is_whole.then_some((base, hash()?))
}

/// A hash of a text of the store that ignores the time of its last change.
fn fingerprint(text: &(impl AsRef<[u8]> + ?Sized)) -> u64 {
    let lines = text.as_ref().split(|byte| *byte == b'\n');
    fnv1a(lines.filter(|line| !line.starts_with(b"updated_at:")).flatten().copied())
}

fn nanoseconds(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}
