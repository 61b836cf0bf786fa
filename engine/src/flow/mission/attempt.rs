//! Report of an agent about its attempt: a completion or a failure.

use orange_core::mission::{Effect, Report};
use orange_system::variables::{ATTEMPT, STEP};

use super::locked::LockedMission;
use super::{gates, readers};
use crate::app::App;
use crate::store::event::{EndedAttempt, StepEnd};
use crate::store::{Event, WorkItemDir, WorkItemHistory};
use crate::{Error, ErrorKind, Result};

/// The attempt of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnAttempt {
    pub step: String,
    /// The number of the attempt.
    pub attempt: u32,
}

/// Attempt that the environment of an agent names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    pub step: Option<String>,
    /// The number of the attempt.
    pub attempt: Option<u32>,
}

impl Claim {
    pub fn from_env() -> Claim {
        let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        Claim { step: variable(STEP), attempt: variable(ATTEMPT).and_then(|number| number.parse().ok()) }
    }
}

/// Report of an agent about its attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptReport {
    /// It is complete.
    Completed(Report),
    /// It has failed, for this reason.
    Failed(String),
}

/// Effect of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportEffect {
    Counted,
    /// It was accepted before, and nothing has changed.
    Repeated,
}

/// Takes what an agent reports, and has the mission go on in another process, which ends the agent.
///
/// # Errors
/// `refused` when the attempt is not the current one, has ended otherwise, or a gate of the step says no; `usage` for a result that is
/// not declared.
pub fn report(
    app: &App,
    dir: &WorkItemDir,
    claim: &Claim,
    said: AttemptReport,
) -> Result<(OwnAttempt, ReportEffect)> {
    let mut mission = LockedMission::lock(app, dir)?;
    let spawn = app.caller.check_step(&app.home, &app.folder, mission.locked.task())?;
    let own = own(mission.locked.history(), spawn, claim)?;
    let event = event(&own, said);
    if let Some(gates) = gates::due(&mission, &event)? {
        drop(mission);
        gates.check(app, dir)?;
        mission = LockedMission::lock(app, dir)?;
    }
    if mission.following(&event)? != mission.projection.mission {
        readers::look(app, &mut mission, &own.step, own.attempt)?;
    }
    let effects = mission.record(event, Vec::new())?;
    drop(mission);
    let taken = if effects == [Effect::Repeated] { ReportEffect::Repeated } else { ReportEffect::Counted };
    // The process that took the report before may have been killed before this.
    super::advance::advance_later(app, dir).map(|()| (own, taken))
}

/// The attempt for which this agent was started.
///
/// # Errors
/// `not_allowed` when its environment claims another one.
pub fn own(history: &WorkItemHistory, spawn: u32, claim: &Claim) -> Result<OwnAttempt> {
    let agents = &history.agents;
    let recorded = agents.alive.get(&spawn).or_else(|| agents.here.values().find(|it| it.spawn == spawn));
    let recorded =
        recorded.and_then(|record| Some(OwnAttempt { step: record.step.clone()?, attempt: record.attempt? }));
    // The record of an attempt names its first agent, and the next ones follow before the next attempt.
    let started = || {
        history.mission.records.iter().rev().find_map(|record| {
            let Event::StepStarted { step, attempt, spawn: first, .. } = &record.event else { return None };
            (*first..=history.agents.last_spawn)
                .contains(&spawn)
                .then(|| OwnAttempt { step: step.clone(), attempt: *attempt })
        })
    };
    let Some(own) = recorded.or_else(started) else {
        return Err(Error::new(
            ErrorKind::NotAllowed,
            format!("agent {spawn} works at no step of this mission"),
        )
        .help("ask from the environment that the agent was started with"));
    };
    let attempt = history.mission.counted(own.attempt);
    let is_other = claim.step.as_ref().is_some_and(|step| *step != own.step)
        || claim.attempt.is_some_and(|claimed| claimed != attempt);
    if is_other {
        let step = own.step;
        return Err(Error::new(
            ErrorKind::NotAllowed,
            format!("agent {spawn} works at step {step}, attempt {attempt}, and {STEP} and {ATTEMPT} say something else"),
        )
        .help("an agent reports its own attempt only: leave these variables as they are"));
    }
    Ok(own)
}

/// The event of a report.
fn event(own: &OwnAttempt, said: AttemptReport) -> Event {
    Event::StepEnded(ended(own, said))
}

/// The end of an attempt by its report.
pub(super) fn ended(own: &OwnAttempt, said: AttemptReport) -> EndedAttempt {
    let ended = EndedAttempt { step: own.step.clone(), attempt: own.attempt, ..EndedAttempt::default() };
    match said {
        AttemptReport::Completed(Report { result, summary, warning, outputs, answer: _ }) => EndedAttempt {
            end: StepEnd::Completed,
            result,
            summary: Some(summary),
            warning,
            outputs,
            ..ended
        },
        AttemptReport::Failed(reason) => EndedAttempt { end: StepEnd::Failed, reason: Some(reason), ..ended },
    }
}
