//! The life of a task: what follows every input.
//!
//! [`Machine::life`] is the one place that decides it. A driver (of real, simulated or searched tasks) collects the facts,
//! asks, and carries out the answer.

mod ended;
mod failed;
mod forced;
mod start;
#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use self::forced::Forced;
use crate::{
    Actor, AgentEnd, Answers, CRASH_COUNT, Cause, CounterId, Decision, Effect, Hook, LeftState, Machine,
    Rejection, Spawn, StateId, TransitionId, View, Workspace,
};

/// Facts that a driver knows of a task.
#[derive(Clone, Copy, Debug)]
pub struct LifeFacts<'v> {
    /// The values that decisions read.
    pub view: View<'v>,
    /// True if its summary is not empty.
    pub has_summary: bool,
    /// Place that it holds for its agents to work in.
    pub workspace: Option<Workspace>,
    /// True if a session is recorded, even if nothing is alive in it.
    pub has_session: bool,
    /// True if hooks of its last transition wait, because one of them has failed.
    pub hooks_wait: bool,
    /// Number of agents that the engine has started again since the last transition.
    pub restarts: u32,
    /// The names of the reviewers with names whose ends are not recorded.
    pub reviewers: &'v [&'v str],
    /// Start of the last agent in this state.
    pub last: Option<Spawn<'v>>,
}

impl<'v> LifeFacts<'v> {
    /// The facts for a merge, which asks the programs about its result itself.
    fn merging(&self) -> LifeFacts<'v> {
        let answers = Answers { is_merge: true, ..self.view.answers };
        LifeFacts { view: View { answers, ..self.view }, ..*self }
    }
}

/// An input to the life of a task.
#[derive(Clone, Copy, Debug)]
pub enum Input<'i> {
    /// An actor asks for a state.
    Request {
        /// State that is asked for.
        to: StateId,
        /// Actor that asks.
        by: Actor,
    },
    /// An actor starts the task, or the queue does.
    Spawn {
        /// Actor that starts it.
        by: Actor,
    },
    /// The agent of the state is to be started again with the state's respawn prompt.
    Respawn {
        /// True if it is alive.
        is_alive: bool,
    },
    /// The agent of a state without a respawn prompt is to be started again, with the prompt of the agent before.
    Restart {
        /// True if it is alive.
        is_alive: bool,
    },
    /// An agent has ended.
    Ended {
        /// The actor that the agent was.
        agent: Actor,
        /// End of the agent.
        end: AgentEnd<'i>,
    },
    /// The end of an agent has led to another state, whose agent may be the one that has ended.
    JudgedAgain {
        /// The actor that the agent was.
        agent: Actor,
        /// End of the agent.
        end: AgentEnd<'i>,
        /// True if another agent has been started in its place.
        is_replaced: bool,
    },
    /// A living agent has met a limit of its provider.
    LimitMet {
        /// The actor that the agent is.
        agent: Actor,
        /// The seconds until the limit ends, if the harness says so.
        left: Option<u32>,
        /// Evidence that Orange has of it, in one sentence.
        reason: &'i str,
    },
    /// The time that a task may spend in its state, or within some states, is over, or the budget of its state is used up.
    Elapsed {
        /// True if an agent of the state is recorded; it must be ended before its end is judged.
        has_agent: bool,
        /// Time that the task has been in the state, in seconds.
        lasted: u32,
        /// True if the budget of the state is used up.
        is_spent: bool,
        /// Times at which it left other states.
        left: &'i [LeftState],
    },
    /// A fact holds for which a watch rule waits.
    Watched {
        /// The entry of `watch`.
        rule: usize,
    },
    /// The agent could not be started again.
    NotStarted {
        /// Reason, in one sentence.
        reason: &'i str,
        /// True if no later attempt can succeed.
        is_final: bool,
    },
    /// A hook of the transition that has led to the task's state has failed.
    HookFailed {
        /// Hook that has failed.
        hook: &'i Hook<'i>,
        /// Its transition, if that is a declared one.
        transition: Option<TransitionId>,
        /// Cause of that transition.
        cause: Cause,
        /// Reason for the failure of the hook, in one sentence.
        reason: &'i str,
    },
    /// An actor cancels the task.
    Cancel {
        /// Actor that cancels it.
        by: Actor,
        /// True if an open transition cannot be finished.
        is_cut_short: bool,
    },
    /// An actor merges the task's work.
    Merge {
        /// Actor that merges it.
        by: Actor,
        /// True if the actor overrides a refusal of the workflow.
        force: bool,
        /// True if a merge is recorded.
        is_merged: bool,
    },
    /// Its pull request was merged or closed.
    PullRequest {
        /// End that this means for the task.
        end: Forced,
    },
}

