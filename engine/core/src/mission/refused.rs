//! Refusals in words.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use super::{MissionStatus, Refusal, StepStatus};
use crate::plan::{Plan, Step};

impl Refusal {
    /// Message of the refusal, in a sentence. `mission` is the name of the mission in it, such as `the mission`.
    pub fn words(&self, plan: &Plan<'_>, mission: &str) -> String {
        match self {
            Refusal::Closed(MissionStatus::Failed) => format!("closed: {mission} has failed"),
            Refusal::Closed(status) => format!("closed: {mission} is {}", status.as_str()),
            Refusal::HasBegun => format!("{mission} has begun"),
            Refusal::Pending => format!("{mission} has not begun: it waits for a worktree"),
            Refusal::Paused => format!("{mission} is paused, and nothing starts"),
            Refusal::NoSuchStep => format!("{} has no such step", plan.name),
            Refusal::Stale { current } => {
                format!("stale: this is an older attempt, and the current one is {current}")
            }
            Refusal::NoSuchAttempt { current: 0 } => "the step has no attempt yet".to_owned(),
            Refusal::NoSuchAttempt { current } => {
                format!("the step has no such attempt: the current one is {current}")
            }
            Refusal::HasEnded => "this attempt has ended, with another report".to_owned(),
            Refusal::NotQueued(status) => format!("the step is {}", status.as_str()),
            Refusal::Busy(step) if plan.step(*step).is_ask() => {
                format!(
                    "step {} shows the changes to a person, and nothing else works meanwhile",
                    plan.step(*step).id
                )
            }
            Refusal::Busy(step) if plan.is_concurrent() => {
                format!("step {} is under way, and this one has to wait for it", plan.step(*step).id)
            }
            Refusal::NotLanding => "the branch of this attempt is not being merged".to_owned(),
            Refusal::Busy(step) => {
                format!(
                    "step {} is running, and the steps of a mission share a worktree",
                    plan.step(*step).id
                )
            }
            Refusal::NotYours(step) => {
                let Step { id, ask, .. } = plan.step(*step);
                match ask.map_or(&[][..], |it| it.who) {
                    [] => format!("not-yours: step {id} asks a person"),
                    who => format!("not-yours: step {id} asks {}", who.join(", ")),
                }
            }
            Refusal::NotAsked(StepStatus::Running | StepStatus::Assigned) => {
                "the step does not ask a person: an agent or a program does it".to_owned()
            }
            Refusal::NotAsked(status) => {
                format!("the step does not ask a person now: it is {}", status.as_str())
            }
            Refusal::Answered { answer, by } => {
                format!("this question has been answered: {answer}, by {}", by.as_str())
            }
            Refusal::NoSuchAnswer(step) => {
                format!(
                    "the answers of step {} are {}",
                    plan.step(*step).id,
                    plan.step(*step).answers().join(", ")
                )
            }
            Refusal::OtherCommit { shown: Some(commit) } => {
                format!("moved: the question is about commit {commit}")
            }
            Refusal::OtherCommit { shown: None } => "moved: the question is about no commit".to_owned(),
            Refusal::ResultNeeded => "a result is missing".to_owned(),
            Refusal::ResultUndeclared => "the step declares no such result".to_owned(),
            Refusal::Output(fault) => fault.words("output"),
            Refusal::NotPaused => format!("{mission} is not paused"),
            Refusal::OtherPause { current } => {
                format!("this answers another pause: {mission} is at pause {current}")
            }
            Refusal::NothingToAccept => "this pause is not about a failure".to_owned(),
            Refusal::NotFailed(status) => {
                format!("{mission} is {}, and only a failed one is tried again", status.as_str())
            }
            Refusal::NothingToRetry => "the step has not failed, or only because another one has".to_owned(),
        }
    }
}
