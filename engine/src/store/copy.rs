//! The copy of `TASK.md` in a worktree: a regular file that agents and editors write. What they save is merged into the
//! store's text, which is then written to the worktree again.

use std::path::{Path, PathBuf};

use orange_core::fnv1a;

use crate::store::base::CopyBase;
use crate::store::frontmatter::{Document, FrontmatterFlaw};
use crate::store::history::WorkItemHistory;
use crate::store::merge::{self, loses};
use crate::store::scalar::Value;
use crate::store::work_item::{self, WorkItem};
use crate::store::{Event, WorkItemDir, WorkItemKind, home, late_write};
use crate::{Error, ErrorKind, Result};
use orange_system::regular::{self, PathEntry};
use orange_system::{atomic, nofollow};

/// A worktree's copy, as it was read.
#[derive(Debug)]
pub struct WorktreeCopy {
    path: PathBuf,
    base: Option<CopyBase>,
    place: AtPath,
    state: CopyState,
}

/// Entry at the path of the copy.
#[derive(Clone, Debug, PartialEq, Eq)]
enum AtPath {
    Free,
    Link,
    Text(Vec<u8>),
    /// A folder or the like, which is neither written nor removed.
    Other,
}

/// State of a copy: the content that the store lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyState {
    /// The store has all of it, or there is no text.
    Unchanged,
    /// A person or an agent has saved this.
    Saved(Box<Document>),
    /// This is not a text of the task. It is replaced, and never merged.
    Unfit {
        /// Defect of the text.
        why: String,
        /// The text; empty if the file is.
        text: Vec<u8>,
    },
}

/// The store's text, merged with what was saved in the worktree.
#[derive(Clone, Debug)]
pub struct MergedText {
    pub text: Document,
    /// True if lines of the store's own text were lost.
    pub loses: bool,
}

/// Result of publishing the store's text to the worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// The worktree has the text, or cannot have it.
    Yes,
    /// Something was saved just before: merge that, and try again.
    MergeFirst,
}

impl WorktreeCopy {
    /// Reads the copy in this worktree once it is complete; `None` if there is no such folder. A mission has no copy.
    pub fn look(
        dir: &WorkItemDir,
        history: &WorkItemHistory,
        worktree: &Path,
    ) -> Result<Option<WorktreeCopy>> {
        if dir.kind == WorkItemKind::Mission || !worktree.is_dir() {
            return Ok(None);
        }
        let path = worktree.join("TASK.md");
        let is_broken = |copy: &Result<WorktreeCopy>| match copy {
            Ok(copy) => copy.is_incomplete(),
            Err(error) => error.kind == ErrorKind::Corrupt,
        };
        work_item::once_whole(&path, || WorktreeCopy::glance(dir, history, &path), is_broken).map(Some)
    }

    fn glance(dir: &WorkItemDir, history: &WorkItemHistory, path: &Path) -> Result<WorktreeCopy> {
        let base = CopyBase::read(dir)?;
        let found = regular::read(path).map_err(|cause| Error::io("read", path, &cause))?;
        let (place, state) = match found {
            PathEntry::Nothing => (AtPath::Free, CopyState::Unchanged),
            PathEntry::Link => (AtPath::Link, CopyState::Unchanged),
            PathEntry::Other => (AtPath::Other, CopyState::Unchanged),
            PathEntry::TooLong => return Err(too_long(path)),
            PathEntry::File(bytes, saved) => {
                let is_older = base.as_ref().is_some_and(|base| base.is_older(saved));
                let state = match &base {
                    Some(base) if base.text.as_bytes() == bytes => CopyState::Unchanged,
                    Some(_) if is_older => unfit("a power cut brought back an older version", &bytes),
                    base => classify(dir, history, path, base.as_ref(), &bytes)?,
                };
                (AtPath::Text(bytes), state)
            }
        };
        Ok(WorktreeCopy { path: path.to_owned(), base, place, state })
    }

    /// True if a process may be in the middle of writing it, which is only possible after it was published once.
    fn is_incomplete(&self) -> bool {
        let is_gone = self.place == AtPath::Free && self.base.is_some();
        is_gone || matches!(self.state, CopyState::Unfit { .. })
    }

