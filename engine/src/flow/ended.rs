//! After an agent has ended: its end on record, then what the exit rules say.

use orange_core::{self as core, Actor, CRASH_COUNT, Decision, ExitDecision, Machine};

use crate::Result;
use crate::app::App;
use crate::fault;
use crate::flow::activity;
use crate::flow::answer;
use crate::flow::begin::begin;
use crate::flow::finish::{finish, lock_recovered};
use crate::flow::limit;
use crate::flow::snapshot::{Snapshot, status_of};
use crate::flow::waiting::{self, Next};
use crate::hooks::agent_processes::AgentProcesses;
use crate::hooks::{self, agents, trace};
use crate::store::{Event, LockedTask, Set, TaskDir};

/// How an agent ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The number of its spawn.
    pub spawn: u32,
    /// Its exit status, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How it is known: `exited with 3`.
    pub reason: String,
    /// How many seconds it lived; only its wrapper knows.
    pub duration: Option<u64>,
    /// The last lines of its pane, as far as anybody could read them.
    pub last_lines: Vec<String>,
}

/// Records an agent's end and applies the exit rules of the state that the task is in. What came of it, in words.
/// An agent whose end is on record already changes nothing, so it does no harm to be told twice; and the end goes on
/// record together with what follows from it, so that an end of which nothing came is told again.
///
/// # Errors
/// Those of the store, and of what the exit rules lead to.
pub fn ended(app: &App, dir: &TaskDir, end: &End) -> Result<String> {
    let mut locked = lock_recovered(app, dir)?;
    if locked.history().stopped.contains(&end.spawn) {
        agents::end_stopped(app, &mut locked)?;
        drop(locked);
        // A person may have wanted it again, and been killed over it.
        let restarted = waiting::overdue(app, dir)?;
        return Ok(restarted.unwrap_or_else(|| format!("agent {} was stopped", end.spawn)));
    }
    let story = match locked.history().agents.get(&end.spawn) {
        Some(record) => {
            let machine = app.machine_of(&locked.task().owned)?;
            let actor = Actor::from_name(&record.actor).unwrap_or(Actor::Worker);
            Case { app, machine, locked, actor, end, on_record: false }.judge()?
        }
        None => format!("agent {} has been replaced or is on record as ended", end.spawn),
    };
    answer::forget(dir, end.spawn)?;
    AgentProcesses::forget(dir, end.spawn).map(|()| story)
}

/// One agent's end, and the task that it ended in.
struct Case<'c> {
    app: &'c App,
    machine: &'static Machine<'static>,
    locked: LockedTask,
    actor: Actor,
    end: &'c End,
    on_record: bool,
}

