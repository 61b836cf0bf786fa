//! The life of a task: what follows on everything that can happen to it.
//!
//! [`Machine::life`] is the one place that knows. Whoever drives a task, be it a real one, one that is led by hand, or one
//! that is searched, gathers what is known, asks, and carries out the answer in its own world.

mod ended;
mod forced;
mod start;
#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use self::forced::Forced;
use crate::{
    Actor, CRASH_COUNT, Cause, CounterId, Decision, Effect, End, Machine, Rejection, Spawn, StateId, View,
};

/// What is known of a task.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'v> {
    /// What decisions read.
    pub view: View<'v>,
    /// Whether it says what is to be done.
    pub has_summary: bool,
    /// Whether a worktree is bound to it.
    pub has_worktree: bool,
    /// Whether a session is on record, whatever is alive in it.
    pub has_session: bool,
    /// How many agents the engine has started again since the last transition.
    pub restarts: u32,
    /// How the last agent was started that worked in this state.
    pub last: Option<Spawn>,
}

/// Something that happens to a task.
#[derive(Clone, Copy, Debug)]
pub enum Input<'i> {
    /// Somebody asks for a state.
    Request {
        /// The state.
        to: StateId,
        /// Who asks.
        by: Actor,
    },
    /// Somebody starts the task, or its turn in the queue has come.
    Spawn {
        /// Who starts it.
        by: Actor,
    },
    /// The agent of the state is to be started again, with the prompt that the state has for that.
    Respawn {
        /// Whether it is alive.
        is_alive: bool,
    },
    /// The same where the state has no such prompt: as it was started before.
    Restart {
        /// Whether it is alive.
        is_alive: bool,
    },
    /// An agent has ended.
    Ended {
        /// Whose requests were the agent's.
        agent: Actor,
        /// How.
        end: End<'i>,
    },
    /// The end of an agent has led to another state, which may want the very agent that has ended.
    JudgedAgain {
        /// Whose requests were the agent's.
        agent: Actor,
        /// How it ended.
        end: End<'i>,
        /// Whether another agent has taken its place.
        is_replaced: bool,
    },
    /// A living agent has met a limit of its provider.
    LimitMet {
        /// Whose requests are the agent's.
        agent: Actor,
        /// The seconds until the limit is over, where its harness says so.
        left: Option<u32>,
        /// What is known of it, in one sentence.
        reason: &'i str,
    },
    /// The time that a task may stay in its state is over.
    Elapsed {
        /// Whether an agent of the state is on record, which is then to be ended and judged.
        has_agent: bool,
        /// For how many seconds the task has been there.
        lasted: u32,
    },
    /// The agent could not be started again.
    NotStarted {
        /// Why, in one sentence.
        reason: &'i str,
        /// Whether it could not be at any other time either.
        is_final: bool,
    },
    /// Somebody cancels the task.
    Cancel {
        /// Who.
        by: Actor,
        /// Whether a transition was begun that cannot be finished.
        is_cut_short: bool,
    },
    /// Somebody merges its work.
    Merge {
        /// Who.
        by: Actor,
        /// Whether they want it although the workflow says no.
        force: bool,
        /// Whether a merge is on record.
        is_merged: bool,
    },
    /// Its pull request was merged or closed.
    PullRequest {
        /// Which of both.
        end: Forced,
    },
}

/// What follows: the events go on record in one write and in this order, and then the effects are done in theirs.
#[derive(Clone, Debug, Default)]
pub struct Turn<'m> {
    /// What goes on record.
    pub events: Vec<LifeEvent<'m>>,
    /// What is done where the task stays in its state. What a transition does stands in its decision.
    pub effects: Vec<Effect<'m>>,
    /// What came of it, in one sentence; empty where the events say all.
    pub story: String,
}

/// Something that goes on record.
#[derive(Clone, Debug)]
pub enum LifeEvent<'m> {
    /// An agent has crashed.
    Crashed {
        /// The counter of crashes.
        counter: CounterId,
        /// Its new value.
        count: u32,
        /// Why it counts as a crash.
        reason: String,
    },
    /// An agent could not continue its conversation.
    NotResumed,
    /// The engine moves the task on by itself.
    Advanced {
        /// The state that it goes to.
        to: StateId,
        /// Why.
        reason: String,
    },
    /// A transition begins: its status is written, its effects are done, and then it is closed.
    Began(Decision<'m>),
    /// A transition begins that the workflow does not declare.
    Forced {
        /// What it is for.
        what: Forced,
        /// Whose act it is.
        by: Actor,
        /// The state that it goes to.
        to: StateId,
    },
    /// The agent is started again after a while, or goes on then if it is alive.
    Waits {
        /// Seconds until then; with 0 it is among the effects.
        after: u32,
        /// What it waits for.
        reason: String,
    },
    /// The engine starts the agent no more.
    GaveUp {
        /// Why.
        reason: String,
    },
    /// A person has to look at it.
    Attention(String),
}

