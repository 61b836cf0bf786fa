//! Three-way merge of a task's text: the store's copy and the worktree's, against the text that both had before.

use std::convert::Infallible;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::algorithms::{DiffHook, myers};

use crate::store::frontmatter::{Document, FrontmatterFlaw};

/// The time limit for the shortest difference of two texts; after it, a longer one is used.
const PATIENCE: Duration = Duration::from_millis(200);

/// The text with the changes of both sides. In a conflict the worktree's copy wins. The engine's own keys must have equal
/// values in all three.
pub fn merge(base: &Document, own: &Document, copy: &Document) -> Result<Document, FrontmatterFlaw> {
    let mut merged = head(base, own, copy)?;
    merged.set_body(&body(base.body(), own.body(), copy.body()));
    Ok(merged)
}

/// True if the store's own text has a line that neither the base nor the merged text has.
pub fn loses(base: &Document, own: &Document, merged: &Document) -> bool {
    let [base, merged] = [base, merged].map(|document| sorted_lines(document.text()));
    let own = sorted_lines(own.text());
    let mut lines = own.iter();
    lines.any(|line| {
        let times = count(&own, line);
        times > count(&base, line) && times > count(&merged, line)
    })
}

/// The lines that both bodies have, in order.
pub fn common(own: &str, copy: &str) -> String {
    let [own, copy] = [own, copy].map(|text| text.split('\n').collect::<Vec<_>>());
    let mut common = Vec::new();
    let mut at = 0;
    for change in changes(&own, &copy) {
        common.extend_from_slice(&own[at..change.base.start]);
        at = change.base.end;
    }
    common.extend_from_slice(&own[at..]);
    common.join("\n")
}

fn sorted_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines
}

fn count(sorted: &[&str], line: &str) -> usize {
    sorted.partition_point(|other| *other <= line) - sorted.partition_point(|other| *other < line)
}

/// Merges the frontmatter; the body is undefined.
fn head(base: &Document, own: &Document, copy: &Document) -> Result<Document, FrontmatterFlaw> {
    if own.head() == base.head() || own.head() == copy.head() {
        return Ok(copy.clone());
    }
    if copy.head() == base.head() {
        return Ok(own.clone());
    }
    let mut merged = copy.clone();
    for key in own.keys().into_iter().chain(base.keys()) {
        let [before, ours, theirs] = [base, own, copy].map(|document| document.raw(&key));
        let (before, ours, theirs) = (before?, ours?, theirs?);
        if theirs == before && ours != before {
            merged.put_raw(&key, ours)?;
        }
    }
    Ok(merged)
}

fn body(base: &str, own: &str, copy: &str) -> String {
    if own == base || own == copy {
        return copy.to_owned();
    }
    if copy == base {
        return own.to_owned();
    }
    let [base, own, copy] = [base, own, copy].map(|text| text.split('\n').collect::<Vec<_>>());
    merge_lines(&base, &own, &copy).join("\n")
}

/// A range of lines of the base, and the range of another text that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LineChange {
    base: Range<usize>,
    new: Range<usize>,
}

fn merge_lines<'a>(base: &[&'a str], own: &[&'a str], copy: &[&'a str]) -> Vec<&'a str> {
    let mut ours = MergeSide::new(base, own);
    let mut theirs = MergeSide::new(base, copy);
    let mut merged = Vec::new();
    let mut at = 0;
    while let Some(first) = first_of(ours.next(), theirs.next()) {
        let mut region = first;
        while ours.joins(&region) || theirs.joins(&region) {
            let joining = if ours.joins(&region) { &mut ours } else { &mut theirs };
            region.end = region.end.max(joining.take());
        }
        merged.extend_from_slice(&base[at..region.start]);
        let [before, own, copy] = [&base[region.clone()], ours.lines(&region), theirs.lines(&region)];
        resolve(before, own, copy, &mut merged);
        at = region.end;
    }
    merged.extend_from_slice(&base[at..]);
    merged
}

