//! Starting an agent again after a while: the journal says when, and whoever comes when it is due does it. That is a
//! process of its own that sleeps until then; where that was killed, the monitor, or the next change of the task.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use orange_core::{MAX_RESTARTS, Machine, restart_after};

use crate::app::App;
use crate::flow::limit;
use crate::flow::lock_recovered;
use crate::flow::respawn;
use crate::hooks::agents::{Occasion, Start};
use crate::store::event::Waiting;
use crate::store::{Event, LockedTask, Set, TaskDir, TaskHistory, clock, task};
use crate::{Kind, Result, fault};

/// What follows on the end of an agent that is to be started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is waited for.
    Wait(Waiting),
    /// The engine starts it no more.
    GiveUp {
        /// The agent that ended.
        spawn: u32,
        /// Why.
        reason: String,
    },
}

impl Next {
    /// What follows after so many starts. `resume_after` is what a rule says, in seconds; without it the agent has crashed.
    pub fn after(history: &TaskHistory, spawn: u32, resume_after: Option<u32>, reason: &str) -> Next {
        let Some(after) = restart_after(history.restarts, resume_after) else {
            let reason = format!(
                "{reason}; it has been started again {MAX_RESTARTS} times, and the task has not moved on: \
                 `orange task respawn` tries once more"
            );
            return Next::GiveUp { spawn, reason };
        };
        let until = clock::rfc3339(fault::now() + Duration::from_secs(after.into()));
        Next::Wait(Waiting { spawn, until, after, reason: reason.to_owned() })
    }

    fn event(self) -> (Event, Set) {
        match self {
            Next::Wait(waiting) => {
                let set = Set::new().waiting_until(Some(&waiting.until));
                (Event::AgentWaiting(waiting), set)
            }
            Next::GiveUp { spawn, reason } => Event::AgentGivenUp { spawn, reason }.into(),
        }
    }
}

/// Journals these events and what follows from them in one write, and sees to it: an agent that is due is started, for
/// another one there is a process that sleeps until then, and of one that is given up a person is told. What was done, in
/// words.
///
/// # Errors
/// Those of the store; `environment` when that process cannot be started, and then the monitor does its work.
pub fn begin(
    app: &App,
    machine: &'static Machine<'static>,
    locked: &mut LockedTask,
    mut events: Vec<(Event, Set)>,
    next: Next,
) -> Result<String> {
    if let Next::GiveUp { reason, .. } = &next {
        locked.call_attention(reason)?;
    }
    events.push(next.clone().event());
    locked.append_many(events)?;
    let waiting = match next {
        Next::Wait(waiting) => waiting,
        Next::GiveUp { reason, .. } => return Ok(reason),
    };
    let Waiting { reason, spawn, until, .. } = &waiting;
    if is_due(&waiting, fault::now()) {
        return Ok(format!("{reason}; {}", start(app, machine, locked, *spawn)?));
    }
    let dir = locked.dir().clone();
    let resume = ["agent", "resume", "--task", &dir.id, &format!("--spawn={spawn}")];
    app.start_detached_for(*spawn, &resume, &dir)?;
    Ok(format!("{reason}; it goes on at {until}"))
}

/// Sleeps until the agent that replaces this one is due, and starts it. `None` when it is not waited for any more.
///
/// # Errors
/// Those of the store.
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
///
/// # Errors
/// Those of the store.
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
    let reason = format!("could not be started again: {}", error.one_line());
    let next = if error.kind == Kind::NotRespawnable {
        Next::GiveUp { spawn, reason }
    } else {
        Next::after(locked.history(), spawn, None, &reason)
    };
    begin(app, machine, locked, Vec::new(), next)
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

    #[test]
    fn there_is_an_end_to_it() {
        let history = |restarts| TaskHistory { restarts, ..TaskHistory::default() };
        let after = |restarts, rule| match Next::after(&history(restarts), 7, rule, "crash") {
            Next::Wait(Waiting { spawn: 7, after, .. }) => Some(after),
            Next::Wait(_) | Next::GiveUp { .. } => None,
        };
        assert_eq!([after(0, None), after(2, None), after(2, Some(900))], [Some(0), Some(20), Some(900)]);
        assert_eq!((after(MAX_RESTARTS, None), after(MAX_RESTARTS, Some(1))), (None, None));
    }
}