    /// Its content that the store lacks.
    pub fn state(&self) -> &CopyState {
        &self.state
    }

    pub fn has_changes(&self) -> bool {
        self.state != CopyState::Unchanged || matches!(self.place, AtPath::Free | AtPath::Link)
    }

    /// True if there is nothing to merge and nothing to publish.
    pub fn is_up_to_date(&self, own: &Document) -> bool {
        match &self.place {
            AtPath::Other => true,
            AtPath::Text(bytes) => self.state == CopyState::Unchanged && is_same(bytes, own),
            AtPath::Free | AtPath::Link => false,
        }
    }

    /// Records that the store has what was saved as soon as the store's text is `merged`.
    pub fn announce(&self, dir: &WorkItemDir, merged: &Document) -> Result<()> {
        match &self.state {
            CopyState::Saved(saved) => CopyBase::announce(dir, saved.text(), &self.path, merged.text()),
            CopyState::Unchanged | CopyState::Unfit { .. } => Ok(()),
        }
    }

    /// Notes that the store has what was saved.
    pub fn note_merged(&mut self) {
        if matches!(self.state, CopyState::Saved(_)) {
            self.state = CopyState::Unchanged;
        }
    }

    /// The engine's keys that were changed in the copy, as events of their repair.
    pub fn forged(&self, dir: &WorkItemDir, history: &WorkItemHistory) -> Vec<Event> {
        let (CopyState::Saved(saved), Some(base)) = (&self.state, self.base_text()) else {
            return Vec::new();
        };
        let is_changed = |event: &Event| {
            let Event::TaskRepaired { field, found, .. } = event else { return false };
            base.get(field).ok().as_ref() != Some(found)
        };
        work_item::differences(dir, saved, &history.owned).into_iter().filter(is_changed).collect()
    }

    /// The store's text merged with what was saved in the worktree; `None` if nothing was.
    pub fn merged_into(
        &self,
        dir: &WorkItemDir,
        history: &WorkItemHistory,
        own: &Document,
    ) -> Result<Option<MergedText>> {
        let CopyState::Saved(saved) = &self.state else { return Ok(None) };
        let merge = || {
            let clock = own.get("updated_at")?;
            let mut fields = work_item::fields(dir, &history.owned);
            fields.extend(clock.as_deref().map(|clock| ("updated_at", Value::Plain(clock))));
            let own = level(own, &fields)?;
            let saved = level(saved, &fields)?;
            let base = match self.base_text() {
                Some(base) => level(&base, &fields)?,
                None => unknown_base(dir, &self.path, &own, &saved),
            };
            let text = merge::merge(&base, &own, &saved)?;
            let loses = loses(&base, &own, &text);
            Ok(Some(MergedText { text, loses }))
        };
        merge().map_err(|flaw| flawed(&self.path, &flaw, 0))
    }

    fn base_text(&self) -> Option<Document> {
        Document::of(self.base.as_ref()?.text.clone()).ok()
    }

    /// Writes the store's text, which contains everything that was saved, into the worktree, unless the copy differs in
    /// nothing but the time of the last change.
    pub fn publish(
        &mut self,
        dir: &WorkItemDir,
        history: &WorkItemHistory,
        text: &Document,
    ) -> Result<Published> {
        match &self.place {
            AtPath::Other => return Ok(Published::Yes),
            AtPath::Text(bytes) if is_same(bytes, text) => {
                if self.base.as_ref().is_none_or(|base| base.text.as_bytes() != bytes) {
                    CopyBase::write(dir, &String::from_utf8_lossy(bytes), &self.path)?;
                }
                return Ok(Published::Yes);
            }
            AtPath::Text(_) | AtPath::Free | AtPath::Link => {}
        }
        let own = dir.task_md();
        let former = (self.place != AtPath::Free).then(|| late_write::name(&own, &self.body_in_place()));
        match atomic::put(&self.path, text.text().as_bytes(), &own, former.as_deref())? {
            atomic::Put::Changed => {
                *self = WorktreeCopy::glance(dir, history, &self.path)?;
                return Ok(Published::MergeFirst);
            }
            atomic::Put::Done => {}
        }
        let before = std::mem::replace(&mut self.place, AtPath::Text(text.text().as_bytes().to_vec()));
        let published = self.look_behind(dir, history, former.as_deref(), before)?;
        if published == Published::Yes {
            CopyBase::write(dir, text.text(), &self.path)?;
        }
        Ok(published)
    }

