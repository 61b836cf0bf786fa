//! Times of whole checks: once nobody has typed for a moment, and at the latest after a second of typing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A check waits until nothing has changed for so long.
const QUIET: Duration = Duration::from_millis(150);

/// Somebody who does not stop typing delays a check no longer than this.
const LONGEST: Duration = Duration::from_secs(1);

/// The documents that wait for their check.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    waiting: BTreeMap<PathBuf, WaitingCheck>,
}

#[derive(Clone, Copy, Debug)]
struct WaitingCheck {
    first: Instant,
    last: Instant,
}

impl WaitingCheck {
    fn due(self) -> Instant {
        (self.last + QUIET).min(self.first + LONGEST)
    }
}

impl Schedule {
    /// A document has changed.
    pub(super) fn changed(&mut self, path: &Path, now: Instant) {
        self.waiting
            .entry(path.to_owned())
            .and_modify(|it| it.last = now)
            .or_insert(WaitingCheck { first: now, last: now });
    }

    /// A document is to be checked without waiting.
    pub(super) fn at_once(&mut self, path: &Path, now: Instant) {
        let past = now.checked_sub(QUIET).unwrap_or(now);
        self.waiting.insert(path.to_owned(), WaitingCheck { first: past, last: past });
    }

    /// A document needs no check.
    pub(super) fn forget(&mut self, path: &Path) {
        self.waiting.remove(path);
    }

    /// The time of the next check.
    pub(super) fn next(&self) -> Option<Instant> {
        self.waiting.values().map(|it| it.due()).min()
    }

    /// The document whose check is due, which then no longer waits.
    pub(super) fn take(&mut self, now: Instant) -> Option<PathBuf> {
        let due = self.waiting.iter().filter(|(_, it)| it.due() <= now);
        let path = due.min_by_key(|(_, it)| it.due()).map(|(path, _)| path.clone())?;
        self.waiting.remove(&path);
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_waits_for_quiet_but_not_for_ever() {
        let (mut schedule, start) = (Schedule::default(), Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        let path = Path::new("/a.yml");
        assert_eq!(schedule.next(), None);
        schedule.changed(path, at(0));
        schedule.changed(path, at(100));
        assert_eq!(schedule.take(at(200)), None);
        assert_eq!(schedule.next(), Some(at(250)));
        assert_eq!(schedule.take(at(250)).as_deref(), Some(path));
        assert_eq!((schedule.take(at(999)), schedule.next()), (None, None));
        for millis in (0..=1000).step_by(100) {
            schedule.changed(path, at(millis));
        }
        assert_eq!(schedule.take(at(999)), None);
        assert_eq!(schedule.take(at(1000)).as_deref(), Some(path));
    }

    #[test]
    fn the_check_that_waits_longest_comes_first() {
        let (mut schedule, now) = (Schedule::default(), Instant::now());
        schedule.changed(Path::new("/a.yml"), now);
        schedule.at_once(Path::new("/b.yml"), now);
        assert_eq!(schedule.take(now).as_deref(), Some(Path::new("/b.yml")));
        schedule.forget(Path::new("/a.yml"));
        assert_eq!(schedule.next(), None);
    }
}
