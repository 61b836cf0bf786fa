//! Schedules: the slots of a cron expression in a time zone, and which of them start a mission.

mod cron;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

pub use self::cron::Cron;
use crate::zone::{Instant, LocalTime, Zone, date_of, days};

/// Seconds for which a slot is on time: a monitor looks at least this often.
pub const ON_TIME: i64 = 600;

/// The years in which the next slot is looked for: a 29th of February on a given weekday comes after 28 years, or 40.
const YEARS: i64 = 41;

/// A time at which a schedule is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its local time, which names it.
    pub local: LocalTime,
    /// Its instant, in seconds since 1970.
    pub at: i64,
}

/// Treatment of a slot while a mission of the schedule runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// It is left out.
    #[default]
    Skip,
    /// It waits for the end of that mission, within the grace.
    Queue,
}

/// Treatment of slots in which nothing looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missed {
    /// They are left out.
    #[default]
    Skip,
    /// The last of them counts, within the grace.
    Once,
}

impl Overlap {
    /// Every value, in the order of the help.
    pub const ALL: [Overlap; 2] = [Overlap::Skip, Overlap::Queue];

    /// The word in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Overlap::Skip => "skip",
            Overlap::Queue => "queue",
        }
    }
}

impl Missed {
    /// Every value, in the order of the help.
    pub const ALL: [Missed; 2] = [Missed::Skip, Missed::Once];

    /// The word in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Missed::Skip => "skip",
            Missed::Once => "once",
        }
    }
}

/// The rule of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleRule {
    /// Treatment of a slot while a mission of it runs.
    pub overlap: Overlap,
    /// Treatment of slots in which nothing looked in time.
    pub missed: Missed,
    /// Seconds for which a slot that could not start in time stays owed.
    pub grace: i64,
}

/// The facts of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleFacts<'a> {
    /// Now, in seconds since 1970.
    pub now: i64,
    /// Slots that are due and have no decision, the oldest first.
    pub due: &'a [Slot],
    /// An earlier slot that waits.
    pub owed: Option<Slot>,
    /// True if a mission of the schedule has not ended.
    pub is_running: bool,
    /// True if no mission may start now, because of a budget.
    pub is_limited: bool,
}

/// Reason for which a slot starts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// Nothing looked in time.
    Missed,
    /// It could not start within the grace.
    Grace,
    /// A later slot takes its place.
    Later,
    /// A mission of the schedule runs.
    Overlap,
}

impl SkipReason {
    /// The word in the file of slots.
    pub const fn as_str(self) -> &'static str {
        match self {
            SkipReason::Missed => "missed",
            SkipReason::Grace => "grace",
            SkipReason::Later => "later",
            SkipReason::Overlap => "overlap",
        }
    }
}

/// Reason for which a slot waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwedReason {
    /// A mission of the schedule runs.
    Overlap,
    /// A budget is used up.
    Limit,
}

impl OwedReason {
    /// The word in the file of slots.
    pub const fn as_str(self) -> &'static str {
        match self {
            OwedReason::Overlap => "overlap",
            OwedReason::Limit => "limit",
        }
    }
}

/// Consequence for the newest slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotDecision {
    /// Its mission starts.
    Start(Slot),
    /// The slot stays owed until its grace is over.
    Owe(Slot, OwedReason),
}

/// Consequence of a look at a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleTurn {
    /// Slots that start nothing, the oldest first.
    pub skipped: Vec<(Slot, SkipReason)>,
    /// The slot that starts or waits, if there is one.
    pub decision: Option<SlotDecision>,
}

impl ScheduleRule {
    /// The decision about the slots that are due. At most one starts, so that an outage is followed by no burst.
    pub fn turn(&self, facts: &ScheduleFacts<'_>) -> ScheduleTurn {
        let mut turn = ScheduleTurn::default();
        let mut newest: Option<Slot> = None;
        let owed = facts.owed.into_iter().map(|slot| (slot, true));
        for (slot, is_owed) in owed.chain(facts.due.iter().map(|slot| (*slot, false))) {
            let age = facts.now - slot.at;
            if age > self.grace.max(ON_TIME) {
                turn.skipped.push((slot, if is_owed { SkipReason::Grace } else { SkipReason::Missed }));
            } else if !is_owed && age > ON_TIME && self.missed == Missed::Skip {
                turn.skipped.push((slot, SkipReason::Missed));
            } else if let Some(earlier) = newest.replace(slot) {
                turn.skipped.push((earlier, SkipReason::Later));
            }
        }
        let Some(slot) = newest else { return turn };
        match (facts.is_running, self.overlap) {
            (true, Overlap::Skip) => turn.skipped.push((slot, SkipReason::Overlap)),
            (true, Overlap::Queue) => turn.decision = Some(SlotDecision::Owe(slot, OwedReason::Overlap)),
            (false, _) if facts.is_limited => {
                turn.decision = Some(SlotDecision::Owe(slot, OwedReason::Limit));
            }
            (false, _) => turn.decision = Some(SlotDecision::Start(slot)),
        }
        turn
    }
}

impl Cron {
    /// The slots after one instant until another, the oldest first.
    pub fn slots(&self, zone: &Zone, after: i64, until: i64) -> Vec<Slot> {
        let (first, last) = (day_of(zone, after) - 1, day_of(zone, until) + 1);
        let all = (first..=last).flat_map(|day| self.of_day(zone, day));
        let mut slots: Vec<Slot> = all.filter(|slot| after < slot.at && slot.at <= until).collect();
        slots.sort_by_key(|slot| slot.at);
        slots
    }

    /// The first slot after an instant.
    pub fn next(&self, zone: &Zone, after: i64) -> Option<Slot> {
        let first = day_of(zone, after) - 1;
        let (year, ..) = date_of(first);
        (first..days(year + YEARS, 1, 1))
            .find_map(|day| self.of_day(zone, day).filter(|slot| slot.at > after).min_by_key(|slot| slot.at))
    }

    /// The slots of a local day. Those that clocks skip are at the instant that they would have been; of an expression for every hour
    /// they are left out, since the next hour has its own. An hour that comes twice counts the first time.
    fn of_day<'c>(&'c self, zone: &'c Zone, day: i64) -> impl Iterator<Item = Slot> + 'c {
        self.times(day).filter_map(|local| match zone.instant(local) {
            Instant::At(at) => Some(Slot { local, at }),
            Instant::Skipped(at) => (!self.is_every_hour()).then_some(Slot { local, at }),
        })
    }
}

fn day_of(zone: &Zone, at: i64) -> i64 {
    let LocalTime { year, month, day, .. } = zone.local(at);
    days(year, month, day)
}