    /// Checks that the file that was just replaced or removed is the one that was merged.
    fn look_behind(
        &mut self,
        dir: &WorkItemDir,
        history: &WorkItemHistory,
        former: Option<&Path>,
        before: AtPath,
    ) -> Result<Published> {
        let Some(former) = former else { return Ok(Published::Yes) };
        let found = regular::read(former).map_err(|cause| Error::io("read", former, &cause))?;
        match (found, before) {
            (PathEntry::Link, _) => atomic::remove(former).map(|()| Published::Yes),
            (PathEntry::File(bytes, saved), AtPath::Text(known)) if bytes != known => {
                // An incomplete text is found as a late write once it is complete.
                let base = String::from_utf8(known).ok().map(|text| CopyBase::of(text, saved));
                match classify(dir, history, &self.path, base.as_ref(), &bytes) {
                    Ok(saved @ CopyState::Saved(_)) => {
                        (self.base, self.state) = (base, saved);
                        Ok(Published::MergeFirst)
                    }
                    Ok(CopyState::Unchanged | CopyState::Unfit { .. }) | Err(_) => Ok(Published::Yes),
                }
            }
            (PathEntry::File(..) | PathEntry::Nothing | PathEntry::TooLong | PathEntry::Other, _) => {
                Ok(Published::Yes)
            }
        }
    }

    /// Removes the copy from the worktree after all of it was merged.
    pub fn withdraw(&mut self, dir: &WorkItemDir, history: &WorkItemHistory) -> Result<Published> {
        let published = match &self.place {
            AtPath::Free | AtPath::Other => Published::Yes,
            AtPath::Link => atomic::remove(&self.path).map(|()| Published::Yes)?,
            AtPath::Text(_) => {
                let former = late_write::name(&dir.task_md(), &self.body_in_place());
                atomic::take_out(&self.path, &former)
                    .map_err(|cause| Error::io("remove", &self.path, &cause))?;
                let before = std::mem::replace(&mut self.place, AtPath::Free);
                self.look_behind(dir, history, Some(&former), before)?
            }
        };
        if published == Published::Yes {
            CopyBase::forget(dir)?;
        }
        Ok(published)
    }

    /// The body with which late writes are compared. A process that has emptied the file is going to write all of it.
    fn body_in_place(&self) -> String {
        let AtPath::Text(bytes) = &self.place else { return String::new() };
        late_write::body_of(bytes).or_else(|| self.base_text().map(Document::into_body)).unwrap_or_default()
    }
}

/// Refuses a worktree that has another file at the path of the copy.
pub fn check_place(worktree: &Path) -> Result<()> {
    let path = worktree.join("TASK.md");
    let is_ours = match regular::read(&path).map_err(|cause| Error::io("read", &path, &cause))? {
        PathEntry::Nothing => true,
        PathEntry::File(bytes, _) => {
            Document::parse(&bytes).is_ok_and(|document| matches!(document.get("id"), Ok(Some(_))))
        }
        PathEntry::Link | PathEntry::TooLong | PathEntry::Other => false,
    };
    if is_ours {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Refused, format!("{} is in the way of the task's own", path.display()))
        .help("move it away; if it is the project's own file, rename it on the default branch"))
}

/// Saves a text that exists nowhere else in a file that is named after its hash, and returns the file.
pub fn keep(dir: &WorkItemDir, text: &[u8]) -> Result<PathBuf> {
    let path = dir.kept().join(format!("{:016x}.md", fnv1a(text.iter().copied())));
    if !nofollow::metadata(&path).is_ok_and(|found| found.is_file()) {
        home::make_folder(&dir.kept())?;
        atomic::write(&path, text)?;
    }
    Ok(path)
}

