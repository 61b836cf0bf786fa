//! The end of an agent: records it, and does what the exit rules say.

use orange_core::{self as core, Actor, Cause, Input, LeftState, LifeTurn, Limit, Machine, Program, StateId};

use crate::Result;
use crate::app::App;
use crate::flow::activity;
use crate::flow::ask;
use crate::flow::asked;
use crate::flow::budget;
use crate::flow::life::{self, TurnRecord};
use crate::flow::request::check_turn;
use crate::flow::snapshot::status_of;
use crate::flow::{finish, lock_recovered};
use crate::flow::{limit, waiting};
use crate::hooks::agent_processes::AgentProcesses;
use crate::hooks::workspace::WorktreeRoom;
use crate::hooks::{self, agents, trace};
use crate::store::event::{Exited, Spawn};
use crate::store::{Event, LockedWorkItem, Seat, Set, WorkItem, WorkItemDir, WorkItemHistory};
use orange_system::{clock, fault};

/// Records an agent's end and applies the exit rules of the task's state; returns what was done, in words. The end is recorded
/// in one write with what follows, so it is reported again if nothing followed, and a second report of a recorded end
/// changes nothing.
///
/// A program that a gate asks runs before that, and without the task's lock.
pub fn ended(app: &App, dir: &WorkItemDir, end: &Exited) -> Result<String> {
    let locked = lock_recovered(app, dir)?;
    let asked = ask::answered(app, locked, Actor::Engine, &|locked| program(app, locked, end))?;
    follow(app, dir, asked, end)
}

/// Records an agent's end for a process that cannot wait: where a program has to answer first, it is started, and this
/// is to be repeated.
pub fn ended_or_begun(app: &App, dir: &WorkItemDir, end: &Exited) -> Result<String> {
    let locked = lock_recovered(app, dir)?;
    match ask::begun(app, locked, &|locked| program(app, locked, end))? {
        Some(locked) => follow(app, dir, locked, end),
        None => Ok(format!("agent {} has ended, and a gate asks a program", end.spawn)),
    }
}

/// The program that has to answer before this end is judged.
fn program(app: &App, locked: &LockedWorkItem, end: &Exited) -> Result<Option<Program<'static>>> {
    let history = locked.history();
    let Some(record) =
        history.agents.alive.get(&end.spawn).filter(|_| !history.agents.stopped.contains(&end.spawn))
    else {
        return Ok(None);
    };
    program_of(app, locked, end, &record.seat(), false)
}

fn program_of(
    app: &App,
    locked: &LockedWorkItem,
    end: &Exited,
    seat: &Seat,
    is_again: bool,
) -> Result<Option<Program<'static>>> {
    let machine = app.machine_of(&locked.task().owned)?;
    let evidence = EndEvidence::of(app, locked, end, seat)?;
    let input = evidence.input(locked, is_again);
    life::program(app, machine, locked.task(), locked.history(), input, None)
}

fn follow(app: &App, dir: &WorkItemDir, mut locked: LockedWorkItem, end: &Exited) -> Result<String> {
    if locked.history().agents.stopped.contains(&end.spawn) {
        agents::end_stopped(app, &mut locked)?;
        drop(locked);
        // A restart may have been killed before it started the agent.
        let restarted = waiting::overdue(app, dir)?;
        return Ok(restarted.unwrap_or_else(|| format!("agent {} was stopped", end.spawn)));
    }
    let story = match agents::left_nothing(app, &locked, end.spawn)? {
        Some(record) => {
            let machine = app.machine_of(&locked.task().owned)?;
            let seat = record.seat();
            JudgedEnd { app, machine, locked, seat, end, is_again: false, on_record: false }.judge()?
        }
        None => format!("agent {} has been replaced or is on record as ended", end.spawn),
    };
    asked::forget(dir, end.spawn)?;
    AgentProcesses::forget(dir, end.spawn).map(|()| story)
}

/// Judges the end of the state's agent, if that ended while hooks waited, and these have now ended; of several reviewers, the end of
/// each that has done so.
pub fn judge_exited(app: &App, dir: &WorkItemDir, exited: &[(Seat, Exited)]) -> Result<()> {
    for (seat, exited) in exited {
        let locked = lock_recovered(app, dir)?;
        let machine = app.machine_of(&locked.task().owned)?;
        let history = locked.history();
        let is_over = history.transition.open.is_none() && history.transition.waiting_hooks.is_none();
        let status = status_of(machine, locked.task())?;
        if !is_over || !is_last(machine, history, status, (seat, exited)) {
            continue;
        }
        let seat = seat.clone();
        JudgedEnd { app, machine, locked, seat, end: exited, is_again: true, on_record: true }.judge()?;
    }
    Ok(())
}

