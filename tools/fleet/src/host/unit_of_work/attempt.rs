//! Rows of attempts: all that one transaction says of one becomes one row.

use super::{AttemptChanges, AttemptKey, Failed, Rows, UnitOfWork};
use crate::actors::AttemptChange;
use crate::host::Millis;

impl<R: Rows> UnitOfWork<R> {
    /// Notes what is known of an attempt.
    pub(super) fn attempt(&mut self, key: AttemptKey, what: AttemptChange) -> Result<(), Failed> {
        let now = self.now;
        let row = self.writes.attempts.entry(key.clone()).or_default();
        match what {
            AttemptChange::Queued => row.queued = Some(now),
            AttemptChange::Offered(crab) => {
                row.crab = Some(Some(crab));
                row.offered = Some(Some(now));
            }
            AttemptChange::Returned(crab) => match (&row.crab, &row.returned) {
                (Some(known), _) if known.as_ref() == Some(&crab) => {
                    row.crab = Some(None);
                    row.offered = Some(None);
                }
                (Some(_), _) => {}
                (None, None) => row.returned = Some(crab),
                (None, Some(_)) => {
                    // The row has room for one of them.
                    self.save()?;
                    let row = AttemptChanges { returned: Some(crab), ..AttemptChanges::default() };
                    self.writes.attempts.insert(key, row);
                }
            },
            AttemptChange::Started { crab, worktree } => {
                if crab.is_some() {
                    row.crab = Some(crab);
                }
                row.started = Some((now, worktree));
            }
            AttemptChange::Asked { due } => {
                row.started = Some((now, None));
                row.due = Some(due.map(|it| now + 1000 * Millis::from(it)));
            }
            AttemptChange::Ended { commit } => row.ended = Some((now, commit)),
        }
        Ok(())
    }
}
