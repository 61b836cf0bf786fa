//! The next need of a task or a mission: one function from facts to at most one need, and the actions that answer it.
//!
//! Nothing of it is stored. A driver collects the facts, and every list, screen and message shows the same need.

mod actions;
mod mission;
mod task;
#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;

pub use self::actions::{Obstacle, Offer, PersonAction};
pub use self::mission::{MissionFacts, OpenAsk, OpenPause};
pub use self::task::{
    CreatedCount, Hooks, KnownForgeMerge, KnownPullRequest, Lost, OverdueFact, ReachedBudget, TaskFacts,
    questions,
};

/// NeedKind of a need, the most urgent first. Those from [`NeedKind::Limit`] on need no person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum NeedKind {
    /// An agent asks whether it may use a tool.
    Permission,
    /// An agent, or a step of a mission, asks a person something.
    Question,
    /// An agent is at its prompt and has not written, or not asked for, what its state wants.
    IdleWithoutArtifact,
    /// The agent of the state has ended, and nothing starts it again.
    Crashed,
    /// The task is in the crash state of its workflow, or nothing leads it on.
    Stuck,
    /// Only a person leads the task on, and nothing is known to be in the way.
    ReviewReady,
    /// A limit of the task's budget is reached.
    Budget,
    /// A mission waits for the answer to a pause, or a person has stopped the task.
    Paused,
    /// The work cannot be merged as it is.
    Conflict,
    /// A check of the pull request has failed.
    ChecksRed,
    /// A hook has failed, or the engine calls for attention while agents work.
    HookFailed,
    /// It waits for a time, such as the end of a limit.
    Limit,
    /// It waits to be started, or for a program.
    Queued,
    /// Its agents work.
    Working,
    /// It has ended.
    Over,
}

impl NeedKind {
    /// Every kind, the most urgent first.
    pub const ALL: [NeedKind; 15] = [
        NeedKind::Permission,
        NeedKind::Question,
        NeedKind::IdleWithoutArtifact,
        NeedKind::Crashed,
        NeedKind::Stuck,
        NeedKind::ReviewReady,
        NeedKind::Budget,
        NeedKind::Paused,
        NeedKind::Conflict,
        NeedKind::ChecksRed,
        NeedKind::HookFailed,
        NeedKind::Limit,
        NeedKind::Queued,
        NeedKind::Working,
        NeedKind::Over,
    ];

    /// The word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            NeedKind::Permission => "permission",
            NeedKind::Question => "question",
            NeedKind::IdleWithoutArtifact => "idle-without-artifact",
            NeedKind::Crashed => "crashed",
            NeedKind::Stuck => "stuck",
            NeedKind::ReviewReady => "review-ready",
            NeedKind::Budget => "budget",
            NeedKind::Paused => "paused",
            NeedKind::Conflict => "conflict",
            NeedKind::ChecksRed => "checks-red",
            NeedKind::HookFailed => "hook-failed",
            NeedKind::Limit => "limit",
            NeedKind::Queued => "queued",
            NeedKind::Working => "working",
            NeedKind::Over => "over",
        }
    }

    /// True if a need of this kind needs a person.
    pub const fn needs_person(self) -> bool {
        match self {
            NeedKind::Permission
            | NeedKind::Question
            | NeedKind::IdleWithoutArtifact
            | NeedKind::Crashed
            | NeedKind::Stuck
            | NeedKind::ReviewReady
            | NeedKind::Budget
            | NeedKind::Paused
            | NeedKind::Conflict
            | NeedKind::ChecksRed
            | NeedKind::HookFailed => true,
            NeedKind::Limit | NeedKind::Queued | NeedKind::Working | NeedKind::Over => false,
        }
    }
}

/// A need, with its start and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need<'f> {
    /// Kind, which decides its place in lists.
    pub kind: NeedKind,
    /// Since when, if that is known: a time as the facts have it.
    pub since: Option<&'f str>,
    /// One sentence without a duration.
    pub why: String,
    /// The agent that it is about.
    pub agent: Option<u32>,
    /// The request of that agent.
    pub request: Option<AgentRequest<'f>>,
    /// End of the wait, if that is known.
    pub until: Option<&'f str>,
    /// The verdict that stands, of work that is ready for a person.
    pub verdict: Option<String>,
    /// The round of review, if there was one.
    pub round: Option<u32>,
}