/// Consequence of an input: the driver records the events in one write and in this order, and then carries out the effects in
/// order.
#[derive(Clone, Debug, Default)]
pub struct LifeTurn<'m> {
    /// Events to record.
    pub events: Vec<LifeEvent<'m>>,
    /// Effects to carry out when the task stays in its state. The effects of a transition are in its decision.
    pub effects: Vec<Effect<'m>>,
    /// Description of what happens, in one sentence; empty when the events say everything.
    pub story: String,
}

/// Something to record.
#[derive(Clone, Debug)]
pub enum LifeEvent<'m> {
    /// An agent has crashed.
    Crashed {
        /// The counter of crashes.
        counter: CounterId,
        /// Its new value.
        count: u32,
        /// Reason for which it counts as a crash.
        reason: String,
    },
    /// An agent could not continue its conversation.
    NotResumed,
    /// The engine moves the task.
    Advanced {
        /// The target state.
        to: StateId,
        /// Reason for the transition.
        reason: String,
    },
    /// A transition begins: the driver writes its status, carries out its effects, and closes it.
    Began(Decision<'m>),
    /// A transition begins that the workflow does not declare.
    Forced {
        /// End that the task gets.
        what: Forced,
        /// The actor on whose behalf it ends.
        by: Actor,
        /// The target state.
        to: StateId,
    },
    /// The agent is started again later, or goes on later if it is alive.
    Waits {
        /// Seconds until then; with 0 the start is among the effects.
        after: u32,
        /// Reason for the wait.
        reason: String,
    },
    /// The hook that has failed waits, and those after it: they run when somebody asks for that.
    HooksWait,
    /// The engine no longer starts the agent.
    GaveUp {
        /// Reason for which it gave up.
        reason: String,
    },
    /// A person has to act.
    Attention(String),
}

/// Reason for which an input is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The workflow refuses it.
    Rejected {
        /// Reason of the workflow.
        rejection: Rejection,
        /// True if a person can override the refusal.
        is_forcible: bool,
    },
    /// The workflow has no state for this command.
    NoState(&'static str),
    /// The task has already been started.
    Started,
    /// The state has no respawn prompt.
    NoRespawnPrompt,
    /// Hooks of the last transition wait.
    HooksWait,
    /// No agent works in the state.
    NoAgent,
    /// The task does not hold what its agent works in.
    NoWorkspace(Workspace),
    /// The agent is alive.
    Alive,
}

