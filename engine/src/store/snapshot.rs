//! `.history.snapshot`: the state that a long journal folds to, so that a reader of that state reads only its last lines.
//!
//! It is a cache, as an [index](crate::store::index) is: it may be removed. It has the SHA-256 of the bytes whose events it folds, and counts only
//! for a journal that begins with them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::Path;

use orange_journal::form::FORM;
use orange_journal::read::{Snapshot, read_on};
use orange_journal::{Journal, Record};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use orange_system::{atomic, nofollow};

/// A shorter journal is read whole, and so are the lines behind a snapshot until they are longer.
const LONG: u64 = 256 * 1024;

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct SavedSnapshot {
    form: u64,
    sha256: String,
    snapshot: Snapshot,
}

/// True if a journal is long enough for a snapshot.
pub fn is_long(journal: &File) -> bool {
    journal.metadata().is_ok_and(|found| found.len() > LONG)
}

/// Reads a journal with its last `keep` records, from its snapshot on if that holds; `None` if it has to be read without one.
pub fn read(path: &Path, journal: &File, keep: usize) -> Option<Journal> {
    let place = path.with_file_name(".history.snapshot");
    let mut from = Hashed::of(journal);
    let mut snapshot = Snapshot::default();
    if let Some(saved) = saved(&place) {
        match is_beginning(&mut from, &saved).ok()? {
            true => snapshot = saved.snapshot,
            false => from = Hashed::of(rewound(journal)?),
        }
    }
    let before = snapshot.length;
    let Ok(mut read) = read_on(snapshot, &mut from, keep) else {
        rewound(journal)?;
        return None;
    };
    if let Some(snapshot) = read.snapshot().filter(|snapshot| snapshot.length > before + LONG) {
        save(&place, snapshot, &from.hash);
    }
    let missing = keep.saturating_sub(read.records.len());
    if before > 0 && missing > 0 {
        let Some(records) = records_before(journal, before, missing) else {
            rewound(journal)?;
            return None;
        };
        read.put_before(records);
    }
    Some(read)
}

/// The last `most` records of the lines that end here.
fn records_before(journal: &File, end: u64, most: usize) -> Option<Vec<Record>> {
    let mut length = 1 << 16;
    loop {
        let begin = end.saturating_sub(length);
        let mut bytes = vec![0; usize::try_from(end - begin).ok()?];
        journal.read_exact_at(&mut bytes, begin).ok()?;
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        // The first line may have begun before.
        if begin > 0 {
            lines.remove(0);
        }
        lines.retain(|line| !line.trim_ascii().is_empty());
        if begin == 0 || lines.len() >= most {
            let last = &lines[lines.len().saturating_sub(most)..];
            return last.iter().map(|line| serde_json::from_slice(line).ok()).collect();
        }
        length *= 2;
    }
}

fn rewound(mut journal: &File) -> Option<&File> {
    journal.rewind().ok().map(|()| journal)
}

fn saved(place: &Path) -> Option<SavedSnapshot> {
    let bytes = nofollow::read(place, nofollow::LONGEST).ok()?;
    serde_json::from_slice::<SavedSnapshot>(&bytes).ok().filter(|saved| saved.form == FORM)
}

/// Reads the lines of a snapshot, and compares them with those that were folded.
fn is_beginning(from: &mut Hashed<'_>, saved: &SavedSnapshot) -> io::Result<bool> {
    let length = io::copy(&mut from.by_ref().take(saved.snapshot.length), &mut io::sink())?;
    Ok(length == saved.snapshot.length && hex(&from.hash) == saved.sha256)
}

/// Saves a snapshot, unless it would not be read as it is, or takes as long to read as the journal.
fn save(place: &Path, snapshot: Snapshot, hash: &Sha256) {
    let length = snapshot.length;
    let saved = SavedSnapshot { form: FORM, sha256: hex(hash), snapshot };
    let Ok(text) = serde_json::to_vec(&saved) else { return };
    let is_short = u64::try_from(text.len()).is_ok_and(|it| it < length / 4);
    if is_short
        && serde_json::from_slice::<SavedSnapshot>(&text).is_ok_and(|read| read.snapshot == saved.snapshot)
    {
        // A snapshot that cannot be written is only not there.
        atomic::write_unsynced(place, &text).unwrap_or_default();
    }
}

fn hex(hash: &Sha256) -> String {
    hash.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A reader that hashes what is taken from it.
struct Hashed<'f> {
    from: BufReader<&'f File>,
    hash: Sha256,
}

impl Hashed<'_> {
    fn of(journal: &File) -> Hashed<'_> {
        Hashed { from: BufReader::with_capacity(1 << 16, journal), hash: Sha256::new() }
    }
}

