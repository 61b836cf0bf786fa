//! Starts an agent again at the time that the journal says: a process of its own sleeps until then. If that was killed, the
//! monitor or the next change of the task starts the agent.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use orange_core::{Actor, Input, LifeEvent, LifeTurn, Machine};

use crate::app::App;
use crate::flow::budget;
use crate::flow::life::{self, TurnRecord};
use crate::flow::limit;
use crate::flow::lock_recovered;
use crate::flow::person::respawn;
use crate::hooks::agents::{AgentStart, Occasion};
use crate::store::event::Waiting;
use crate::store::{LockedWorkItem, WorkItemDir, WorkItemHistory, work_item};
use crate::{ErrorKind, Result};
use orange_system::{clock, fault};

/// Journals a turn, and starts the agent if it is due, or else a process that sleeps until then. If that process cannot be
/// started, the monitor does its work. Returns what was done, in words.
pub fn carry(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedWorkItem,
    turn: &LifeTurn<'static>,
    spawn: u32,
    record: TurnRecord,
) -> Result<String> {
    let how = record.agent.map(|(_, how)| how).unwrap_or_default();
    life::record(app, machine, locked, turn, TurnRecord { agent: Some((spawn, how)), ..record })?;
    let story = &turn.story;
    if !turn.effects.is_empty() {
        return Ok(format!("{story}; {}", start(app, machine, locked, spawn)?));
    }
    let waits = |event: &LifeEvent<'_>| matches!(event, LifeEvent::Waits { .. });
    if !turn.events.iter().any(waits) {
        return Ok(story.clone());
    }
    start_resumer(app, locked).map(|until| format!("{story}; {until}"))
}

/// Starts the process that sleeps until the agent is due. Returns until when, in words.
pub fn start_resumer(app: &App, locked: &LockedWorkItem) -> Result<String> {
    let Some(Waiting { spawn, until, .. }) = &locked.history().agents.waiting else {
        return Ok(String::new());
    };
    let dir = locked.dir();
    let resume = ["agent", "resume", "--task", &dir.id, &format!("--spawn={spawn}")];
    app.start_detached_for(*spawn, &resume, dir)?;
    Ok(format!("it goes on at {until}"))
}

/// Records that a living agent waits for the end of a limit. `None` if it has met none, waits already, or is not the state's
/// agent; otherwise what was done, in words.
pub fn limit_met(app: &App, dir: &WorkItemDir, spawn: u32) -> Result<Option<String>> {
    let mut locked = lock_recovered(app, dir)?;
    let Some(record) = locked.history().agents.alive.get(&spawn) else { return Ok(None) };
    if locked.history().agents.waiting.is_some() {
        return Ok(None);
    }
    let Some(met) = limit::met(dir, spawn) else { return Ok(None) };
    let agent = record.actor.known().unwrap_or(Actor::Worker);
    let machine = app.machine_of(&locked.task().owned)?;
    let left = limit::left(&met, fault::now());
    let input = Input::LimitMet { agent, left, reason: &limit::words(spawn, &met) };
    let turn = life::ask(app, machine, locked.task(), locked.history(), input)?;
    if turn.events.is_empty() {
        return Ok(None);
    }
    carry(app, machine, &mut locked, &turn, spawn, TurnRecord::default()).map(Some)
}

/// Sleeps until the agent that replaces this one is due. False if it is no longer waited for.
pub fn until_due(dir: &WorkItemDir, spawn: u32) -> Result<bool> {
    /// Interval at which the journal is read: a task may move on, a clock may be set, a machine may sleep.
    const LOOK: Duration = Duration::from_secs(30);
    const SHORTEST: Duration = Duration::from_millis(50);
    let begun = Instant::now();
    loop {
        let pending =
            work_item::read_journal(dir)?.history().agents.waiting.filter(|waiting| waiting.spawn == spawn);
        let Some(waiting) = pending else { return Ok(false) };
        if is_due(&waiting, fault::now()) {
            return Ok(true);
        }
        let left = Duration::from_secs(waiting.after.into()).saturating_sub(begun.elapsed());
        thread::sleep(left.clamp(SHORTEST, LOOK));
    }
}