impl<'m> Machine<'m> {
    /// Decides what follows an input; the error is the reason for which it is refused.
    pub fn life(&self, facts: &LifeFacts<'_>, input: Input<'_>) -> Result<LifeTurn<'m>, Refusal> {
        if facts.hooks_wait
            && let Some(answer) = self.while_hooks_wait(facts, &input)
        {
            return answer;
        }
        match input {
            Input::Request { to, by } => self.request(facts, to, by),
            Input::Spawn { by } => self.spawn(facts, by),
            Input::Respawn { is_alive } => self.respawn(facts, is_alive),
            Input::Restart { is_alive } => self.start_again(facts, is_alive),
            Input::Ended { agent, end } => self.ended(facts, agent, &end).map_err(not_asked),
            Input::JudgedAgain { agent, end, is_replaced } => {
                let status = facts.view.status;
                let is_missed = self.is_missed(status, facts.has_session, agent, is_replaced);
                if is_missed && self.has_reviewer(status, end.reviewer) {
                    self.ended(facts, agent, &end).map_err(not_asked)
                } else {
                    Ok(LifeTurn::default())
                }
            }
            Input::LimitMet { agent, left, reason } => Ok(self.limit_met(facts, agent, left, reason)),
            Input::Elapsed { has_agent, lasted, is_spent, left } => self
                .elapsed(facts, has_agent, &AgentEnd { lasted, is_spent, left, ..AgentEnd::PLAIN })
                .map_err(not_asked),
            Input::Watched { rule } => self.watched(facts, rule),
            Input::NotStarted { reason, is_final } => Ok(self.not_started(facts, reason, is_final)),
            Input::HookFailed { hook, transition, cause, reason } => {
                // A transition that follows a failed hook does not lead to another: two of them could go on for ever.
                let transition = transition.filter(|_| cause != Cause::HookFailed);
                Ok(self.hook_failed(facts, hook, transition, reason))
            }
            Input::Cancel { by, is_cut_short } => self.cancel(facts, by, is_cut_short),
            Input::Merge { by, force, is_merged } => self.merge(facts, by, force, is_merged),
            Input::PullRequest { end } => self.pull_request(facts, end),
        }
    }

    fn request(&self, facts: &LifeFacts<'_>, to: StateId, by: Actor) -> Result<LifeTurn<'m>, Refusal> {
        let decision = self.decide(&facts.view, to, by);
        decision.map(LifeTurn::taking).map_err(|rejection| self.rejected(facts, rejection))
    }

    /// The counter that the end of a transition sets: every transition resets `crash_count`, except an escalation, which keeps
    /// the count that led to it.
    pub fn closing(&self, cause: Cause) -> Option<(CounterId, u32)> {
        (cause != Cause::Escalation).then_some((CRASH_COUNT, 0))
    }

    /// The counters that restart when a person moves a task to another state or workflow.
    pub fn migrated(&self) -> [(CounterId, u32); 1] {
        [(CRASH_COUNT, 0)]
    }
}

/// The end of an agent is refused only as long as a program has not answered.
fn not_asked(rejection: Rejection) -> Refusal {
    Refusal::Rejected { rejection, is_forcible: false }
}

impl<'m> LifeTurn<'m> {
    /// The transition that begins.
    pub fn decision(&self) -> Option<&Decision<'m>> {
        self.events.iter().find_map(|event| match event {
            LifeEvent::Began(decision) => Some(decision),
            LifeEvent::Crashed { .. }
            | LifeEvent::NotResumed
            | LifeEvent::Advanced { .. }
            | LifeEvent::Forced { .. }
            | LifeEvent::Waits { .. }
            | LifeEvent::HooksWait
            | LifeEvent::GaveUp { .. }
            | LifeEvent::Attention(_) => None,
        })
    }

    /// The hooks that run.
    pub fn hooks(&self) -> &[Effect<'m>] {
        self.decision().map_or(&self.effects, |decision| &decision.effects)
    }

    /// The turn that replaces this one when its transition cannot begin: a person has to act.
    pub fn blocked(&self, why: &str) -> LifeTurn<'m> {
        LifeTurn::attention(format!("{}, but the transition is blocked: {why}", self.reason()))
    }

    fn reason(&self) -> &str {
        let reason = self.events.iter().find_map(|event| match event {
            LifeEvent::Advanced { reason, .. } => Some(reason.as_str()),
            LifeEvent::Crashed { .. }
            | LifeEvent::NotResumed
            | LifeEvent::Began(_)
            | LifeEvent::Forced { .. }
            | LifeEvent::Waits { .. }
            | LifeEvent::HooksWait
            | LifeEvent::GaveUp { .. }
            | LifeEvent::Attention(_) => None,
        });
        reason.unwrap_or(&self.story)
    }

    fn of(events: Vec<LifeEvent<'m>>, story: String) -> LifeTurn<'m> {
        LifeTurn { events, effects: Vec::new(), story }
    }

    fn taking(decision: Decision<'m>) -> LifeTurn<'m> {
        LifeTurn::of(Vec::from([LifeEvent::Began(decision)]), String::new())
    }

    pub(crate) fn attention(story: String) -> LifeTurn<'m> {
        LifeTurn::of(Vec::from([LifeEvent::Attention(story.clone())]), story)
    }
}
