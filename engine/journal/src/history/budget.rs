//! The budget of a task: its own limits, and the limits that were reached.

use orange_core::budget::{Budget, BudgetKind};

/// Subject of events for the budget of a task.
pub const OF_TASK: &str = "task";

/// Subject of events for the budget of a stay in a state.
pub const OF_STATE: &str = "state";

/// Subject of events for the budget of a mission.
pub const OF_MISSION: &str = "mission";

/// Budget of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct BudgetHistory {
    /// Its own limits, which come before those of its project.
    pub own: Budget,
    /// The limits that were reached, each once.
    pub reached: Vec<RecordedLimit>,
    /// True if the engine has ended or not started the agents of the present state because of it.
    pub holds: bool,
    /// The stay in the present state.
    pub stay: StayBudget,
}

/// Budget of a stay in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct StayBudget {
    /// The number of the first agent that is started in it.
    pub first: u32,
    /// Limits that a person has given it, which come before those of the state.
    pub own: Budget,
    /// The limits that were reached, each once.
    pub reached: Vec<RecordedLimit>,
}

/// Record of a limit that was reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RecordedLimit {
    /// The key of its kind; one of a newer version may be unknown.
    pub kind: String,
    /// The limit.
    pub limit: u64,
    /// The amount that was spent then.
    pub spent: u64,
    /// Reason for which the cost was unknown, if that is why.
    pub unpriced: Option<String>,
    /// Time at which that was seen, RFC 3339 UTC.
    pub at: String,
}

impl BudgetHistory {
    /// True if it has neither a limit nor a record.
    pub fn is_empty(&self) -> bool {
        *self == BudgetHistory::default()
    }

    /// The limits of a mission that has these at first: once one was reached and a person let it go on, it has as much again.
    pub fn granted(&self, limits: Budget) -> Budget {
        let mut granted = limits;
        for it in &self.reached {
            let Some(kind) = BudgetKind::named(&it.kind) else { continue };
            let more = limits.get(kind).map(|limit| it.spent.max(it.limit).saturating_add(limit));
            granted.set(kind, more);
        }
        granted
    }

    /// True if it is recorded that this limit was reached.
    pub fn has(&self, kind: BudgetKind, limit: u64) -> bool {
        has(&self.reached, kind, limit)
    }

    /// The first recorded limit that still holds: the present one of its kind is not above what was spent then; where the cost was
    /// unknown, it is the same.
    pub fn standing(&self, limits: &Budget) -> Option<(BudgetKind, u64, &RecordedLimit)> {
        standing(&self.reached, limits)
    }

    /// Notes a limit that was reached.
    pub(super) fn reach(&mut self, of: &str, limit: RecordedLimit) {
        if of == OF_STATE { self.stay.reached.push(limit) } else { self.reached.push(limit) }
    }

    /// Notes a budget that a person has given.
    pub(super) fn change(&mut self, of: &str, budget: Budget) {
        if of == OF_STATE { self.stay.own = budget } else { self.own = budget }
    }

    /// A stay begins, with the agents from this one on.
    pub(super) fn enter(&mut self, first: u32) {
        self.stay = StayBudget { first, ..StayBudget::default() };
    }
}

impl StayBudget {
    /// As [`BudgetHistory::has`].
    pub fn has(&self, kind: BudgetKind, limit: u64) -> bool {
        has(&self.reached, kind, limit)
    }

    /// As [`BudgetHistory::standing`].
    pub fn standing(&self, limits: &Budget) -> Option<(BudgetKind, u64, &RecordedLimit)> {
        standing(&self.reached, limits)
    }
}

fn has(reached: &[RecordedLimit], kind: BudgetKind, limit: u64) -> bool {
    reached.iter().any(|it| it.kind == kind.as_str() && it.limit == limit)
}

fn standing<'r>(
    reached: &'r [RecordedLimit],
    limits: &Budget,
) -> Option<(BudgetKind, u64, &'r RecordedLimit)> {
    reached.iter().find_map(|it| {
        let kind = BudgetKind::named(&it.kind)?;
        let limit = limits.get(kind)?;
        let holds = it.spent >= limit || it.unpriced.is_some() && it.limit == limit;
        holds.then_some((kind, limit, it))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mission_that_goes_on_has_as_much_again() {
        let limits = Budget { starts: Some(3), time: Some(60), ..Budget::default() };
        let mut history = BudgetHistory::default();
        assert_eq!(history.granted(limits), limits);
        let (kind, at) = ("time".to_owned(), String::new());
        history.reach(OF_MISSION, RecordedLimit { kind, limit: 60, spent: 75, unpriced: None, at });
        assert_eq!(history.granted(limits), Budget { time: Some(135), ..limits });
    }

    #[test]
    fn a_limit_that_was_raised_no_longer_stands() {
        let at = "2026-11-21T10:00:00.000Z".to_owned();
        let recorded = |kind: &str, limit, spent| RecordedLimit {
            kind: kind.into(),
            limit,
            spent,
            unpriced: None,
            at: at.clone(),
        };
        let history = BudgetHistory {
            own: Budget::default(),
            holds: true,
            stay: StayBudget::default(),
            reached: vec![recorded("karma", 1, 2), recorded("starts", 3, 3), recorded("time", 60, 70)],
        };
        let standing = |starts, time| {
            let limits = Budget { starts: Some(starts), time: Some(time), ..Budget::default() };
            history.standing(&limits).map(|(kind, limit, _)| (kind, limit))
        };
        assert_eq!(standing(3, 60), Some((BudgetKind::Starts, 3)));
        assert_eq!(standing(4, 65), Some((BudgetKind::Time, 65)));
        assert_eq!(standing(4, 71), None);
        assert!(history.has(BudgetKind::Time, 60) && !history.has(BudgetKind::Time, 65));
        assert_eq!(history.standing(&Budget::default()), None);
    }
}
