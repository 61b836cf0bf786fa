//! Indexes: what the journals and the texts of a project's tasks or missions said when they were last read, so that a command about a
//! few of them opens no others.
//!
//! An index is a cache. Anybody may remove it at any time, a kill leaves the former one or none, and a record counts only while its
//! file has the stamp with which it was read. Readers write an index once they have had to read many files.

mod facts;
pub mod fine;
pub mod idle;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

use orange_journal::form::FORM;

pub use self::facts::{EngineKeys, Idle, JournalFacts, TextFacts};
use crate::store::{WorkItemDir, WorkItemKind};
use orange_system::atomic;
use orange_system::many::in_order;
use orange_system::nofollow::{self, OpenFolder, Stamp};

/// So many files are read at once, or again by each command, before an index is worth its writing.
pub const FEW: usize = 16;

/// The first word of an index. Another number goes with other columns, and with another meaning of texts.
const WORD: &str = "orange-index-2";

/// Fact that an index keeps about one file of each task.
pub trait FileFact: Send + Sized {
    /// The name of the index.
    const INDEX: &'static str;

    /// Data that decoding shares among the facts of one folder.
    type Shared: Default;

    /// The name of the file.
    fn file(kind: WorkItemKind) -> &'static str;

    /// Reads the file. `is_kept` says whether the fact goes into an index, which is worth a closer look.
    fn read(dir: &WorkItemDir, is_kept: bool, buffer: &mut Vec<u8>) -> Self;

    /// The fact on one line; `None` if it is not kept.
    fn encode(&self) -> Option<String>;

    /// The fact of such a line; `None` if it is none.
    fn decode(line: &str, shared: &mut Self::Shared) -> Option<Self>;
}

/// Tasks that a caller asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedTasks {
    /// All of their folders: an index forgets all others.
    All,
    /// Some of them.
    Some,
}

/// The names of the index files, each in the folder of a project's tasks or missions.
pub const INDEXES: [&str; 6] =
    [JournalFacts::INDEX, TextFacts::INDEX, EngineKeys::INDEX, idle::IDLE, idle::CHANGED, fine::FINE];

/// The fact of each of these tasks, in their order: by the index of their folder where that has it, or else by their files.
pub fn facts<F: FileFact>(dirs: &[WorkItemDir], asked: AskedTasks) -> Vec<F> {
    let is_together =
        |one: &WorkItemDir, other: &WorkItemDir| one.kind == other.kind && one.project == other.project;
    dirs.chunk_by(is_together).flat_map(|dirs| of_folder(dirs, asked)).collect()
}

/// The fact of each of these tasks, in their order, by their files alone.
pub fn read<F: FileFact>(dirs: &[WorkItemDir]) -> Vec<F> {
    in_order(dirs, &|dir, buffer| F::read(dir, false, buffer))
}

fn of_folder<F: FileFact>(dirs: &[WorkItemDir], asked: AskedTasks) -> Vec<F> {
    let folder = dirs.first().filter(|_| dirs.len() > FEW).and_then(|dir| dir.path.parent());
    let Some((folder, open)) = folder.and_then(|folder| Some((folder, OpenFolder::open(folder).ok()?)))
    else {
        return read(dirs);
    };
    let path = folder.join(F::INDEX);
    let index = Index::read(&path);
    let seen: Vec<FileFacts<'_>> = in_order(dirs, &|dir, _| {
        let stamp = open.stamp(&[&dir.id, "/", F::file(dir.kind)].concat());
        FileFacts { stamp, line: stamp.and_then(|stamp| index.find(&dir.id, stamp)) }
    });
    let mut shared = F::Shared::default();
    let mut facts: Vec<Option<F>> = Vec::with_capacity(dirs.len());
    facts.extend(seen.iter().map(|seen| F::decode(seen.line?, &mut shared)));
    let missing: Vec<usize> = (0..dirs.len()).filter(|at| facts[*at].is_none()).collect();
    // The index begins before the files are read, so that whatever is written later has another stamp than its record.
    let is_worth_it = missing.len() > FEW + dirs.len() / 64;
    let begun = is_worth_it.then(|| atomic::begin(&path).ok()).flatten();
    let read = in_order(&missing, &|at, buffer| F::read(&dirs[*at], begun.is_some(), buffer));
    if let Some(begun) = begun {
        let fresh = missing.iter().zip(&read).filter_map(|(at, fact)| {
            let stamp = seen[*at].stamp.filter(|stamp| stamp.is_older_than(&begun.stamp))?;
            Some((dirs[*at].id.as_str(), format!("{stamp}\t{}", fact.encode()?)))
        });
        let contents = index.with(dirs, asked, &fresh.collect());
        // An index that cannot be written is only not there.
        begun.finish(contents.as_bytes()).unwrap_or_default();
    }
    missing.into_iter().zip(read).for_each(|(at, fact)| facts[at] = Some(fact));
    facts.into_iter().flatten().collect()
}

