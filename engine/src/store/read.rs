//! Reads a task with what was saved in its worktree.

use std::path::Path;

use crate::Result;
use crate::store::base::CopyBase;
use crate::store::copy::WorktreeCopy;
use crate::store::frontmatter::Document;
use crate::store::history::WorkItemHistory;
use crate::store::journal::Journal;
use crate::store::work_item::{document, read_journal_last};
use crate::store::{Home, WorkItem, WorkItemDir, late_write};

impl WorkItem {
    /// Reads a task without changing it: with what was saved in the worktree, and with the journal's values where the
    /// frontmatter differs.
    pub fn read(home: &Home, dir: &WorkItemDir) -> Result<(WorkItem, Journal)> {
        WorkItem::read_last(home, dir, usize::MAX)
    }

    /// Reads a task without changing it, with the last `keep` records of the journal.
    pub fn read_last(home: &Home, dir: &WorkItemDir, keep: usize) -> Result<(WorkItem, Journal)> {
        let journal = read_journal_last(dir, keep)?;
        let history = journal.history();
        let mut document = both(home, dir, &history)?;
        if let Some(body) = late_write::carried(&late_write::found(&dir.task_md())?, document.body()) {
            document.set_body(&body);
        }
        let task = WorkItem::of(dir, document, &history)?;
        Ok((task, journal))
    }
}

/// The task's `TASK.md`, merged with what was saved in the worktree.
fn both(home: &Home, dir: &WorkItemDir, history: &WorkItemHistory) -> Result<Document> {
    const ATTEMPTS: usize = 5;
    let Some(workspace) = &history.owned.workspace else { return document(dir, history) };
    let worktree = home.workspace(workspace);
    let mut base = CopyBase::read(dir)?;
    for _ in 1..ATTEMPTS {
        let read = with_copy(dir, history, &worktree)?;
        let now = CopyBase::read(dir)?;
        if now == base {
            return Ok(read);
        }
        // Another process has merged or written a text meanwhile.
        base = now;
    }
    with_copy(dir, history, &worktree)
}

fn with_copy(dir: &WorkItemDir, history: &WorkItemHistory, worktree: &Path) -> Result<Document> {
    let copy = WorktreeCopy::look(dir, history, worktree)?;
    let own = document(dir, history)?;
    let merged = copy.map_or(Ok(None), |copy| copy.merged_into(dir, history, &own))?;
    Ok(merged.map_or(own, |merged| merged.text))
}
