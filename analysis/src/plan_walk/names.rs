//! The names of pauses and refusals in scenarios.

use orange_core::mission::{PauseReason, Refusal};

/// Names of the reasons for a pause; `none` stands for the lack of a pause.
pub const PAUSES: [&str; 7] = ["none", "boundary", "warning", "error", "exhausted", "cap", "obstacle"];

/// Names of the reasons for which an act can be refused.
pub const REFUSALS: [&str; 23] = [
    "closed",
    "has_begun",
    "pending",
    "paused",
    "no_such_step",
    "stale",
    "no_such_attempt",
    "has_ended",
    "not_queued",
    "busy",
    "not_yours",
    "not_asked",
    "answered",
    "no_such_answer",
    "moved",
    "result_needed",
    "result_undeclared",
    "output",
    "not_paused",
    "other_pause",
    "nothing_to_accept",
    "not_failed",
    "nothing_to_retry",
];

/// Name of the reason for a mission's pause.
pub fn pause_name(reason: Option<&PauseReason>) -> &'static str {
    match reason {
        None => "none",
        Some(PauseReason::Boundary(_)) => "boundary",
        Some(PauseReason::Warning(_)) => "warning",
        Some(PauseReason::Error(_)) => "error",
        Some(PauseReason::Exhausted(_)) => "exhausted",
        Some(PauseReason::Cap(_)) => "cap",
        Some(PauseReason::Obstacle(_)) => "obstacle",
        Some(PauseReason::Changed(_)) => "changed",
    }
}

/// Name of the reason for which an act was refused.
pub fn refusal_name(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Closed(_) => "closed",
        Refusal::HasBegun => "has_begun",
        Refusal::Pending => "pending",
        Refusal::Paused => "paused",
        Refusal::NoSuchStep => "no_such_step",
        Refusal::Stale { .. } => "stale",
        Refusal::NoSuchAttempt { .. } => "no_such_attempt",
        Refusal::HasEnded => "has_ended",
        Refusal::NotQueued(_) => "not_queued",
        Refusal::Busy(_) => "busy",
        Refusal::NotYours(_) => "not_yours",
        Refusal::NotAsked(_) => "not_asked",
        Refusal::Answered { .. } => "answered",
        Refusal::NoSuchAnswer(_) => "no_such_answer",
        Refusal::OtherCommit { .. } => "moved",
        Refusal::ResultNeeded => "result_needed",
        Refusal::ResultUndeclared => "result_undeclared",
        Refusal::Output(_) => "output",
        Refusal::NotPaused => "not_paused",
        Refusal::OtherPause { .. } => "other_pause",
        Refusal::NotLanding => "not_landing",
        Refusal::NothingToAccept => "nothing_to_accept",
        Refusal::NotFailed(_) => "not_failed",
        Refusal::NothingToRetry => "nothing_to_retry",
    }
}