/// True if this was an agent of the state, and none has been started in its place.
fn is_last(
    machine: &Machine<'_>,
    history: &WorkItemHistory,
    status: StateId,
    (seat, exited): (&Seat, &Exited),
) -> bool {
    let is_replaced = match seat.name {
        None => exited.spawn < history.agents.last_spawn,
        Some(_) => history.agents.here.get(seat).is_some_and(|last| last.spawn > exited.spawn),
    };
    seat.actor.known() == Some(machine.state(status).agent) && !is_replaced
}

/// True if the workflow limits the time of the task in its status.
pub fn has_limit(app: &App, task: &WorkItem) -> bool {
    let Ok(machine) = app.machine_of(&task.owned) else { return false };
    status_of(machine, task).is_ok_and(|status| machine.limits(status))
}

/// True if the task has been in its state, or within some states, for as long as its workflow allows. The time of one whose hooks
/// wait is not over.
pub fn is_overdue(app: &App, task: &WorkItem, history: &WorkItemHistory) -> bool {
    if history.transition.waiting_hooks.is_some() {
        return false;
    }
    let Ok(machine) = app.machine_of(&task.owned) else { return false };
    status_of(machine, task)
        .is_ok_and(|status| machine.is_overdue(status, lasted(history), &left(machine, history)))
}

/// Applies the timeout of a task's state, or a deadline: ends and judges the agent of the state, or only notifies a person.
/// Returns what was done, in words; `None` if nothing was left to do.
pub fn overdue(app: &App, dir: &WorkItemDir) -> Result<Option<String>> {
    let locked = lock_recovered(app, dir)?;
    if !is_overdue(app, locked.task(), locked.history()) {
        return Ok(None);
    }
    let machine = app.machine_of(&locked.task().owned)?;
    let agent = machine.state(status_of(machine, locked.task())?).agent;
    let agents = locked.history().agents.alive.values().filter(|record| record.actor == agent.into());
    let spawns: Vec<u32> = agents.map(|record| record.spawn).collect();
    elapse(app, dir, locked, &spawns, false)
}

/// Takes the transition for a used-up budget of a task's state, whose agents have ended. Returns what was done, in words; `None`
/// if there is none to take, or nothing was left to do.
pub fn spent(app: &App, dir: &WorkItemDir) -> Result<Option<String>> {
    let locked = lock_recovered(app, dir)?;
    if !budget::leaves(app, locked.task(), locked.history()) {
        return Ok(None);
    }
    elapse(app, dir, locked, &[], true)
}

fn elapse(
    app: &App,
    dir: &WorkItemDir,
    locked: LockedWorkItem,
    spawns: &[u32],
    is_spent: bool,
) -> Result<Option<String>> {
    let machine = app.machine_of(&locked.task().owned)?;
    let left = left(machine, locked.history());
    let (has_agent, lasted) = (!spawns.is_empty(), lasted(locked.history()));
    let input = Input::Elapsed { has_agent, lasted, is_spent, left: &left };
    let needs =
        |locked: &LockedWorkItem| life::program(app, machine, locked.task(), locked.history(), input, None);
    let Some(mut locked) = ask::begun(app, locked, &needs)? else {
        let what = if is_spent { "its budget is used up" } else { "its time is over" };
        return Ok(Some(format!("{what}, and a gate asks a program")));
    };
    let turn = life::ask(app, machine, locked.task(), locked.history(), input)?;
    match *spawns {
        // Of several reviewers, the end of the last one is judged.
        [ref others @ .., spawn] if turn.events.is_empty() && !turn.story.is_empty() => {
            spawns.iter().try_for_each(|spawn| agents::clear_away(app, &locked, *spawn))?;
            if !others.is_empty() {
                agents::gone(app, &mut locked, others, &turn.story.as_str().into())?;
            }
            drop(locked);
            ended_or_begun(app, dir, &Exited::of(spawn, turn.story.as_str())).map(Some)
        }
        _ if turn.events.is_empty() || Some(turn.story.as_str()) == locked.task().attention.as_deref() => {
            Ok(None)
        }
        _ => {
            let effects = turn.decision().map(|decision| decision.effects.as_slice()).unwrap_or_default();
            let room = hooks::preflight(app, locked.task(), effects)?;
            let record = TurnRecord { room, ..TurnRecord::default() };
            life::record(app, machine, &mut locked, &turn, record)?;
            finish(app, &mut locked)?;
            Ok(Some(turn.story))
        }
    }
}

