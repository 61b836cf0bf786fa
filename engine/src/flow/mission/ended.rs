//! The end of an agent of a mission, and of the time that an attempt may take.

use std::time::Duration;

use orange_core::Delay;

use super::LockedMission;
use super::advance::advance;
use super::attempt::failed;
use super::{ask, limit, wait};
use crate::Result;
use crate::app::App;
use crate::flow::agent::ended::lost_conversation;
use crate::hooks::agent_processes::AgentProcesses;
use crate::hooks::{agents, steps, trace};
use crate::store::event::{Ending, Exited, Spawn};
use crate::store::{Event, Set, WorkItemDir};
use orange_system::{clock, fault};

/// Records an agent's end, which is an end without a word if its attempt is still open, and goes on. A second report of the
/// same end changes nothing.
pub fn ended(app: &App, dir: &WorkItemDir, end: &Exited) -> Result<String> {
    let mut mission = LockedMission::lock(app, dir)?;
    let story = match agents::left_nothing(app, &mission.locked, end.spawn)? {
        Some(record) => take(app, &mut mission, end, &record)?,
        None => format!("agent {} has been replaced or is on record as ended", end.spawn),
    };
    AgentProcesses::forget(dir, end.spawn)?;
    drop(mission);
    advance(app, dir).map(|()| story)
}

fn take(app: &App, mission: &mut LockedMission, end: &Exited, record: &Spawn) -> Result<String> {
    let exited = exited(app, mission, end);
    let Some((step, attempt)) = mission.projection.attempt_of(record) else {
        mission.locked.append_many(vec![exited])?;
        return Ok(format!("agent {} has ended: {}", end.spawn, end.reason));
    };
    if let Some(story) = limit::ended_at_one(app, mission, end, &exited)? {
        return Ok(story);
    }
    if let Some(why) = lost_conversation(app, record, end) {
        // The attempt goes on with an agent that begins a new conversation.
        let conversation = record.conversation.clone().unwrap_or_default();
        let reason = end.reason.clone();
        let not_resumed = Event::AgentNotResumed { spawn: end.spawn, conversation, reason };
        let with = vec![exited, not_resumed.into()];
        let story = format!("agent {}: {why}; the next one begins a new one", end.spawn);
        if !wait::runs(mission) {
            return mission.locked.append_many(with).map(|()| story);
        }
        return wait::begin(app, mission, end.spawn, Delay::Ended, &story, with);
    }
    wait::after_loss(app, mission, end, (step, attempt), exited)
}

fn exited(app: &App, mission: &LockedMission, end: &Exited) -> (Event, Set) {
    let exited = trace::keep(app, &mission.locked, end.clone());
    fault::step("record the end of", "an agent");
    (Event::AgentExited(exited), steps::without_session(&mission.locked))
}

/// The running attempt whose time is over: its step, its number, and the seconds that it may take. It begins again after a limit.
fn overdue(mission: &LockedMission) -> Option<(&'static str, u32, u32)> {
    let step = mission.projection.mission.busy()?;
    let (plan, attempt) = (mission.projection.plan, mission.projection.mission.step(step).attempt());
    let timeout = plan.step(step).timeout?;
    let name = plan.step(step).id;
    let history = mission.locked.history();
    let active_since =
        clock::parse(&history.agents.active_since).filter(|_| history.agents.waiting.is_none())?;
    let lasted = fault::now().duration_since(active_since).unwrap_or_default();
    (lasted >= Duration::from_secs(timeout.into())).then_some((name, attempt, timeout))
}

/// Looks after a mission: takes note of agents that are gone and of attempts whose time is over, and goes on. Returns what
/// was done, in words.
pub fn look(app: &App, dir: &WorkItemDir, missing: &[u32]) -> Result<Vec<String>> {
    let mut stories = Vec::new();
    for spawn in missing {
        stories.push(ended(app, dir, &Exited::of(*spawn, Ending::PaneGone))?);
    }
    let mut mission = LockedMission::lock(app, dir)?;
    if let Some((step, attempt, timeout)) = overdue(&mission) {
        let reason = format!("it took longer than the {timeout} seconds that it may take");
        mission.record(failed(step, attempt, &reason), Vec::new())?;
        stories.push(format!("step {step}, attempt {attempt}: {reason}"));
    }
    stories.extend(ask::expire_all(&mut mission)?);
    let before = mission.locked.history().last_seq;
    drop(mission);
    advance(app, dir)?;
    let after = LockedMission::lock(app, dir)?;
    if stories.is_empty() && after.locked.history().last_seq != before {
        stories.push(format!("brought the mission forward: it is {}", after.locked.task().status()));
    }
    Ok(stories)
}
