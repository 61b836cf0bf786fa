//! The need of a mission.

use alloc::string::String;

use super::{Agent, Need, NeedKind, Wait, asked, idle, limited, working};
use crate::mission::MissionStatus;

/// Known facts about a mission.
#[derive(Clone, Copy, Debug)]
pub struct MissionFacts<'f> {
    /// Status of the mission.
    pub status: MissionStatus,
    /// Its living agents, the one first that needs somebody most.
    pub agents: &'f [Agent<'f>],
    /// Time of the last change of its state.
    pub since: Option<&'f str>,
    /// The pause that waits for an answer.
    pub pause: Option<OpenPause<'f>>,
    /// The question of a step that waits for an answer.
    pub ask: Option<OpenAsk<'f>>,
    /// Reason for its failure, in one sentence.
    pub failure: Option<&'f str>,
    /// The end of an agent that is not recorded yet.
    pub unnoticed: Option<&'f str>,
    /// Until when it waits before its agent goes on.
    pub wait: Option<Wait<'f>>,
    /// Reason for which the engine calls a person.
    pub attention: Option<&'f str>,
    /// True if something shows the work of its last agent.
    pub has_logs: bool,
}

/// A pause that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub struct OpenPause<'f> {
    /// Number of the pause, from 1.
    pub number: u32,
    /// The event that led to the pause, in words.
    pub what: &'f str,
    /// True if its failure can be taken as it is.
    pub can_accept: bool,
}

/// The question of a step that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub struct OpenAsk<'f> {
    /// Id of the step.
    pub step: &'f str,
    /// Whom it asks what, in words.
    pub what: &'f str,
    /// The answers.
    pub answers: &'f [String],
    /// The commit that it shows.
    pub commit: Option<&'f str>,
    /// Time at which it was asked.
    pub since: Option<&'f str>,
}

impl<'f> MissionFacts<'f> {
    /// Returns the need of the mission.
    pub fn need(&self) -> Need<'f> {
        let new = |kind, why| Need::new(kind, self.since, why);
        match self.status {
            MissionStatus::Completed => new(NeedKind::Over, "the mission is completed"),
            MissionStatus::Cancelled => new(NeedKind::Over, "the mission is cancelled"),
            MissionStatus::Failed => new(NeedKind::Stuck, self.failure.unwrap_or("the mission has failed")),
            MissionStatus::Paused => {
                new(NeedKind::Paused, self.pause.map_or("the mission waits for a person", |it| it.what))
            }
            MissionStatus::Pending => match self.attention {
                Some(attention) => new(NeedKind::Stuck, attention),
                None => new(NeedKind::Queued, "the mission waits for a worktree"),
            },
            MissionStatus::Running => {
                let need = self.running();
                Need { since: need.since.or(self.since), ..need }
            }
        }
    }

    fn running(&self) -> Need<'f> {
        let new = |kind, why: &'f str| Need::new(kind, self.since, why);
        let idle = || idle(self.agents).map(|agent| Need::of_agent(NeedKind::IdleWithoutArtifact, agent));
        asked(self.agents)
            .or_else(|| self.ask.map(|it| Need::new(NeedKind::Question, it.since, it.what)))
            .or_else(idle)
            .or_else(|| self.unnoticed.map(|why| new(NeedKind::Crashed, why)))
            .or_else(|| self.attention.map(|why| new(NeedKind::HookFailed, why)))
            .or_else(|| limited(self.agents, self.wait.as_ref(), self.since))
            .unwrap_or_else(|| working(self.agents, self.since, "its next step is about to begin"))
    }
}
