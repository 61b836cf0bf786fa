//! Late writes: an editor may write into a `TASK.md` that has just been replaced, through a descriptor that it opened before.
//! The last replaced versions are kept, and what is written into them is carried over.

use std::cmp::Reverse;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use orange_core::fnv1a;

use crate::store::frontmatter::Document;
use crate::{Error, Result};
use orange_system::regular::{self, PathEntry};
use orange_system::{atomic, nofollow};

/// Number of replaced versions that are kept. A transition replaces a few.
const KEPT: usize = 32;

/// Time for which all others are kept, too: a busy machine may stop an editor for long between the opening of a file and its write.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// Number of versions that are kept at most: a loop that writes the file must not fill the disk.
const KEPT_AT_MOST: usize = 512;

const SUFFIX: &str = ".old";

/// A version that was written to after it was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateWrite {
    path: PathBuf,
    body: String,
    base: BodyStamp,
}

/// Length and hash in a replaced version's name: of its body when it was replaced or last carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BodyStamp {
    length: usize,
    hash: u64,
}

/// The name for a replaced version of this file that had this body.
pub fn name(path: &Path, body: &str) -> PathBuf {
    named(path, BodyStamp::of(body))
}

/// Every replaced version of this file that has late writes. A later call finds those that are still being written.
pub fn found(path: &Path) -> Result<Vec<LateWrite>> {
    Ok(formers(path)?
        .iter()
        .filter(|former| former.may_have_changed())
        .filter_map(|it| at(&it.path))
        .collect())
}

/// The late write in this replaced version.
pub fn at(former: &Path) -> Option<LateWrite> {
    let base = former.file_name().and_then(|name| BodyStamp::parse(name.to_str()?))?;
    let PathEntry::File(bytes, _) = regular::read(former).ok()? else { return None };
    let body = body_of(&bytes)?;
    (!base.is_of(&body)).then(|| LateWrite { path: former.to_owned(), body, base })
}

/// The body with all late writes; `None` if it has them already.
pub fn carried(late: &[LateWrite], body: &str) -> Option<String> {
    let mut carried = None;
    for late in late {
        let current = carried.as_deref().unwrap_or(body);
        carried = late.carried_into(current).or(carried);
    }
    carried
}

/// The body with the lines of another one that it lacks; `None` if it lacks none.
fn united(body: &str, other: &str) -> Option<String> {
    let there: Vec<&str> = body.lines().collect();
    let is_missing = |line: &&str| !there.contains(&line.trim_end_matches(['\n', '\r']));
    with(body, &other.split_inclusive('\n').filter(is_missing).collect::<String>())
}

/// Removes all but the last replaced versions and some of the last minute, except those that have a late write. The caller holds
/// the task's lock.
pub fn forget(path: &Path, now: SystemTime) -> Result<()> {
    for (newer, former) in formers(path)?.into_iter().enumerate().skip(KEPT) {
        // A time in the future is from before the clock was set back.
        let age = now.duration_since(former.changed).unwrap_or_else(|ahead| ahead.duration());
        let is_old = age > KEPT_FOR || newer >= KEPT_AT_MOST;
        if is_old && at(&former.path).is_none() {
            // The next call removes what cannot be removed now.
            nofollow::remove(&former.path).unwrap_or_default();
        }
    }
    Ok(())
}

impl LateWrite {
    /// The current body with the late write; `None` if it has that already.
    ///
    /// Appended text is appended. A rewritten text replaces the current body if that is still the one from which it began; if
    /// that has changed too, the lines that it lacks are added to it.
    fn carried_into(&self, current: &str) -> Option<String> {
        match self.base.cut_from(&self.body) {
            Some(appended) => with(current, appended),
            None if self.base.is_of(current) => Some(self.body.clone()),
            None => united(current, &self.body),
        }
    }

    /// Records that it was carried over. A later call finds what is written after that.
    pub fn done(self, path: &Path) -> Result<()> {
        nofollow::rename(&self.path, &named(path, BodyStamp::of(&self.body)))
            .map_err(|cause| Error::io("rename", &self.path, &cause))
    }
}

impl BodyStamp {
    fn of(body: &str) -> BodyStamp {
        BodyStamp { length: body.len(), hash: fnv1a(body.bytes()) }
    }

    fn is_of(self, body: &str) -> bool {
        body.len() == self.length && fnv1a(body.bytes()) == self.hash
    }

    /// The rest of a body that begins with it.
    fn cut_from(self, body: &str) -> Option<&str> {
        let (before, behind) = body.split_at_checked(self.length)?;
        self.is_of(before).then_some(behind)
    }