/// The base range of the earlier change, with which a merged region begins.
fn first_of(ours: Option<&LineChange>, theirs: Option<&LineChange>) -> Option<Range<usize>> {
    let both = ours.into_iter().chain(theirs);
    both.map(|change| &change.base).min_by_key(|base| (base.start, base.end)).cloned()
}

/// Resolves a region that at least one side has changed.
fn resolve<'a>(before: &[&str], own: &[&'a str], copy: &[&'a str], merged: &mut Vec<&'a str>) {
    let both_insert = before.is_empty();
    if own == before || own == copy {
        merged.extend_from_slice(copy);
    } else if copy == before || (both_insert || !copy.is_empty()) && is_within(copy, own) {
        merged.extend_from_slice(own);
    } else if both_insert && !is_within(own, copy) && !have_a_heading_in_common(own, copy) {
        merged.extend_from_slice(copy);
        merged.extend_from_slice(own);
    } else {
        merged.extend_from_slice(copy);
    }
}

/// True if the other lines contain these lines in this order.
fn is_within(lines: &[&str], others: &[&str]) -> bool {
    let mut others = others.iter();
    lines.iter().all(|line| others.any(|other| other == line))
}

/// True if both have a heading in common: two sections of one name would become one section with two texts.
fn have_a_heading_in_common(own: &[&str], copy: &[&str]) -> bool {
    own.iter().any(|line| line.starts_with('#') && copy.contains(line))
}

/// One side's changes, and how many have been merged.
struct MergeSide<'t, 'a> {
    text: &'t [&'a str],
    changes: Vec<LineChange>,
    taken: usize,
    /// The first change of the region that is being merged.
    first: usize,
}

impl<'t, 'a> MergeSide<'t, 'a> {
    fn new(base: &[&'a str], text: &'t [&'a str]) -> MergeSide<'t, 'a> {
        MergeSide { text, changes: changes(base, text), taken: 0, first: 0 }
    }

    fn next(&self) -> Option<&LineChange> {
        self.changes.get(self.taken)
    }

    /// True if the next change overlaps the region, or is an insertion at the same position.
    fn joins(&self, region: &Range<usize>) -> bool {
        self.next().is_some_and(|change| {
            change.base.start < region.end || change.base == *region && change.base.start == region.start
        })
    }

    fn take(&mut self) -> usize {
        self.taken += 1;
        self.changes[self.taken - 1].base.end
    }

    /// This side's lines for a region of the base whose changes have been merged.
    fn lines(&mut self, region: &Range<usize>) -> &'t [&'a str] {
        let inside = &self.changes[self.first..self.taken];
        let before = self.first.checked_sub(1).map(|last| &self.changes[last]);
        let (base, new) = before.map_or((0, 0), |change| (change.base.end, change.new.end));
        let start = new + (region.start - base);
        let (base, new) = inside.last().map_or((region.start, start), |last| (last.base.end, last.new.end));
        let end = new + (region.end - base);
        self.first = self.taken;
        &self.text[start..end]
    }
}

/// Collects the differences of two texts; adjacent ones become one.
#[derive(Default)]
struct LineChanges(Vec<LineChange>);

impl LineChanges {
    fn add(&mut self, base: Range<usize>, new: Range<usize>) {
        match self.0.last_mut().filter(|last| last.base.end == base.start && last.new.end == new.start) {
            Some(last) => (last.base.end, last.new.end) = (base.end, new.end),
            None => self.0.push(LineChange { base, new }),
        }
    }
}

impl DiffHook for LineChanges {
    type Error = Infallible;

    fn delete(&mut self, old: usize, length: usize, new: usize) -> Result<(), Infallible> {
        self.add(old..old + length, new..new);
        Ok(())
    }

    fn insert(&mut self, old: usize, new: usize, length: usize) -> Result<(), Infallible> {
        self.add(old..old, new..new + length);
        Ok(())
    }
}

fn changes(base: &[&str], new: &[&str]) -> Vec<LineChange> {
    let mut changes = LineChanges::default();
    let until = Some(Instant::now() + PATIENCE);
    match myers::diff_deadline(&mut changes, base, 0..base.len(), new, 0..new.len(), until) {
        Ok(()) => changes.0,
    }
}

#[cfg(test)]
mod tests;
