//! Asks as programs store them.

use orange_core::plan::Ask;
use serde::{Deserialize, Serialize};

use super::{owned, words};

/// Ask of a step, without the question and the answers, which are the prompt and the results of the step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredAsk {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    who: Vec<String>,
    shows_context: bool,
    shows_diff: bool,
    is_approval: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_timeout: Option<String>,
}

impl StoredAsk {
    pub(super) fn of(ask: &Ask<'_>) -> StoredAsk {
        StoredAsk {
            who: owned(ask.who),
            shows_context: ask.shows_context,
            shows_diff: ask.shows_diff,
            is_approval: ask.is_approval,
            on_timeout: ask.on_timeout.map(str::to_owned),
        }
    }

    /// `None` where a timeout gives an answer that is none of these.
    pub(super) fn leak(self, answers: &[String]) -> Option<&'static Ask<'static>> {
        if self.on_timeout.as_ref().is_some_and(|it| !answers.contains(it)) {
            return None;
        }
        Some(Box::leak(Box::new(Ask {
            who: words(self.who),
            shows_context: self.shows_context,
            shows_diff: self.shows_diff,
            is_approval: self.is_approval,
            on_timeout: self.on_timeout.map(|it| &*it.leak()),
        })))
    }
}
