//! Limits of a provider: an agent that has met one waits at its prompt, and the engine tells it to go on after the limit. If it
//! ends meanwhile, that is not a crash.

use std::path::Path;
use std::time::SystemTime;

use crate::Result;
use crate::app::App;
use crate::drive::harness::{transcript, until::until};
use crate::flow::asked::known;
use crate::hooks::{agent_processes, agents};
use crate::store::activity::{self, Activity, ReportedDoing, ReportedLimit};
use crate::store::event::GoesOn;
use crate::store::{Event, LockedWorkItem, Set, WorkItemDir};
use orange_system::clock;

/// Seconds after the given end of a limit: it ends a moment after that time, not before it.
pub const MARGIN: u32 = 5;

/// The message to an agent after its limit.
const GO_ON: &str = "The limit that stopped you should be over. Go on where you stopped.";

/// The limit that ended the last turn of this agent.
pub fn of(dir: &WorkItemDir, spawn: u32) -> Option<ReportedLimit> {
    Activity::of(&activity::read(dir), spawn).limit
}

/// The limit at which this agent waits now.
pub fn met(dir: &WorkItemDir, spawn: u32) -> Option<ReportedLimit> {
    match known(&activity::read(dir), spawn).doing {
        ReportedDoing::Limit(met) => Some(met),
        ReportedDoing::Unknown
        | ReportedDoing::Started
        | ReportedDoing::Thinking
        | ReportedDoing::Tool { .. }
        | ReportedDoing::Idle
        | ReportedDoing::Failed { .. }
        | ReportedDoing::Ended => None,
    }
}

/// A sentence about the limit that an agent has met.
pub fn words(spawn: u32, met: &ReportedLimit) -> String {
    format!("agent {spawn} has met a limit ({})", met.text)
}

/// The remaining seconds of a limit, if its harness says so.
pub fn left(limit: &ReportedLimit, now: SystemTime) -> Option<u32> {
    const WEEK: u32 = 604_800;
    let said = limit.until.as_deref().and_then(clock::parse).or_else(|| until(&limit.text, now))?;
    let left = said.duration_since(now).unwrap_or_default().as_secs().saturating_add(MARGIN.into());
    Some(u32::try_from(left).unwrap_or(WEEK).min(WEEK))
}

/// Tells a living agent to go on after a limit, unless it has gone on by itself. `None` if it is not alive.
pub fn go_on(app: &App, locked: &mut LockedWorkItem, spawn: u32) -> Result<Option<String>> {
    let Some(record) = locked.history().agents.alive.get(&spawn).cloned() else { return Ok(None) };
    let panes = app.tmux.panes_of(&locked.task().id)?;
    if !agent_processes::is_alive(locked.dir(), &record, &panes)? {
        return Ok(None);
    }
    let reason = if met(locked.dir(), spawn).is_some() {
        let mark = format!("{}.{spawn}", locked.history().last_seq);
        agents::say(app, locked, spawn, &mark, GO_ON)?;
        GoesOn::Message
    } else {
        GoesOn::ByItself
    };
    let story = format!("agent {spawn} goes on: {reason}");
    locked.append(Event::AgentContinued { spawn, reason }, Set::new())?;
    Ok(Some(story))
}

/// Records how the last turn of an agent ended, if its harness has no hook for that; returns whether it did.
pub fn look_into_transcript(dir: &WorkItemDir, spawn: u32) -> bool {
    let activity = Activity::of(&activity::read(dir), spawn);
    if !matches!(activity.doing, ReportedDoing::Thinking | ReportedDoing::Tool { .. }) {
        return false;
    }
    let note = activity.transcript.and_then(|path| transcript::failure(Path::new(&path), spawn));
    // The record may not have the turn that has begun since.
    let Some(note) = note.filter(|note| note.time >= activity.since) else { return false };
    activity::append(dir, &note).is_ok()
}