impl Case<'_> {
    /// An exit rule may lead to a state that wants the very agent that has just ended; so the rules are asked again
    /// there, at most once for every state.
    fn judge(mut self) -> Result<String> {
        let mut story = Vec::new();
        for _ in self.machine.states {
            let before = self.locked.task().status().to_owned();
            story.push(self.judge_once()?);
            if self.locked.task().status() == before || !self.is_missed()? {
                break;
            }
        }
        Ok(story.join("; "))
    }

    fn judge_once(&mut self) -> Result<String> {
        if self.is_over()? {
            let events = self.with_end(Vec::new());
            self.locked.append_many(events)?;
            return Ok(format!("the {} ended ({}), and the task is over", self.actor, self.end.reason));
        }
        if !self.is_its_state()? {
            let status = self.locked.task().status();
            return self.mark(format!("the {} ended in {status} ({})", self.actor, self.end.reason));
        }
        let decision = {
            let snapshot = Snapshot::of(self.machine, self.locked.task(), self.locked.history())?;
            let End { code, signal, last_lines, .. } = self.end;
            let output = last_lines.join("\n");
            let is_beside = self.is_beside()?;
            let end = core::End { code: *code, signal: *signal, output: &output, is_beside };
            self.machine.decide_exit(&snapshot.view(), &end)
        };
        let reason = format!("{} ({})", decision.reason(), self.end.reason);
        if self.is_waited_for() && !matches!(decision, ExitDecision::Advance { .. }) {
            let events = self.with_end(Vec::new());
            self.locked.append_many(events)?;
            return Ok(format!("{reason}; it was waiting for the end of a limit"));
        }
        if let Some(after) = self.left_of_limit(&decision) {
            return self.start_again(Vec::new(), Some(after), format!("{reason} at a limit of its provider"));
        }
        match decision {
            ExitDecision::Advance { decision, .. } => self.advance(&decision, reason),
            // Who starts an agent may be killed over it: one that has never begun has not crashed.
            ExitDecision::Crash { .. } | ExitDecision::Escalate { .. } if !self.has_begun()? => {
                let story = format!("agent {} was never started ({})", self.end.spawn, self.end.reason);
                self.start_again(Vec::new(), None, story)
            }
            ExitDecision::Crash { .. } | ExitDecision::Escalate { .. } | ExitDecision::MarkDead { .. }
                if self.could_not_resume()? =>
            {
                self.begin_anew()
            }
            ExitDecision::Crash { count, respawn, .. } => self.crash(count, respawn, reason),
            ExitDecision::Escalate { count, decision, .. } => self.escalate(&decision, count, reason),
            ExitDecision::MarkDead { .. } => self.mark(reason),
            ExitDecision::Wait { resume_after, .. } => {
                self.start_again(Vec::new(), Some(resume_after), reason)
            }
        }
    }

    /// Whether it is waited for already, so that who comes when that is over starts another one.
    fn is_waited_for(&self) -> bool {
        self.locked.history().waiting.as_ref().is_some_and(|waiting| waiting.spawn == self.end.spawn)
    }

    /// How many seconds are left of a limit that the agent has met, where it would else count as a crash or wait as long as a
    /// rule says. Only a state that says how its agent is started again can wait.
    fn left_of_limit(&self, decision: &ExitDecision<'_>) -> Option<u32> {
        let rule = match decision {
            ExitDecision::Advance { .. } => return None,
            ExitDecision::Wait { resume_after, .. } => Some(*resume_after),
            ExitDecision::Crash { .. } | ExitDecision::Escalate { .. } | ExitDecision::MarkDead { .. } => {
                limit::rule(self.machine, &self.locked)
            }
        };
        if !self.can_respawn() {
            return None;
        }
        let limit = limit::of(self.locked.dir(), self.end.spawn)?;
        Some(limit::seconds(&limit, rule, self.locked.history(), fault::now()))
    }

    /// Whether the state says how its agent is started again.
    fn can_respawn(&self) -> bool {
        status_of(self.machine, self.locked.task())
            .is_ok_and(|state| self.machine.state(state).respawn.is_some())
    }

    fn advance(&mut self, decision: &Decision<'_>, reason: String) -> Result<String> {
        let room = match hooks::preflight(self.app, self.locked.task(), &decision.effects) {
            Ok(room) => room,
            Err(error) => {
                self.mark(format!("{reason}, but the way on is blocked: {}", error.one_line()))?;
                return Err(error);
            }
        };
        let advanced = self.advanced(decision, reason);
        let events = self.with_end(vec![advanced]);
        begin(self.machine, &mut self.locked, decision, events, room)?;
        finish(self.app, &mut self.locked)?;
        Ok(format!("advanced to {}", self.locked.task().status()))
    }

    fn crash(&mut self, count: u32, respawn: bool, reason: String) -> Result<String> {
        let crashed = self.crashed(count, &reason);
        let story = format!("crash {count} in {}: {reason}", self.locked.task().status());
        if respawn && self.can_respawn() {
            return self.start_again(vec![crashed], None, story);
        }
        self.locked.call_attention(&story)?;
        let events = self.with_end(vec![crashed]);
        self.locked.append_many(events)?;
        Ok(story)
    }

    /// That the agent is to be started again goes on record with its end, so that a kill between the two loses nothing.
    fn start_again(
        &mut self,
        events: Vec<(Event, Set)>,
        resume_after: Option<u32>,
        story: String,
    ) -> Result<String> {
        let next = Next::after(self.locked.history(), self.end.spawn, resume_after, &story);
        let events = self.with_end(events);
        waiting::begin(self.app, self.machine, &mut self.locked, events, next)
    }

    /// A conversation that cannot be continued is no crash: the agent is started again, with a new one.
    fn begin_anew(&mut self) -> Result<String> {
        let Some(record) = self.locked.history().agents.get(&self.end.spawn) else {
            return Ok(String::new());
        };
        let (conversation, harness) =
            (record.conversation.clone().unwrap_or_default(), record.harness.clone());
        let End { spawn, reason, .. } = self.end;
        let story =
            format!("agent {spawn}: {harness} could not continue conversation {conversation} ({reason})");
        self.locked.call_attention(&format!("{story}; the agent begins a new one"))?;
        let lost = Event::AgentNotResumed { spawn: *spawn, conversation, reason: reason.clone() };
        self.start_again(vec![lost.into()], None, story)
    }

    fn could_not_resume(&self) -> Result<bool> {
        let Some(record) = self.locked.history().agents.get(&self.end.spawn) else { return Ok(false) };
        if !record.resumed || self.end.code == Some(0) {
            return Ok(false);
        }
        let harness = self.app.harness(&record.harness)?;
        Ok(trace::could_not_resume(&harness, record, self.end.duration, &self.end.last_lines))
    }

    fn escalate(&mut self, decision: &Decision<'_>, count: u32, reason: String) -> Result<String> {
        let to = self.machine.state(decision.to).name;
        let story = format!("escalated to {to} after {count} crashes: {reason}");
        let crashed = self.crashed(count, &reason);
        let advanced = self.advanced(decision, reason);
        let events = self.with_end(vec![crashed, advanced]);
        begin(self.machine, &mut self.locked, decision, events, None)?;
        self.locked.call_attention(&story)?;
        finish(self.app, &mut self.locked)?;
        Ok(story)
    }

    fn mark(&mut self, reason: String) -> Result<String> {
        self.locked.call_attention(&reason)?;
        let events = self.with_end(Vec::new());
        self.locked.append_many(events)?;
        Ok(reason)
    }

    fn advanced(&self, decision: &Decision<'_>, reason: String) -> (Event, Set) {
        let name = |state| self.machine.state(state).name.to_owned();
        Event::AutoAdvanced { from: name(decision.from), to: name(decision.to), reason }.into()
    }

    fn crashed(&self, count: u32, reason: &str) -> (Event, Set) {
        let event = Event::AgentCrashed {
            spawn: Some(self.end.spawn),
            status: self.locked.task().status().to_owned(),
            crash_count: count,
            reason: reason.to_owned(),
        };
        (event, Set::new().counter(self.machine.counter(CRASH_COUNT).name, count))
    }

    /// These events and, unless it is on record, the agent's end before them.
    fn with_end(&mut self, mut events: Vec<(Event, Set)>) -> Vec<(Event, Set)> {
        if !std::mem::replace(&mut self.on_record, true) {
            let End { spawn, code, signal, reason, duration, last_lines } = self.end.clone();
            let trace = trace::keep(self.app, &self.locked, self.end.spawn);
            fault::step("record the end of", "an agent");
            let exited = Event::AgentExited { spawn, code, signal, reason, duration, last_lines, trace };
            events.insert(0, exited.into());
            let conversation = activity::at_its_end(self.locked.dir(), spawn, &self.end.reason);
            events.extend(conversation.map(Into::into));
        }
        events
    }

    /// Whether another agent of the task is alive: until it has begun, it may be.
    fn is_beside(&self) -> Result<bool> {
        for other in self.locked.history().agents.keys().filter(|spawn| **spawn != self.end.spawn) {
            if AgentProcesses::read(self.locked.dir(), *other)?.is_none_or(|processes| processes.is_alive()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether its wrapper came to run it, which an agent that could not be run has had, too.
    fn has_begun(&self) -> Result<bool> {
        let End { code, signal, duration, .. } = self.end;
        let is_reported = code.is_some() || signal.is_some() || duration.is_some();
        Ok(is_reported || AgentProcesses::read(self.locked.dir(), self.end.spawn)?.is_some())
    }

    fn is_over(&self) -> Result<bool> {
        let status = status_of(self.machine, self.locked.task())?;
        Ok(self.machine.state(status).terminal)
    }

    fn is_its_state(&self) -> Result<bool> {
        let status = status_of(self.machine, self.locked.task())?;
        Ok(self.machine.state(status).agent == self.actor)
    }

    /// Whether the state that the task has come to wants this agent, and nothing has taken its place.
    fn is_missed(&self) -> Result<bool> {
        let has_session = self.locked.task().owned.tmux_session.is_some();
        let is_replaced =
            self.locked.history().agents.values().any(|agent| agent.actor == self.actor.as_str());
        Ok(has_session && !is_replaced && !self.is_over()? && self.is_its_state()?)
    }
}
