//! Removing what ended long ago, a chunk for each transaction.

use super::{Failed, Rows, UnitOfWork};
use crate::host::Millis;

/// The most missions of one transaction.
const CHUNK: usize = 200;

/// Least time for which answers to calls are kept, in milliseconds: a day. The mission judges calls that are repeated later.
const KEYS: Millis = 24 * 60 * 60 * 1000;

/// The most keys and records of one transaction.
const ROWS: usize = 10_000;

impl<R: Rows> UnitOfWork<R> {
    /// Removes a chunk. Says how many missions that were, and whether nothing more is to be removed.
    pub(super) fn forget(&mut self, ended_before: Millis) -> Result<(u64, bool), Failed> {
        // The store has to know which missions have ended, and which run again.
        self.save()?;
        let ended = self.rows.ended(ended_before, CHUNK)?;
        if ended.is_empty() {
            let calls = ended_before.max(self.now.saturating_sub(KEYS));
            let removed = self.rows.remove_rest(calls, ended_before, ROWS)?;
            return Ok((0, removed < ROWS));
        }
        self.rows.remove(&ended)?;
        for mission in &ended {
            let waits = || (mission.colony.clone(), mission.waiting.clone());
            self.waiting.entry(mission.id.clone()).or_insert_with(waits);
            self.remove(&mission.id)?;
            self.missions.remove(&mission.id);
            let key = (mission.colony.clone(), "mission", mission.status.clone());
            *self.writes.tallies.entry(key).or_default() -= 1;
        }
        Ok((ended.len() as u64, false))
    }
}
