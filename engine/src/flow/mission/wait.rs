//! Waits of a mission's step, by the rules of tasks: for the end of a limit, and before its agent is started again. The time is in
//! the journal; a process of its own, the monitor or the next command goes on then.

use orange_core::Delay;
use orange_core::mission::MissionStatus;

use super::attempt_end::lost;
use super::{LockedMission, readers};
use crate::Result;
use crate::app::App;
use crate::flow::{life, limit, waiting};
use crate::store::event::{Exited, Waiting};
use crate::store::{Event, Set, WorkItemHistory};
use orange_system::fault;

/// True if the time until which the mission waits has not come.
pub(super) fn is_early(history: &WorkItemHistory) -> bool {
    history.agents.waiting.as_ref().is_some_and(|waiting| !waiting::is_due(waiting, fault::now()))
}

/// True if the mission runs: only then does it go on by itself.
pub(super) fn runs(mission: &LockedMission) -> bool {
    mission.projection.mission.status == MissionStatus::Running
}

/// True if no agent is to be started: the time has not come, or the agent at its limit does not read that it is over.
pub(super) fn holds(app: &App, mission: &mut LockedMission) -> Result<bool> {
    let history = mission.locked.history();
    let Some(spawn) = history.agents.waiting.as_ref().map(|waiting| waiting.spawn) else { return Ok(false) };
    if is_early(history) {
        return Ok(true);
    }
    match limit::go_on(app, &mut mission.locked, spawn) {
        Ok(Some(_)) => go_on_others(app, mission, spawn).map(|()| false),
        Ok(None) => Ok(false),
        Err(error) => {
            let reason = format!("agent {spawn} could not be told to go on: {}", error.one_line());
            begin(app, mission, spawn, Delay::Deaf, &reason, Vec::new()).map(|_| true)
        }
    }
}

/// Tells the others to go on whose limits are over, too: those of one provider end together.
fn go_on_others(app: &App, mission: &mut LockedMission, spawn: u32) -> Result<()> {
    let agents = &mission.locked.history().agents;
    let others: Vec<u32> = agents.alive.keys().copied().filter(|it| *it != spawn).collect();
    for other in others {
        let met = limit::met(mission.locked.dir(), other);
        let left = met.map(|met| limit::left(&met, fault::now()).unwrap_or_default());
        if left.is_some_and(|left| left <= limit::MARGIN) {
            limit::go_on(app, &mut mission.locked, other)?;
        }
    }
    Ok(())
}

/// Records the end without a word of the agent of this attempt. If the step is tried again, it waits before. Returns what was done,
/// in words.
pub(super) fn after_loss(
    app: &App,
    mission: &mut LockedMission,
    end: &Exited,
    (step, attempt): (&str, u32),
    exited: (Event, Set),
) -> Result<String> {
    let reason = format!("agent {} has ended without a word: {}", end.spawn, end.reason);
    let lost = lost(step, attempt);
    mission.following(&lost)?;
    readers::look(app, mission, step, attempt)?;
    let (plan, after) = (mission.projection.plan, mission.following(&lost)?);
    let is_again = after.startable(plan).any(|(next, number)| plan.step(next).id == step && number > attempt);
    if !is_again {
        return mission.record(lost, vec![exited]).map(|_| reason);
    }
    let mut with = mission.planned(lost)?;
    with.push(exited);
    let story = begin(app, mission, end.spawn, Delay::Ended, &reason, with)?;
    mission.reload().map(|()| story)
}

/// Journals the wait with these further events, and starts the process that sleeps until its end. A step that has waited too often is
/// left to a person. Returns what was done, in words.
pub(super) fn begin(
    app: &App,
    mission: &mut LockedMission,
    spawn: u32,
    delay: Delay,
    reason: &str,
    with: Vec<(Event, Set)>,
) -> Result<String> {
    let agents = &mission.locked.history().agents;
    let waits = |waiting: &Waiting| waiting.spawn != spawn && agents.alive.contains_key(&waiting.spawn);
    if agents.waiting.as_ref().is_some_and(waits) {
        // Nothing starts until another agent has come to the end of its limit.
        return mission.locked.append_many(with).map(|()| reason.to_owned());
    }
    let before = agents.restarts;
    let Some(after) = delay.seconds(before) else {
        let what = format!("{reason}; the step has waited {before} times");
        return mission.obstruct(&what, with).map(|()| what);
    };
    mission.locked.append_many([with, vec![life::waits(spawn, after, reason)]].concat())?;
    if after == 0 {
        return Ok(reason.to_owned());
    }
    waiting::start_resumer(app, &mission.locked).map(|until| format!("{reason}; {until}"))
}
