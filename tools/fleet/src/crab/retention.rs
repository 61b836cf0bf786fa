//! Removes the missions of attempts that ended long ago: first to the trash of the crab's home, and later from there.

use std::time::{Duration, Instant, SystemTime};

use orange_api::Result;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::Crab;
use super::job::is_key;
use orange_api::MissionRow;

const A_DAY: Duration = Duration::from_secs(86_400);

/// The most missions that go at a time. The crab looks for work before it removes more.
const AT_ONCE: usize = 100;

/// State of the removals of old missions.
#[derive(Debug, Default)]
pub(super) struct Removals {
    /// Time of the last removal of everything that was old, also of one that failed.
    last: Option<Instant>,
    /// Error of that removal; empty without one.
    trouble: String,
}

impl Removals {
    fn are_due(&self) -> bool {
        self.last.is_none_or(|last| last.elapsed() >= A_DAY)
    }
}

impl Crab {
    /// Removes what is too old, once a day. A failure is said once, and keeps the crab from nothing.
    pub(super) fn remove_old(&mut self) {
        let Some(days) = self.settings.keep_days.filter(|_| self.removals.are_due()) else { return };
        match self.remove_older_than(days) {
            Ok(true) => self.removals = Removals { last: Some(Instant::now()), ..Removals::default() },
            Ok(false) => {}
            Err(error) => {
                let trouble = error.one_line();
                if trouble != self.removals.trouble {
                    self.tell(&format!("cannot remove old missions: {trouble}"));
                }
                self.removals = Removals { last: Some(Instant::now()), trouble };
            }
        }
    }

    /// False when more is left than may go at a time.
    fn remove_older_than(&self, days: u32) -> Result<bool> {
        let own = self.home.job()?.map(|job| job.key());
        let missions = self.orange.missions()?;
        let old = too_old(&missions, own.as_deref(), SystemTime::now(), A_DAY * days);
        let now = &old[..old.len().min(AT_ONCE)];
        let deleted: Vec<Result<()>> = now.iter().map(|mission| self.orange.delete(mission)).collect();
        let count = deleted.iter().filter(|it| it.is_ok()).count();
        if count > 0 {
            self.tell(&format!("its trash has what ended {days} days ago or before: {count} missions"));
        }
        let is_all = now.len() == old.len();
        if is_all {
            self.orange.collect(days)?;
        }
        deleted.into_iter().collect::<Result<()>>().map(|()| is_all)
    }
}

/// The ids of the missions of attempts that ended so long before `now`. `own` is the workflow of the present job, whose mission
/// stays; a mission without a readable time stays, too.
fn too_old<'m>(
    missions: &'m [MissionRow],
    own: Option<&str>,
    now: SystemTime,
    keep: Duration,
) -> Vec<&'m str> {
    let is_over = |it: &&MissionRow| it.status.is_terminal();
    let is_old = |it: &&MissionRow| {
        let ended: Option<SystemTime> = OffsetDateTime::parse(&it.updated_at, &Rfc3339).ok().map(Into::into);
        ended.and_then(|ended| now.duration_since(ended).ok()).is_some_and(|age| age >= keep)
    };
    let of_attempts = missions.iter().filter(|it| is_key(&it.workflow));
    let of_others = of_attempts.filter(|it| Some(it.workflow.as_str()) != own);
    of_others.filter(is_over).filter(is_old).map(|it| it.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use orange_core::mission::MissionStatus;

    use super::*;

    fn mission(workflow: &str, status: MissionStatus, updated_at: &str) -> MissionRow {
        MissionRow {
            id: "m".to_owned(),
            project: "toy".to_owned(),
            branch: "fix".to_owned(),
            workflow: workflow.to_owned(),
            status,
            step: None,
            summary: String::new(),
            pause: None,
            asks: Vec::new(),
            waiting_until: None,
            need: None,
            attention: None,
            updated_at: updated_at.to_owned(),
        }
    }

    /// Checks that the mission goes, or stays, on 31 January, 12:00, when missions are kept for 30 days.
    #[track_caller]
    fn check(mission: MissionRow, own: Option<&str>, goes: bool) {
        let now = OffsetDateTime::parse("2026-01-31T12:00:00Z", &Rfc3339).unwrap().into();
        let missions = [mission];
        assert_eq!(too_old(&missions, own, now, A_DAY * 30).len(), usize::from(goes), "{missions:?}");
    }

    #[test]
    fn a_mission_goes_when_it_ended_long_enough_ago() {
        for (ended, goes) in [
            ("2025-12-01T00:00:00.000Z", true),
            ("2026-01-01T12:00:00.000Z", true),
            ("2026-01-01T12:00:00.001Z", false),
            ("2026-01-31T12:00:00.000Z", false),
            ("2027-01-31T12:00:00.000Z", false),
            ("yesterday", false),
            ("", false),
        ] {
            check(mission("run-a", MissionStatus::Cancelled, ended), None, goes);
        }
    }

    #[test]
    fn only_what_is_over_goes() {
        for (status, goes) in [
            (MissionStatus::Completed, true),
            (MissionStatus::Failed, true),
            (MissionStatus::Cancelled, true),
            (MissionStatus::Pending, false),
            (MissionStatus::Running, false),
            (MissionStatus::Paused, false),
        ] {
            check(mission("run-a", status, "2025-01-01T00:00:00Z"), Some("run-b"), goes);
        }
    }

    #[test]
    fn the_present_job_and_missions_of_people_stay() {
        let old = |workflow: &str| mission(workflow, MissionStatus::Cancelled, "2025-01-01T00:00:00Z");
        check(old("run-a"), Some("run-a"), false);
        check(old("dev-task"), None, false);
        check(old("my-run-a"), None, false);
    }
}