impl<'f> Need<'f> {
    fn new(kind: NeedKind, since: Option<&'f str>, why: impl Into<String>) -> Need<'f> {
        let why = why.into();
        Need { kind, since, why, agent: None, request: None, until: None, verdict: None, round: None }
    }

    fn of_agent(kind: NeedKind, agent: &Agent<'f>) -> Need<'f> {
        let Agent { spawn, reason, .. } = agent;
        let why = match reason.strip_prefix("it ") {
            Some(rest) => format!("agent {spawn} {rest}"),
            None => format!("agent {spawn}: {reason}"),
        };
        Need { agent: Some(*spawn), ..Need::new(kind, agent.since, why) }
    }
}

/// A living agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent<'f> {
    /// Number of its start, from 1.
    pub spawn: u32,
    /// Activity, as far as a need depends on it.
    pub doing: Doing<'f>,
    /// Since when, if that is known.
    pub since: Option<&'f str>,
    /// That activity as a sentence, such as `it is at its prompt`.
    pub reason: &'f str,
    /// The [`fingerprint`](crate::fingerprint) of the questions that stood in the text before it began.
    pub asked_before: Option<u64>,
}

/// Activity of a living agent, as far as a need depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing<'f> {
    /// It asks, and nobody has answered.
    Asks(AgentRequest<'f>),
    /// It waits for a message, at its prompt or behind an error.
    Waits,
    /// Its conversation is over, and its program is still there.
    Ended,
    /// It may hang: a guess.
    Quiet,
    /// It waits for the end of a limit.
    Limit {
        /// End of the limit, if that is known.
        until: Option<&'f str>,
    },
    /// It works, or nothing else is known.
    Works,
    /// It has nothing to do in this state.
    Rests,
}

/// Request of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentRequest<'f> {
    /// The name by which it can be answered, if it can be answered from outside.
    pub name: Option<&'f str>,
    /// Name of the tool, as the harness reports it.
    pub tool: Option<&'f str>,
    /// The argument of the tool, or the question.
    pub argument: Option<&'f str>,
    /// True if it asks for words, and not for a permission.
    pub is_question: bool,
}

/// A wait for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait<'f> {
    /// End of the wait.
    pub until: Option<&'f str>,
    /// Reason for the wait.
    pub reason: &'f str,
}

/// The need that comes from the requests of agents: permissions come first.
fn asked<'f>(agents: &[Agent<'f>]) -> Option<Need<'f>> {
    let one = |is_question: bool| {
        agents.iter().find_map(|agent| match agent.doing {
            Doing::Asks(request) if request.is_question == is_question => Some((agent, request)),
            Doing::Asks(_)
            | Doing::Waits
            | Doing::Ended
            | Doing::Quiet
            | Doing::Limit { .. }
            | Doing::Works
            | Doing::Rests => None,
        })
    };
    let (kind, (agent, request)) = one(false)
        .map(|found| (NeedKind::Permission, found))
        .or(one(true).map(|found| (NeedKind::Question, found)))?;
    Some(Need { request: Some(request), ..Need::of_agent(kind, agent) })
}

/// The first agent that does nothing until somebody speaks to it.
fn idle<'a, 'f>(agents: &'a [Agent<'f>]) -> Option<&'a Agent<'f>> {
    agents.iter().find(|agent| matches!(agent.doing, Doing::Waits | Doing::Ended | Doing::Quiet))
}

/// The limit for which everything waits: the recorded one, or that of an agent while no other works.
fn limited<'f>(agents: &[Agent<'f>], wait: Option<&Wait<'f>>, since: Option<&'f str>) -> Option<Need<'f>> {
    let at_limit = agents.iter().find_map(|agent| match agent.doing {
        Doing::Limit { until } => Some((agent, until)),
        Doing::Asks(_) | Doing::Waits | Doing::Ended | Doing::Quiet | Doing::Works | Doing::Rests => None,
    });
    if let Some(Wait { until, reason }) = wait {
        let agent = at_limit.map(|(agent, _)| agent.spawn);
        return Some(Need { agent, until: *until, ..Need::new(NeedKind::Limit, since, *reason) });
    }
    let (agent, until) = at_limit.filter(|_| !agents.iter().any(|it| it.doing == Doing::Works))?;
    Some(Need { until, ..Need::of_agent(NeedKind::Limit, agent) })
}

/// The need of a task or mission that needs no person: the activity of its first agent.
fn working<'f>(agents: &[Agent<'f>], since: Option<&'f str>, otherwise: &str) -> Need<'f> {
    let busy = agents.iter().find(|agent| agent.doing == Doing::Works).or(agents.first());
    match busy {
        Some(agent) => Need::of_agent(NeedKind::Working, agent),
        None => Need::new(NeedKind::Working, since, otherwise),
    }
}
