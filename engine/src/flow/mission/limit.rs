//! Limits of a provider: an agent that has met one is waited for, and its attempt stays open. By the rules of tasks, it is started
//! again when the limit is over, or told to go on if it is alive.

use orange_core::Delay;

use super::LockedMission;
use super::wait::{self, runs};
use crate::Result;
use crate::app::App;
use crate::flow::{activity, limit};
use crate::store::activity::ReportedLimit;
use crate::store::event::Exited;
use crate::store::{Event, Set, WorkItemDir};
use orange_system::fault;

/// Records that a living agent waits for the end of a limit. `None` if it has met none, is waited for already, or works at no open
/// attempt; otherwise what was done, in words.
///
/// # Errors
/// Those of the store.
pub fn met(app: &App, dir: &WorkItemDir, spawn: u32) -> Result<Option<String>> {
    let mut mission = LockedMission::lock(app, dir)?;
    activity::journal_reports(app, &mut mission.locked)?;
    let history = mission.locked.history();
    let is_open =
        history.agents.alive.get(&spawn).is_some_and(|it| mission.projection.attempt_of(it).is_some());
    let Some(met) = limit::met(dir, spawn).filter(|_| is_open && runs(&mission)) else { return Ok(None) };
    if history.agents.waiting.is_some() {
        return Ok(None);
    }
    wait::begin(app, &mut mission, spawn, at(&met), &limit::words(spawn, &met), Vec::new()).map(Some)
}

/// Records the end of an agent that had met a limit: its attempt goes on later. `None` if it had met none; otherwise what was done,
/// in words.
pub(super) fn ended_at_one(
    app: &App,
    mission: &mut LockedMission,
    end: &Exited,
    exited: &(Event, Set),
) -> Result<Option<String>> {
    let Exited { spawn, reason, .. } = end;
    let history = mission.locked.history();
    if history.agents.waiting.as_ref().is_some_and(|waiting| waiting.spawn == *spawn) {
        mission.locked.append_many(vec![exited.clone()])?;
        return Ok(Some(format!(
            "agent {spawn} has ended ({reason}) while it waited for the end of a limit"
        )));
    }
    let Some(met) = limit::of(mission.locked.dir(), *spawn) else { return Ok(None) };
    let story = format!("{}, and has ended: {reason}", limit::words(*spawn, &met));
    if !runs(mission) {
        // The answer to the pause starts it again.
        mission.locked.append_many(vec![exited.clone()])?;
        return Ok(Some(story));
    }
    wait::begin(app, mission, *spawn, at(&met), &story, vec![exited.clone()]).map(Some)
}

fn at(met: &ReportedLimit) -> Delay {
    Delay::Limit { left: limit::left(met, fault::now()) }
}
