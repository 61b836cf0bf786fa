//! Budgets of days and months: the agents that count, and the end of a period whose budget is used up.

use std::time::SystemTime;

use orange_core::budget::Budget;

use super::{of_home, of_project, used};
use crate::app::App;
use crate::flow::activity;
use crate::store::history::AgentTimes;
use crate::store::{WorkItem, WorkItemKind, list};
use crate::{Error, ErrorKind, Result};
use orange_system::{clock, fault};

/// A day or a month of a project, or of all projects, whose budget is used up: no agent starts until its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// In one sentence, without the end.
    pub why: String,
    /// The end of the day or the month.
    pub until: SystemTime,
}

impl Pause {
    /// The remaining seconds.
    pub fn left(&self) -> u32 {
        let left = self.until.duration_since(fault::now()).unwrap_or_default().as_secs() + 1;
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    /// The refusal of a start that a person asks for.
    pub fn refusal(&self) -> Error {
        let until = clock::rfc3339(self.until);
        Error::new(ErrorKind::Refused, format!("{}, until {until}", self.why)).help(
            "a person raises it in `orange project update --budget-day`, in orange.toml or in budget.toml",
        )
    }
}

/// The used-up budget of the present day or month for which no agent of a project starts.
pub fn pause(app: &App, project: &str) -> Result<Option<Pause>> {
    let of_project = of_project(app, project)?;
    let of_all = of_home(app)?;
    let limits = [
        (Some(project), Period::Day, of_project.day.unwrap_or_default()),
        (Some(project), Period::Month, of_project.month.unwrap_or_default()),
        (None, Period::Day, of_all.day.unwrap_or_default()),
        (None, Period::Month, of_all.month.unwrap_or_default()),
    ];
    let now = fault::now();
    let today = clock::rfc3339(now);
    for (of, period, limits) in limits.into_iter().filter(|(.., limits)| !limits.is_empty()) {
        let spent = spent_in(app, of, period.of(&today), now)?;
        if let Some(reached) = limits.reached(spent).next() {
            let of = of.map_or_else(|| "all projects".to_owned(), str::to_owned);
            let why = format!("the {}'s budget of {of} is used up: {}", period.word(), reached.words());
            return Ok(Some(Pause { why, until: period.end(&today).unwrap_or(now) }));
        }
    }
    Ok(None)
}

#[derive(Clone, Copy)]
enum Period {
    Day,
    Month,
}

impl Period {
    fn word(self) -> &'static str {
        match self {
            Period::Day => "day",
            Period::Month => "month",
        }
    }

    /// The beginning of a time in RFC 3339 that names the period.
    fn of(self, time: &str) -> &str {
        let length = match self {
            Period::Day => 10,
            Period::Month => 7,
        };
        time.get(..length).unwrap_or_default()
    }

    /// The end of the period of a time.
    fn end(self, time: &str) -> Option<SystemTime> {
        const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);
        match self {
            Period::Day => Some(clock::parse(&format!("{}T00:00:00Z", self.of(time)))? + DAY),
            Period::Month => {
                let (year, month) = self.of(time).split_once('-')?;
                let (year, month): (u32, u32) = (year.parse().ok()?, month.parse().ok()?);
                let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
                clock::parse(&format!("{year:04}-{month:02}-01T00:00:00Z"))
            }
        }
    }
}

/// Amounts that the agents used whose end is in a period, or that are alive. A journal that cannot be read counts nothing:
/// `orange usage` reports it.
fn spent_in(app: &App, project: Option<&str>, period: &str, now: SystemTime) -> Result<Budget> {
    let mut all = Budget::default();
    for dir in list::dirs(&app.home, &WorkItemKind::ALL, project)? {
        let Ok((item, journal)) = WorkItem::read_last(&app.home, &dir, 0) else { continue };
        let history = journal.history();
        let is_in = |times: &AgentTimes| times.ended.as_deref().is_none_or(|ended| ended.starts_with(period));
        if !history.agents.times.values().any(is_in) {
            continue;
        }
        let spent = activity::spent(app, &dir, &item, &history);
        let within = history.agents.times.iter().filter(|(_, times)| is_in(times));
        let each = within.map(|(spawn, times)| used(times, spent.get(spawn), now));
        all = each.fold(all, Budget::plus);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> String {
        format!("2026-11-21T{time}.000Z")
    }

    #[test]
    fn periods_end_at_midnight_in_utc() {
        let end = |period: Period, time: &str| period.end(time).map(clock::rfc3339);
        assert_eq!(end(Period::Day, &at("23:59:59")).as_deref(), Some("2026-11-22T00:00:00.000Z"));
        assert_eq!(end(Period::Month, &at("00:00:00")).as_deref(), Some("2026-12-01T00:00:00.000Z"));
        assert_eq!(
            end(Period::Month, "2026-12-31T10:00:00.000Z").as_deref(),
            Some("2027-01-01T00:00:00.000Z")
        );
    }
}
