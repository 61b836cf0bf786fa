//! Starting an agent again after a while: the journal says when, and whoever comes when it is due does it. That is a
//! process of its own that sleeps until then; where that was killed, the monitor, or the next change of the task.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use orange_core::{Input, LifeEvent, Machine, Turn};

use crate::app::App;
use crate::flow::life::{self, Record};
use crate::flow::limit;
use crate::flow::lock_recovered;
use crate::flow::person::respawn;
use crate::hooks::agents::{Occasion, Start};
use crate::store::event::Waiting;
use crate::store::{LockedTask, TaskDir, TaskHistory, clock, task};
use crate::{Kind, Result, fault};

/// Journals what follows, and sees to an agent that is to be started again: one that is due is started, for another one there
/// is a process that sleeps until then. What was done, in words.
///
/// # Errors
/// Those of the store; `environment` when that process cannot be started, and then the monitor does its work.
pub fn carry(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedTask,
    turn: &Turn<'static>,
    spawn: u32,
    record: Record,
) -> Result<String> {
    let how = record.agent.map(|(_, how)| how).unwrap_or_default();
    life::record(machine, locked, turn, Record { agent: Some((spawn, how)), ..record })?;
    let story = &turn.story;
    if !turn.effects.is_empty() {
        return Ok(format!("{story}; {}", start(app, machine, locked, spawn)?));
    }
    let waits = |event: &LifeEvent<'_>| matches!(event, LifeEvent::Waits { .. });
    let Some(waiting) = locked.history().waiting.clone().filter(|_| turn.events.iter().any(waits)) else {
        return Ok(story.clone());
    };
    let dir = locked.dir().clone();
    let resume = ["agent", "resume", "--task", &dir.id, &format!("--spawn={spawn}")];
    app.start_detached_for(spawn, &resume, &dir)?;
    Ok(format!("{story}; it goes on at {}", waiting.until))
}

/// Sleeps until the agent that replaces this one is due, and starts it. `None` when it is not waited for any more.
pub fn resume(app: &App, dir: &TaskDir, spawn: u32) -> Result<Option<String>> {
    /// A task may move on meanwhile, a clock may be set, a machine may sleep: so often it is looked.
    const LOOK: Duration = Duration::from_secs(30);
    const SHORTEST: Duration = Duration::from_millis(50);
    let begun = Instant::now();
    loop {
        let pending = task::read_journal(dir)?.history().waiting.filter(|waiting| waiting.spawn == spawn);
        let Some(waiting) = pending else { return Ok(None) };
        if is_due(&waiting, fault::now()) {
            return overdue(app, dir);
        }
        let left = Duration::from_secs(waiting.after.into()).saturating_sub(begun.elapsed());
        thread::sleep(left.clamp(SHORTEST, LOOK));
    }
}

/// Starts the agent that a task waits for, if it is due. `None` when it is not, or none is waited for.
pub fn overdue(app: &App, dir: &TaskDir) -> Result<Option<String>> {
    let mut locked = lock_recovered(app, dir)?;
    let due = locked.history().waiting.clone().filter(|waiting| is_due(waiting, fault::now()));
    let Some(waiting) = due else { return Ok(None) };
    let machine = app.machine_of(&locked.task().owned)?;
    start(app, machine, &mut locked, waiting.spawn).map(Some)
}

/// Starts the agent that comes after this one, or has it go on if it is alive. What cannot be started now is tried again later, as after a crash; what can
/// never be is given up.
fn start(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedTask,
    spawn: u32,
) -> Result<String> {
    let started = match limit::go_on(app, locked, spawn) {
        Ok(None) => respawn::again(app, machine, locked, in_place_of(locked.history(), spawn))
            .map(|number| format!("started again as agent {number}")),
        told => told.map(Option::unwrap_or_default),
    };
    let error = match started {
        Ok(story) => return Ok(story),
        Err(error) => error,
    };
    let is_final = error.kind == Kind::NotRespawnable;
    let input = Input::NotStarted { reason: &error.one_line(), is_final };
    let turn = life::ask(app, machine, locked.task(), locked.history(), input)?;
    carry(app, machine, locked, &turn, spawn, Record::default())
}

/// The start of the agent that comes after this one. Where that was never there, it still answers what that was to answer.
fn in_place_of(history: &TaskHistory, spawn: u32) -> Start {
    let before = history.agents_here.values().find(|agent| agent.spawn == spawn);
    Start { occasion: Occasion::Respawn, answers: before.and_then(|agent| agent.answers.clone()) }
}

/// Whether the time has come, or a clock was set back so that it never would.
pub(crate) fn is_due(waiting: &Waiting, now: SystemTime) -> bool {
    // Times of one form and length are in the order of their letters.
    let latest = clock::rfc3339(now + Duration::from_secs(waiting.after.into()));
    waiting.until <= clock::rfc3339(now) || waiting.until > latest
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
