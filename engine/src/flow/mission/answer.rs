//! Requests of people to a mission: go on, try again, end.

use orange_core::mission::{AnswerEffect, Effect, MissionStatus};
use orange_core::plan::{Execution, Intervene};

use super::advance;
use super::locked::LockedMission;
use super::projection::named;
use crate::Result;
use crate::app::App;
use crate::store::{Event, LockedWorkItem, Set, WorkItemDir, event, work_item};

/// An answer to a pause.
#[derive(Clone, Copy, Debug, Default)]
pub struct PauseDecision {
    /// The number of the pause that the person means; the oldest open one by default.
    pub pause: Option<u32>,
    /// Take the failure as it is.
    pub accept_failure: bool,
    /// The policy from now on.
    pub execution: Option<Execution>,
    /// The policy from now on.
    pub intervene: Option<Intervene>,
    /// True if a button of a notification gave it.
    pub is_from_phone: bool,
}

/// Effect of an answer, with the name of the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredPause {
    /// The number of the pause that was answered.
    pub pause: u32,
    /// Effect, in words.
    pub what: String,
}

/// Actor that decides about the mission.
fn who(app: &App, locked: &LockedWorkItem) -> Result<event::Actor> {
    app.caller.check_answer(&app.home, &locked.dir().id, locked.history()).map(Into::into)
}

/// Answers a pause of a mission, which goes on when none is open.
///
/// # Errors
/// `refused` when it is not paused, or this pause is not open; those of [`advance::advance`].
pub fn go_on(app: &App, dir: &WorkItemDir, answer: PauseDecision) -> Result<AnsweredPause> {
    let mut mission = LockedMission::lock(app, dir)?;
    let actor = who(app, &mission.locked)?;
    let open: Vec<u32> = mission.projection.mission.questions.iter().map(|it| it.number).collect();
    let pause = answer.pause.or(open.first().copied()).unwrap_or_default();
    let continued = Event::MissionContinued {
        pause,
        accept_failure: answer.accept_failure,
        execution: answer.execution.map(|it| it.as_str().to_owned()),
        intervene: answer.intervene.map(|it| it.as_str().to_owned()),
        still_open: open.iter().copied().filter(|number| *number < pause).collect(),
        actor,
        via: answer.is_from_phone.then_some(event::Via::Phone),
    };
    let effects = mission.record(continued, Vec::new())?;
    let what = effects.iter().find_map(|effect| match effect {
        Effect::Continued(answered) => Some(words(&mission, *answered, open.len() > 1)),
        Effect::EndAgent { .. }
        | Effect::Repeated
        | Effect::Paused(_)
        | Effect::Land { .. }
        | Effect::Start { .. }
        | Effect::Ask { .. }
        | Effect::Ended(_) => None,
    });
    drop(mission);
    advance::advance_detached(app, dir)?;
    Ok(AnsweredPause { pause, what: what.unwrap_or_default() })
}

fn words(mission: &LockedMission, answered: AnswerEffect, others_are_open: bool) -> String {
    let name = |step| mission.projection.plan.step(step).id;
    match answered {
        AnswerEffect::WentOn if others_are_open => "other pauses are open".to_owned(),
        AnswerEffect::WentOn => "it goes on".to_owned(),
        AnswerEffect::TriedAgain(step) => format!("step {} is tried again", name(step)),
        AnswerEffect::Granted(step) => format!("the loop of {} has one more round", name(step)),
        AnswerEffect::Accepted(step) => format!("the failure of {} is taken as it is", name(step)),
        AnswerEffect::Extended => {
            let most = mission.projection.plan.max_attempts.unwrap_or_default();
            format!("it may start {most} more attempt{}", if most == 1 { "" } else { "s" })
        }
        AnswerEffect::Capped => "no step starts any more".to_owned(),
    }
}

/// Runs a failed mission again: from this step, or from each failed one.
///
/// # Errors
/// `refused` when it has not failed; `not_found` when there is no such step.
pub fn retry(app: &App, dir: &WorkItemDir, step: Option<&str>) -> Result<()> {
    let mut mission = LockedMission::lock(app, dir)?;
    let actor = who(app, &mission.locked)?;
    if let Some(step) = step {
        named(mission.projection.plan, step)?;
    }
    let retried = Event::MissionRetried { step: step.map(str::to_owned), actor };
    mission.record(retried, Vec::new())?;
    drop(mission);
    advance::advance_detached(app, dir)
}

/// Ends a mission, also one whose plan is damaged, and gives its worktree back. Returns the backups of the work that the worktree
/// had.
///
/// # Errors
/// `refused` when it has completed or is cancelled already.
pub fn cancel(app: &App, dir: &WorkItemDir) -> Result<Vec<String>> {
    let before = work_item::read_journal_last(dir, 0)?.history().last_seq;
    match LockedMission::lock(app, dir) {
        Ok(mut mission) => {
            let actor = who(app, &mission.locked)?;
            mission.record(Event::MissionCancelled { actor }, Vec::new())?;
            drop(mission);
            advance::advance_detached(app, dir)?;
        }
        Err(error) if error.kind == crate::ErrorKind::Corrupt => {
            let mut locked = LockedWorkItem::lock(&app.home, dir)?;
            let actor = who(app, &locked)?;
            let status = MissionStatus::Cancelled;
            let set = Set::new().status(status.as_str());
            locked.append(Event::MissionCancelled { actor }, set)?;
            advance::leave_as(app, &mut locked, status)?;
        }
        Err(error) => return Err(error),
    }
    backed_up_since(dir, before)
}

/// The backups of a worktree's work that the journal has since this event.
///
/// # Errors
/// `corrupt` when the journal cannot be read.
pub fn backed_up_since(dir: &WorkItemDir, before: u64) -> Result<Vec<String>> {
    let kept = |event| {
        let (Event::WorkBackedUp { reference: kept, .. } | Event::WorkSetAside { folder: kept }) = event
        else {
            return None;
        };
        Some(kept)
    };
    let new = work_item::read_journal(dir)?.records.into_iter().filter(|record| record.seq > before);
    Ok(new.filter_map(|record| kept(record.event)).collect())
}
