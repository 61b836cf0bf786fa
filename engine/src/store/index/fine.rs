//! The finished tasks in which the doctor has found nothing, each with a mark of its journal, its text and its folder: while these are
//! the same, it finds nothing there again.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::store::WorkItemDir;
use crate::store::index::idle::is_worth_it;
use crate::store::index::{FileFact, JournalFacts, TextFacts, head_of};
use orange_system::atomic::{self, BegunFile};
use orange_system::many::in_order;
use orange_system::nofollow::{self, OpenFolder, Stamp};

/// The name of the index.
pub const FINE: &str = ".fine.index";

/// The tasks of one folder that were looked at.
pub struct FineTasks {
    /// Those that are as they were when they were fine.
    known: BTreeMap<String, u64>,
    marks: BTreeMap<String, u64>,
    begun: Option<BegunFile>,
}

impl FineTasks {
    /// Looks at these tasks of one folder, which are over, before anything else of them is read.
    pub fn look(dirs: &[&WorkItemDir]) -> Option<FineTasks> {
        let folder = dirs.first()?.path.parent()?;
        let path = folder.join(FINE);
        let open = OpenFolder::open(folder).ok()?;
        let text = String::from_utf8(nofollow::read(&path, nofollow::LONGEST).unwrap_or_default()).ok()?;
        let before = parse(&text).unwrap_or_default();
        let now = in_order(dirs, &|dir, _| stamps(&open, dir));
        let known = dirs.iter().zip(now).filter_map(|(dir, stamps)| {
            let mark = mark(&stamps?);
            (before.get(dir.id.as_str()) == Some(&mark)).then(|| (dir.id.clone(), mark))
        });
        let known: BTreeMap<String, u64> = known.collect();
        let is_worth_it = is_worth_it(dirs.len() - known.len(), dirs.len());
        let begun = is_worth_it.then(|| atomic::begin(&path).ok()).flatten();
        // Every write from now on gives a file another stamp.
        let marks = match &begun {
            Some(begun) => {
                let again = in_order(dirs, &|dir, _| stamps(&open, dir));
                let old = |stamps: &[Stamp; 3]| stamps.iter().all(|stamp| stamp.is_older_than(&begun.stamp));
                let mark = |stamps: Option<[Stamp; 3]>| stamps.filter(old).map(|stamps| mark(&stamps));
                let all = dirs.iter().zip(again);
                all.filter_map(|(dir, stamps)| Some((dir.id.clone(), mark(stamps)?))).collect()
            }
            None => BTreeMap::new(),
        };
        Some(FineTasks { known, marks, begun })
    }

    /// True if a task is as it was when it was fine.
    pub fn has(&self, id: &str) -> bool {
        self.known.contains_key(id)
    }

    /// True if so many are not known to be fine that it is worth to find out and to write.
    pub fn is_worth_it(&self) -> bool {
        self.begun.is_some()
    }

    /// Writes those that are fine, if that is worth it.
    pub fn write(self, is_fine: impl Fn(&str) -> bool) {
        let Some(begun) = self.begun else { return };
        let mut body = String::new();
        for (id, mark) in self.marks {
            if self.known.get(&id) == Some(&mark) || is_fine(&id) {
                // Writing to a string cannot fail.
                writeln!(body, "{id}\t{mark:016x}").unwrap_or_default();
            }
        }
        // An index that cannot be written is only not there.
        begun.finish([&head_of(&body), "\n", &body].concat().as_bytes()).unwrap_or_default();
    }
}

/// The stamps of a task's journal, text and folder.
fn stamps(open: &OpenFolder, dir: &WorkItemDir) -> Option<[Stamp; 3]> {
    let of = |name: &str| open.stamp(&[&dir.id, "/", name].concat());
    Some([of(JournalFacts::file(dir.kind))?, of(TextFacts::file(dir.kind))?, of(".")?])
}

fn mark(stamps: &[Stamp; 3]) -> u64 {
    stamps
        .iter()
        .flat_map(Stamp::numbers)
        .fold(0, |sum: u64, number| (sum ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
}

/// The marks of an index; `None` if it is not whole.
fn parse(text: &str) -> Option<BTreeMap<&str, u64>> {
    let (_, body) = text.split_once('\n').filter(|(head, body)| *head == head_of(body))?;
    let mut marks = BTreeMap::new();
    for line in body.lines() {
        let (id, mark) = line.split_once('\t')?;
        marks.insert(id, u64::from_str_radix(mark, 16).ok()?);
    }
    Some(marks)
}