/// Number of seconds for which the task has been in its state.
fn lasted(history: &WorkItemHistory) -> u32 {
    seconds_since(&history.since)
}

/// Other states that the task has left, each with the time since then.
fn left(machine: &Machine<'_>, history: &WorkItemHistory) -> Vec<LeftState> {
    let left = history.left.iter();
    left.map(|(name, at)| LeftState { state: machine.state_named(name), ago: seconds_since(at) }).collect()
}

/// Number of seconds since this time; 0 if the clock was set back.
fn seconds_since(time: &str) -> u32 {
    let since = clock::parse(time).and_then(|since| fault::now().duration_since(since).ok());
    since.map_or(0, |lasted| u32::try_from(lasted.as_secs()).unwrap_or(u32::MAX))
}

/// The conversation that an agent could not continue, in words, if it ended for that reason.
pub fn lost_conversation(app: &App, record: &Spawn, end: &Exited) -> Option<String> {
    if !record.resumed || end.code == Some(0) {
        return None;
    }
    // Without its harness this cannot be known.
    let harness = app.harness(&record.harness).ok()?;
    let is_lost = trace::could_not_resume(&harness, record, end.duration, &end.last_lines);
    let conversation = record.conversation.as_deref().unwrap_or_default();
    is_lost.then(|| format!("{} could not continue conversation {conversation}", record.harness))
}

/// One agent's end, and its task.
struct JudgedEnd<'c> {
    app: &'c App,
    machine: &'static Machine<'static>,
    locked: LockedWorkItem,
    seat: Seat,
    end: &'c Exited,
    /// True if an earlier state, or a state whose hooks waited, has not judged it.
    is_again: bool,
    on_record: bool,
}

impl JudgedEnd<'_> {
    /// Judges the end. It may lead to a state whose agent is the one that has ended; that state judges it again, at most once for
    /// each state of the machine.
    fn judge(mut self) -> Result<String> {
        let mut story = Vec::new();
        for _ in self.machine.states {
            let before = self.locked.task().status().to_owned();
            if self.is_again {
                let (app, end, seat) = (self.app, self.end, &self.seat);
                let needs = |locked: &LockedWorkItem| program_of(app, locked, end, seat, true);
                let locked = ask::answered(app, self.locked, Actor::Engine, &needs)?;
                self = JudgedEnd { locked, ..self };
            }
            let turn = self.follows()?;
            self.is_again = true;
            if turn.events.is_empty() && turn.story.is_empty() {
                break;
            }
            story.push(self.carry(&turn)?);
            if self.locked.task().status() == before {
                break;
            }
        }
        Ok(story.join("; "))
    }

    /// The core's answer, by the evidence of how the agent ended.
    fn follows(&self) -> Result<LifeTurn<'static>> {
        let evidence = EndEvidence::of(self.app, &self.locked, self.end, &self.seat)?;
        let input = evidence.input(&self.locked, self.is_again);
        life::ask(self.app, self.machine, self.locked.task(), self.locked.history(), input)
    }

    fn carry(&mut self, turn: &LifeTurn<'static>) -> Result<String> {
        // An escalation needs no preflight: a person has to act anyway.
        let planned = turn.decision().filter(|decision| decision.cause != Cause::Escalation);
        let effects = planned.map(|decision| decision.effects.as_slice()).unwrap_or_default();
        let is_possible = || {
            planned.map_or(Ok(()), |_| check_turn(self.app, self.locked.task(), turn))?;
            hooks::preflight(self.app, self.locked.task(), effects)
        };
        let room = match is_possible() {
            Ok(room) => room,
            Err(error) => {
                let record = self.record(None);
                life::record(
                    self.app,
                    self.machine,
                    &mut self.locked,
                    &turn.blocked(&error.one_line()),
                    record,
                )?;
                return Err(error);
            }
        };
        let record = self.record(room);
        let story = waiting::carry(self.app, self.machine, &mut self.locked, turn, self.end.spawn, record)?;
        finish(self.app, &mut self.locked)?;
        Ok(story)
    }

    /// Data to record beside the answer: the agent's end, unless it is recorded.
    fn record(&mut self, room: Option<WorktreeRoom>) -> TurnRecord {
        let agent = Some((self.end.spawn, self.end.reason.to_string()));
        TurnRecord { led_to_it: self.end_events(), room, agent }
    }

    /// The agent's end, unless it is recorded.
    fn end_events(&mut self) -> Vec<(Event, Set)> {
        if std::mem::replace(&mut self.on_record, true) {
            return Vec::new();
        }
        let exited = Event::AgentExited(trace::keep(self.app, &self.locked, self.end.clone()));
        fault::step("record the end of", "an agent");
        let conversation = activity::at_its_end(self.locked.dir(), self.end.spawn, self.end.reason.as_str());
        [exited].into_iter().chain(conversation).map(Into::into).collect()
    }
}