/// Classifies a text at the path of the copy.
fn classify(
    dir: &WorkItemDir,
    history: &WorkItemHistory,
    path: &Path,
    base: Option<&CopyBase>,
    bytes: &[u8],
) -> Result<CopyState> {
    if is_torn(bytes) {
        return Ok(unfit("it was empty or cut off", bytes));
    }
    let head = base.and_then(|base| Document::of(base.text.clone()).ok());
    let head = head.map_or_else(|| "---\n---\n".to_owned(), |base| base.head().to_owned());
    // An agent that rewrites the file may omit the frontmatter.
    let without_frontmatter = std::str::from_utf8(bytes)
        .ok()
        .filter(|text| !text.trim_start_matches('\u{FEFF}').starts_with("---"));
    let added = without_frontmatter.map_or(0, |_| head.lines().count());
    let text = without_frontmatter.map(|body| [&head, body].concat().into_bytes());
    let flawed = |flaw: FrontmatterFlaw| flawed(path, &flaw, added);
    let document = Document::parse(text.as_deref().unwrap_or(bytes)).map_err(flawed)?;
    if let Some(id) = document.get("id").map_err(flawed)?.filter(|id| *id != dir.id) {
        return Ok(unfit(&format!("it belongs to task {id}"), bytes));
    }
    WorkItem::with(dir, document.clone(), history.owned.clone(), ("", "")).map_err(flawed)?;
    Ok(CopyState::Saved(Box::new(document)))
}

fn unfit(why: &str, text: &[u8]) -> CopyState {
    CopyState::Unfit { why: why.to_owned(), text: text.to_vec() }
}

/// True if the text is incomplete, as during a rewrite: empty, or with a frontmatter that does not end.
fn is_torn(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{FEFF}');
    let mut lines = text.lines().map(str::trim_end);
    match lines.next() {
        Some("---") => !lines.any(|line| line == "---"),
        Some(first) => text.trim().is_empty() || text == first && "---".starts_with(first),
        None => true,
    }
}

/// The document with these values.
fn level(document: &Document, fields: &[(&str, Value)]) -> std::result::Result<Document, FrontmatterFlaw> {
    let mut level = document.clone();
    fields.iter().try_for_each(|(key, value)| level.set(key, *value))?;
    Ok(level)
}

/// The base of a merge without a record: the store's own text if the copy was saved later, else the common lines, so that
/// no line of either side is lost.
fn unknown_base(dir: &WorkItemDir, copy: &Path, own: &Document, saved: &Document) -> Document {
    let written = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let mut base = own.clone();
    if written(copy) < written(&dir.task_md()) {
        base.set_body(&merge::common(own.body(), saved.body()));
    }
    base
}

/// True if two texts differ in nothing but the time of the last change.
fn is_same(bytes: &[u8], text: &Document) -> bool {
    if bytes == text.text().as_bytes() {
        return true;
    }
    let Ok(mut other) = Document::parse(bytes) else { return false };
    let clock = text.get("updated_at").ok().flatten();
    other.set("updated_at", clock.as_deref().map_or(Value::Null, Value::Plain)).is_ok()
        && other.text() == text.text()
}

fn flawed(path: &Path, flaw: &FrontmatterFlaw, added_lines: usize) -> Error {
    let place = match flaw.line.saturating_sub(added_lines) {
        0 => path.display().to_string(),
        line => format!("{}:{line}", path.display()),
    };
    Error::new(ErrorKind::Corrupt, format!("{place}: {flaw}")).help(format!(
        "{}, or remove the file: the task's text is written there again; nothing was changed",
        flaw.mend
    ))
}

fn too_long(path: &Path) -> Error {
    const MIB: u64 = 1024 * 1024;
    let message = format!("{} is longer than {} MiB", path.display(), regular::LIMIT / MIB);
    Error::new(ErrorKind::Corrupt, message).help(
        "move what is long into a file of its own, or remove this one: the task's text is written there again; nothing was changed",
    )
}
