//! Events of attempts that end without a report.

use crate::store::Event;
use crate::store::event::{EndedAttempt, StepEnd};

/// The event of an attempt whose agent has ended without a word.
pub(super) fn lost(step: &str, attempt: u32) -> Event {
    Event::StepEnded(ended(step, attempt, StepEnd::Lost))
}

/// The event of an attempt that has failed.
pub(super) fn failed(step: &str, attempt: u32, reason: &str) -> Event {
    Event::StepEnded(EndedAttempt {
        reason: Some(reason.to_owned()),
        ..ended(step, attempt, StepEnd::Failed)
    })
}

fn ended(step: &str, attempt: u32, end: StepEnd) -> EndedAttempt {
    EndedAttempt { step: step.to_owned(), attempt, end, ..EndedAttempt::default() }
}