/// Why nothing follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The workflow says no.
    Rejected {
        /// What stands in the way.
        rejection: Rejection,
        /// Whether a person can have it all the same.
        is_forcible: bool,
    },
    /// The workflow has no state for this command.
    NoState(&'static str),
    /// The task was started before.
    Started,
    /// The state has no prompt with which its agent is started again.
    NoRespawnPrompt,
    /// No agent works in the state.
    NoAgent,
    /// The task has no worktree to work in.
    NoWorktree,
    /// The agent is alive.
    Alive,
}

impl<'m> Machine<'m> {
    /// What follows on something that happens to a task.
    ///
    /// # Errors
    /// Nothing follows where the workflow or the state of things says no.
    pub fn life(&self, facts: &Facts<'_>, input: Input<'_>) -> Result<Turn<'m>, Refusal> {
        match input {
            Input::Request { to, by } => self.request(facts, to, by),
            Input::Spawn { by } => self.spawn(facts, by),
            Input::Respawn { is_alive } => self.respawn(facts, is_alive),
            Input::Restart { is_alive } => self.start_again(facts, is_alive),
            Input::Ended { agent, end } => Ok(self.ended(facts, agent, &end)),
            Input::JudgedAgain { agent, end, is_replaced } => {
                let is_missed = self.is_missed(facts.view.status, facts.has_session, agent, is_replaced);
                Ok(if is_missed { self.ended(facts, agent, &end) } else { Turn::default() })
            }
            Input::LimitMet { agent, left, reason } => Ok(self.limit_met(facts, agent, left, reason)),
            Input::Elapsed { has_agent, lasted } => Ok(self.elapsed(facts, has_agent, lasted)),
            Input::NotStarted { reason, is_final } => Ok(self.not_started(facts, reason, is_final)),
            Input::Cancel { by, is_cut_short } => self.cancel(facts, by, is_cut_short),
            Input::Merge { by, force, is_merged } => self.merge(facts, by, force, is_merged),
            Input::PullRequest { end } => self.pull_request(facts, end),
        }
    }

    fn request(&self, facts: &Facts<'_>, to: StateId, by: Actor) -> Result<Turn<'m>, Refusal> {
        let decision = self.decide(&facts.view, to, by);
        decision.map(Turn::taking).map_err(|rejection| self.rejected(facts, rejection))
    }

    /// The counter that the end of a transition sets: `crash_count` is over with every one but an escalation, which keeps
    /// the count that led there (design §9).
    pub fn closing(&self, cause: Cause) -> Option<(CounterId, u32)> {
        (cause != Cause::Escalation).then_some((CRASH_COUNT, 0))
    }

    /// The counters that begin anew when a person moves a task to another state or workflow.
    pub fn migrated(&self) -> [(CounterId, u32); 1] {
        [(CRASH_COUNT, 0)]
    }
}

impl<'m> Turn<'m> {
    /// The transition that is taken.
    pub fn decision(&self) -> Option<&Decision<'m>> {
        self.events.iter().find_map(|event| match event {
            LifeEvent::Began(decision) => Some(decision),
            LifeEvent::Crashed { .. }
            | LifeEvent::NotResumed
            | LifeEvent::Advanced { .. }
            | LifeEvent::Forced { .. }
            | LifeEvent::Waits { .. }
            | LifeEvent::GaveUp { .. }
            | LifeEvent::Attention(_) => None,
        })
    }

    /// The hooks that it comes to.
    pub fn hooks(&self) -> &[Effect<'m>] {
        self.decision().map_or(&self.effects, |decision| &decision.effects)
    }

    /// The same end where the transition that it leads to cannot be begun: a person has to look at it.
    pub fn blocked(&self, why: &str) -> Turn<'m> {
        Turn::attention(format!("{}, but the transition is blocked: {why}", self.reason()))
    }

    fn reason(&self) -> &str {
        let reason = self.events.iter().find_map(|event| match event {
            LifeEvent::Advanced { reason, .. } => Some(reason.as_str()),
            LifeEvent::Crashed { .. }
            | LifeEvent::NotResumed
            | LifeEvent::Began(_)
            | LifeEvent::Forced { .. }
            | LifeEvent::Waits { .. }
            | LifeEvent::GaveUp { .. }
            | LifeEvent::Attention(_) => None,
        });
        reason.unwrap_or(&self.story)
    }

    fn of(events: Vec<LifeEvent<'m>>, story: String) -> Turn<'m> {
        Turn { events, effects: Vec::new(), story }
    }

    fn taking(decision: Decision<'m>) -> Turn<'m> {
        Turn::of(Vec::from([LifeEvent::Began(decision)]), String::new())
    }

    fn attention(story: String) -> Turn<'m> {
        Turn::of(Vec::from([LifeEvent::Attention(story.clone())]), story)
    }
}