impl Read for Hashed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.hash.update(&into[..read]);
        Ok(read)
    }
}

impl BufRead for Hashed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        let taken = &self.from.buffer()[..length];
        self.hash.update(taken);
        self.from.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use orange_journal::read::read;

    use crate::store::tests::{home, task};
    use crate::store::{Event, Home, LockedWorkItem, Set, WorkItemDir, journal};
    use orange_system::nofollow::opened;

    /// A task whose journal has so many records.
    fn long(records: u64) -> (tempfile::TempDir, Home, WorkItemDir) {
        let (folder, home) = home();
        let dir = task(&home, "fix").dir().clone();
        add(&dir, records);
        (folder, home, dir)
    }

    fn add(dir: &WorkItemDir, records: u64) {
        let last = journal::read(&dir.history()).unwrap().history().last_seq;
        let event = || (Event::TaskRepaired { field: "x".repeat(60), found: None, kept: None }, Set::new());
        let new = journal::records(last, (0..records).map(|_| event()).collect());
        journal::append(&dir.history(), &new).unwrap();
    }

    fn place(dir: &WorkItemDir) -> PathBuf {
        dir.path.join(".history.snapshot")
    }

    /// Checks that a read with a snapshot agrees with the bytes, however many records it keeps.
    #[track_caller]
    fn check(dir: &WorkItemDir) {
        let bytes = fs::read(dir.history()).unwrap();
        for keep in [0, 7, 3_000] {
            let with = journal::read_last(&dir.history(), keep);
            match read(&bytes[..], keep) {
                Ok(whole) => assert_eq!(with.unwrap(), whole, "{keep} records"),
                Err(_) => drop(with.unwrap_err()),
            }
        }
    }

    #[test]
    fn a_long_journal_is_read_behind_its_sum() {
        let (_folder, _home, dir) = long(5_000);
        assert!(!place(&dir).exists());
        check(&dir);
        let snapshot = fs::read(place(&dir)).unwrap();
        check(&dir);
        add(&dir, 10);
        check(&dir);
        // A few lines more are not a reason to write it again; many are.
        assert_eq!(fs::read(place(&dir)).unwrap(), snapshot);
        add(&dir, 5_000);
        check(&dir);
        assert_ne!(fs::read(place(&dir)).unwrap(), snapshot);
        // The saved state is believed, since the lines are the same.
        let text = fs::read_to_string(place(&dir)).unwrap();
        fs::write(place(&dir), text.replace("\"pending\"", "\"believed\"")).unwrap();
        let read = journal::read_last(&dir.history(), 200).unwrap();
        assert_eq!(read.history().owned.status, "believed");
        let last: Vec<u64> = read.records.iter().map(|record| record.seq).collect();
        assert_eq!(last, (read.history().last_seq - 199..=read.history().last_seq).collect::<Vec<_>>());
    }

    #[test]
    fn a_short_journal_has_no_sum() {
        let (_folder, home, dir) = long(20);
        check(&dir);
        assert!(!place(&dir).exists());
        drop(LockedWorkItem::lock(&home, &dir).unwrap());
        assert_eq!(opened::during(&place(&dir), || check(&dir)).0, 0);
    }

    #[test]
    fn a_sum_of_other_lines_counts_for_nothing() {
        let (_folder, _home, dir) = long(5_000);
        check(&dir);
        let (whole, snapshot) = (fs::read(dir.history()).unwrap(), fs::read(place(&dir)).unwrap());
        let text = String::from_utf8(whole.clone()).unwrap();
        for other in [
            text.replacen("pending", "waiting", 1),
            text.replacen("xxx", "yyy", 1),
            text[..text.len() / 2].to_owned(),
            text.clone() + "{\"seq\":",
            text.clone() + "nonsense\nnonsense\n",
            text.replacen("\"seq\":9,", "\"seq\":900000,", 1),
            String::new(),
        ] {
            fs::write(place(&dir), &snapshot).unwrap();
            fs::write(dir.history(), other).unwrap();
            check(&dir);
        }
        fs::write(dir.history(), &whole).unwrap();
        let saved = String::from_utf8(snapshot.clone()).unwrap();
        for damaged in [
            saved[..saved.len() / 2].to_owned(),
            saved.replacen("\"form\":", "\"form\":1", 1),
            saved.replacen("\"workspace\":null", "\"workspace\":\"../..\"", 1),
            saved.replacen("\"length\":", "\"length\":9", 1),
            String::new(),
        ] {
            assert_ne!(damaged, saved);
            fs::write(place(&dir), damaged).unwrap();
            check(&dir);
        }
    }
}