/// Starts the agent that a task waits for, if it is due; `None` otherwise.
pub fn overdue(app: &App, dir: &WorkItemDir) -> Result<Option<String>> {
    let mut locked = lock_recovered(app, dir)?;
    let due = locked.history().agents.waiting.clone().filter(|waiting| is_due(waiting, fault::now()));
    let Some(waiting) = due else { return Ok(None) };
    let machine = app.machine_of(&locked.task().owned)?;
    start(app, machine, &mut locked, waiting.spawn).map(Some)
}

/// Starts the agent that replaces this one, or tells it to go on if it is alive. A failed start is tried again later, like
/// after a crash, unless it can never succeed.
fn start(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedWorkItem,
    spawn: u32,
) -> Result<String> {
    let started = match limit::go_on(app, locked, spawn) {
        Ok(None) => match held(app, locked, spawn)? {
            Some(story) => return Ok(story),
            None => respawn::again(app, machine, locked, in_place_of(locked.history(), spawn))
                .map(|started| format!("started again as {}", respawn::names(&started))),
        },
        known => known.map(Option::unwrap_or_default),
    };
    let error = match started {
        Ok(story) => return Ok(story),
        Err(error) => error,
    };
    let is_final = matches!(error.kind, ErrorKind::NotRespawnable | ErrorKind::HooksWait);
    let input = Input::NotStarted { reason: &error.one_line(), is_final };
    let turn = life::ask(app, machine, locked.task(), locked.history(), input)?;
    carry(app, machine, locked, &turn, spawn, TurnRecord::default())
}

/// Leaves a task without an agent while a budget is used up, and says so; `None` if one may start. That of a day or a month is a
/// wait until its end.
fn held(app: &App, locked: &mut LockedWorkItem, spawn: u32) -> Result<Option<String>> {
    if let Some(error) = budget::refusal(app, locked.dir(), locked.task(), locked.history())? {
        budget::note(app, locked, true)?;
        budget::hold(locked, &[])?;
        return Ok(Some(format!("not started again: {}", error.message)));
    }
    if let Some(error) = budget::refusal_above(app, locked.task())? {
        budget::hold(locked, &[])?;
        return Ok(Some(format!("not started again: {}", error.message)));
    }
    let Some(pause) = budget::pause(app, &locked.dir().project)? else { return Ok(None) };
    locked.append_many(vec![life::waits(spawn, pause.left(), &pause.why)])?;
    start_resumer(app, locked).map(|until| Some(format!("{}; {until}", pause.why)))
}

/// The start that replaces this agent. If that never began, the new one answers the same call for attention.
fn in_place_of(history: &WorkItemHistory, spawn: u32) -> AgentStart {
    let before = history.agents.here.values().find(|agent| agent.spawn == spawn);
    AgentStart { occasion: Occasion::Respawn, answers: before.and_then(|agent| agent.answers.clone()) }
}

/// True if the time has come, or the clock was set back so that it never would.
pub(crate) fn is_due(waiting: &Waiting, now: SystemTime) -> bool {
    // Times of one form and length sort like texts.
    let latest = clock::rfc3339(now + Duration::from_secs(waiting.after.into()));
    waiting.until <= clock::rfc3339(now) || waiting.until > latest
}

/// In how many seconds the agent is started again.
pub(super) fn left(waiting: &Waiting) -> u32 {
    let left = clock::parse(&waiting.until).and_then(|until| until.duration_since(fault::now()).ok());
    // A part of a second counts as one: a start now would be too early.
    left.map_or(0, |left| u32::try_from(left.as_secs() + 1).unwrap_or(u32::MAX)).min(waiting.after.max(1))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000 + second)
    }

    #[test]
    fn it_is_due_when_the_time_has_come_or_the_clock_went_back() {
        let waiting = Waiting { until: clock::rfc3339(at(60)), after: 60, ..Waiting::default() };
        for (second, expect) in [(0, false), (59, false), (60, true), (9_999_999, true)] {
            assert_eq!(is_due(&waiting, at(second)), expect, "{second}");
        }
        let set_back = Waiting { until: clock::rfc3339(at(3600)), ..waiting };
        assert!(is_due(&set_back, at(0)), "it would come an hour late");
        assert!(is_due(&set_back, UNIX_EPOCH));
    }
}