/// The evidence of how an agent ended.
struct EndEvidence<'e> {
    end: &'e Exited,
    seat: &'e Seat,
    output: String,
    lost: Option<String>,
    limit: Option<Limit>,
    left: Vec<LeftState>,
    is_beside: bool,
    has_begun: bool,
}

impl<'e> EndEvidence<'e> {
    fn of(app: &App, locked: &LockedWorkItem, end: &'e Exited, seat: &'e Seat) -> Result<EndEvidence<'e>> {
        let record = locked.history().agents.alive.get(&end.spawn);
        let limit = limit::of(locked.dir(), end.spawn);
        let machine = app.machine_of(&locked.task().owned)?;
        Ok(EndEvidence {
            end,
            seat,
            output: end.last_lines.join("\n"),
            lost: record.and_then(|record| lost_conversation(app, record, end)),
            limit: limit.map(|limit| Limit { left: limit::left(&limit, fault::now()) }),
            left: left(machine, locked.history()),
            is_beside: is_beside(locked, end)?,
            has_begun: has_begun(locked, end)?,
        })
    }

    fn input(&self, locked: &LockedWorkItem, is_again: bool) -> Input<'_> {
        let history = locked.history();
        let agent = self.seat.actor.known().unwrap_or(Actor::Worker);
        let waiting = history.agents.waiting.as_ref();
        let Exited { spawn, code, signal, reason, .. } = self.end;
        let end = core::AgentEnd {
            code: *code,
            signal: *signal,
            output: &self.output,
            is_beside: self.is_beside,
            reviewer: self.seat.name.as_deref(),
            awaits_other: waiting
                .filter(|it| it.spawn != *spawn && !history.agents.alive.contains_key(&it.spawn))
                .map(waiting::left),
            spawn: *spawn,
            how: reason.as_str(),
            never_began: !self.has_begun,
            lost: self.lost.as_deref(),
            limit: self.limit,
            is_awaited: waiting.is_some_and(|waiting| waiting.spawn == *spawn),
            lasted: lasted(history),
            // Agents whose budget is used up are stopped, and no exit rule judges their ends.
            is_spent: false,
            left: &self.left,
        };
        if is_again {
            let is_replaced = history.agents.alive.values().any(|other| other.seat().excludes(self.seat));
            Input::JudgedAgain { agent, end, is_replaced }
        } else {
            Input::Ended { agent, end }
        }
    }
}

/// True if another agent of the task is alive, or may be because it has not begun.
fn is_beside(locked: &LockedWorkItem, end: &Exited) -> Result<bool> {
    for other in locked.history().agents.alive.keys().filter(|spawn| **spawn != end.spawn) {
        let processes = AgentProcesses::read(locked.dir(), *other)?;
        if processes.map_or(Ok(true), |processes| processes.is_alive())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if its wrapper began to run it, even if the harness could not be run.
fn has_begun(locked: &LockedWorkItem, end: &Exited) -> Result<bool> {
    let Exited { code, signal, duration, .. } = end;
    let is_reported = code.is_some() || signal.is_some() || duration.is_some();
    Ok(is_reported || AgentProcesses::read(locked.dir(), end.spawn)?.is_some())
}
