//! The end of an agent of a mission, and of the time that an attempt may take.

use std::time::{Duration, SystemTime};

use orange_core::Delay;

use super::LockedMission;
use super::advance::advance;
use super::attempt_end::failed;
use super::projection::is_at;
use super::{ask, limit, readers, wait};
use crate::app::App;
use crate::flow::agent::ended::lost_conversation;
use crate::hooks::agent_processes::AgentProcesses;
use crate::hooks::{agents, steps, trace};
use crate::store::event::{Ending, Exited, Spawn, Waiting};
use crate::store::{Event, Set, WorkItemDir};
use crate::{ErrorKind, Result};
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

/// The attempts of agents whose time is over: each with its step, its number, and the seconds that it may take. The time begins again
/// after a limit.
fn overdue(mission: &LockedMission) -> Vec<(&'static str, u32, u32)> {
    let plan = mission.projection.plan;
    let working = mission.projection.mission.working().filter(|(step, _)| !plan.step(*step).is_program());
    let timed = working.filter_map(|(step, number)| {
        let timeout = plan.step(step).timeout?;
        let lasted = fault::now().duration_since(active_since(mission, plan.step(step).id, number)?);
        let is_over = lasted.unwrap_or_default() >= Duration::from_secs(timeout.into());
        is_over.then_some((plan.step(step).id, number, timeout))
    });
    timed.collect()
}

/// Time at which the agent of an attempt was started, or went on after a limit; `None` while the attempt waits for one.
fn active_since(mission: &LockedMission, step: &str, number: u32) -> Option<SystemTime> {
    let agents = &mission.locked.history().agents;
    let spawn = agents.here.values().filter(|it| is_at(it, step, number)).map(|it| it.spawn).max()?;
    let waits = |waiting: &Waiting| waiting.spawn == spawn || !agents.alive.contains_key(&spawn);
    if agents.waiting.as_ref().is_some_and(waits) {
        return None;
    }
    let times = agents.times.get(&spawn)?;
    clock::parse(times.continued.as_ref().unwrap_or(&times.began))
}

/// Looks after a mission: takes note of agents that are gone and of attempts whose time is over, and goes on. Returns what
/// was done, in words.
pub fn look(app: &App, dir: &WorkItemDir, missing: &[u32]) -> Result<Vec<String>> {
    let mut stories = Vec::new();
    for spawn in missing {
        stories.push(ended(app, dir, &Exited::of(*spawn, Ending::PaneGone))?);
    }
    let mut mission = LockedMission::lock(app, dir)?;
    for (step, attempt, timeout) in overdue(&mission) {
        let reason = format!("it took longer than the {timeout} seconds that it may take");
        if mission.following(&failed(step, attempt, &reason)).is_ok() {
            readers::look(app, &mut mission, step, attempt)?;
        }
        match mission.record(failed(step, attempt, &reason), Vec::new()) {
            Ok(_) => stories.push(format!("step {step}, attempt {attempt}: {reason}")),
            // The failure of another step has taken this attempt back.
            Err(error) if error.kind == ErrorKind::Refused => {}
            Err(error) => return Err(error),
        }
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
