//! State of an attempt, open or over, for those who run programs for it without the mission's lock.

use std::cell::Cell;
use std::fs;

use orange_core::plan::StepId;

use super::Projection;
use crate::store::{WorkItemDir, work_item};

/// State of an attempt, open or over, by a journal that is read again only when it has grown.
pub(super) struct AttemptWatch<'d> {
    dir: &'d WorkItemDir,
    step: StepId,
    number: u32,
    length: Cell<u64>,
    is_open: Cell<bool>,
}

impl AttemptWatch<'_> {
    pub(super) fn of(dir: &WorkItemDir, step: StepId, number: u32) -> AttemptWatch<'_> {
        AttemptWatch { dir, step, number, length: 0.into(), is_open: true.into() }
    }

    pub(super) fn is_open(&self) -> bool {
        let length = fs::metadata(self.dir.history()).map_or(0, |metadata| metadata.len());
        if self.length.replace(length) != length {
            let journal = work_item::read_journal_last(self.dir, 0);
            let projection = journal.and_then(|it| Projection::of(self.dir, &it.history()));
            // A journal that cannot be read ends no program.
            self.is_open.set(projection.map_or(true, |it| it.works_at(self.step, self.number)));
        }
        self.is_open.get()
    }
}