/// Facts about a task's file that are known without opening it.
struct FileFacts<'i> {
    stamp: Option<Stamp>,
    line: Option<&'i str>,
}

/// The contents of an index, sorted by id.
#[derive(Debug, Default)]
struct Index {
    text: String,
    lines: Vec<IndexLine>,
}

/// The places of a line and of the id in it.
#[derive(Debug)]
struct IndexLine {
    id: Range<usize>,
    end: usize,
}

impl Index {
    /// The index of this path; an empty one if there is none, or if it is not whole.
    fn read(path: &Path) -> Index {
        let bytes = nofollow::read(path, nofollow::LONGEST).unwrap_or_default();
        String::from_utf8(bytes).ok().and_then(Index::parse).unwrap_or_default()
    }

    fn parse(text: String) -> Option<Index> {
        let (head, body) = text.split_once('\n')?;
        if head != head_of(body) {
            return None;
        }
        let mut lines = Vec::with_capacity(body.len() / 256);
        let mut start = head.len() + 1;
        for line in body.lines() {
            let end = start + line.len();
            lines.push(IndexLine { id: start..start + line.find('\t')?, end });
            start = end + 1;
        }
        let bytes = text.as_bytes();
        let is_sorted = lines.is_sorted_by(|one, other| bytes[one.id.clone()] < bytes[other.id.clone()]);
        is_sorted.then_some(Index { text, lines })
    }

    /// The line of this task, if its file has this stamp.
    fn find(&self, id: &str, stamp: Stamp) -> Option<&str> {
        let at = self
            .lines
            .binary_search_by(|line| self.text.as_bytes()[line.id.clone()].cmp(id.as_bytes()))
            .ok()?;
        let IndexLine { id, end } = &self.lines[at];
        let (known, line) = self.text[id.end + 1..*end].split_once('\t')?;
        (Stamp::parse(known) == Some(stamp)).then_some(line)
    }

    fn id(&self, line: &IndexLine) -> &str {
        &self.text[line.id.clone()]
    }

    /// The contents of the next index: these fresh records, and the present ones of all other tasks that were asked for, or that were
    /// not.
    fn with(&self, dirs: &[WorkItemDir], asked: AskedTasks, fresh: &BTreeMap<&str, String>) -> String {
        let known: BTreeSet<&str> = dirs.iter().map(|dir| dir.id.as_str()).collect();
        let kept = self.lines.iter().map(|line| (self.id(line), &self.text[line.id.start..line.end]));
        let kept = kept.filter(|(id, _)| asked == AskedTasks::Some || known.contains(id));
        let mut lines: BTreeMap<&str, String> = kept.map(|(id, line)| (id, line.to_owned())).collect();
        lines.extend(fresh.iter().map(|(id, record)| (*id, format!("{id}\t{record}"))));
        let mut body = String::new();
        for line in lines.values() {
            body.push_str(line);
            body.push('\n');
        }
        [head_of(&body).as_str(), "\n", &body].concat()
    }
}

/// The first line of an index, which tells one that is cut off or damaged.
fn head_of(body: &str) -> String {
    let mut head = String::from(WORD);
    // Writing to a string cannot fail.
    write!(head, " {FORM:016x} {} {:016x}", body.len(), checksum(body.as_bytes())).unwrap_or_default();
    head
}

/// A sum of eight bytes at a time: an index of thousands of tasks has megabytes.
fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(PRIME).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(PRIME, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)))
}