    /// Parses a name that [`named`] built.
    fn parse(name: &str) -> Option<BodyStamp> {
        let (_, base) = name.strip_suffix(SUFFIX)?.rsplit_once('.')?;
        let mut parts = base.rsplit('-');
        let hash = u64::from_str_radix(parts.next()?, 16).ok()?;
        let length = parts.next()?.parse().ok()?;
        Some(BodyStamp { length, hash })
    }
}

fn named(path: &Path, base: BodyStamp) -> PathBuf {
    let BodyStamp { length, hash } = base;
    let unique = atomic::temporary(path);
    let unique = unique.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{}.{length}-{hash:016x}{SUFFIX}", unique.trim_end_matches(".tmp")))
}

/// A replaced version.
struct Former {
    path: PathBuf,
    written: SystemTime,
    changed: SystemTime,
}

impl Former {
    fn new(path: PathBuf) -> Option<Former> {
        let metadata = path.symlink_metadata().ok()?;
        let written = metadata.modified().ok()?;
        let changed =
            Duration::new(metadata.ctime().try_into().ok()?, metadata.ctime_nsec().try_into().ok()?);
        Some(Former { path, written, changed: SystemTime::UNIX_EPOCH + changed })
    }

    /// True if it may have been written since it has its name: a write changes both times, a rename only the second.
    fn may_have_changed(&self) -> bool {
        self.written >= self.changed
    }
}

/// The replaced versions of a file, the latest first.
fn formers(path: &Path) -> Result<Vec<Former>> {
    let folder = path.parent().unwrap_or(path);
    let own = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut formers = Vec::new();
    let entries = nofollow::entries(folder).map_err(|cause| Error::io("read the folder", folder, &cause))?;
    for entry in entries {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(&own) && name.ends_with(SUFFIX)) {
            formers.extend(Former::new(folder.join(name)));
        }
    }
    formers.sort_by_key(|former| Reverse(former.changed));
    Ok(formers)
}

/// The body of a file that may lack its frontmatter; `None` if it is incomplete.
pub(super) fn body_of(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    match Document::of(text.to_owned()) {
        Ok(document) => Some(document.into_body()),
        Err(_) if text.trim().is_empty() || text.trim_start_matches('\u{FEFF}').starts_with("---") => None,
        Err(_) => Some(text.to_owned()),
    }
}

/// The body followed by these lines; `None` if it has them.
fn with(body: &str, lines: &str) -> Option<String> {
    let is_there = format!("\n{body}\n").contains(&format!("\n{}\n", lines.trim_matches('\n')));
    if lines.trim().is_empty() || is_there {
        return None;
    }
    let gap = if body.is_empty() || body.ends_with('\n') { "" } else { "\n" };
    Some(format!("{body}{gap}{lines}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, late: &str, current: &str, expect: Option<&str>) {
        let late = LateWrite { path: PathBuf::new(), body: late.to_owned(), base: BodyStamp::of(base) };
        assert_eq!(late.carried_into(current).as_deref(), expect);
        // Carrying over twice is carrying over once.
        if let Some(merged) = expect.filter(|merged| *merged != base) {
            assert_eq!(late.carried_into(merged).unwrap_or_else(|| merged.to_owned()), merged);
        }
    }

    #[test]
    fn what_was_written_late_is_carried_over() {
        check("a\n", "a\n", "x\n", None);
        check("a\n", "a\nb\n", "a\n", Some("a\nb\n"));
        check("a\n", "c\n", "a\n", Some("c\n"));
        check("a\n", "a\nb\n", "a\nx\n", Some("a\nx\nb\n"));
        check("a\n", "a\nb\n", "a\nx", Some("a\nx\nb\n"));
        check("a\n", "a\nb\n", "a\nb\nx\n", None);
        check("a\n", "c\na\n", "a\nx\n", Some("a\nx\nc\n"));
        check("ü\n", "ü\nb\n", "", Some("b\n"));
        check("a\nb\n", "a\n", "x\n", Some("x\na\n"));
        check("a\n", "a\nb\n", "a\nabc\n", Some("a\nabc\nb\n"));
    }

    #[test]
    fn a_name_says_what_the_version_was() {
        let path = Path::new("/x/TASK.md");
        let former = name(path, "a\n");
        let text = former.file_name().unwrap().to_str().unwrap();
        assert_eq!(BodyStamp::parse(text), Some(BodyStamp::of("a\n")));
        assert!(text.starts_with(".TASK.md.") && former.starts_with("/x"), "{text}");
        // Another build reads it, so the hash is the same in all of them.
        assert!(text.ends_with(".2-089bdc07b544e7b2.old"), "{text}");
        for other in [
            ".TASK.md.1.2.tmp",
            ".TASK.md.1.2.2.2.089bdc07b544e7b2.old",
            ".lock",
            "TASK.md",
            ".TASK.md.old",
            ".old",
        ] {
            assert_eq!(BodyStamp::parse(other), None);
        }
    }
}
