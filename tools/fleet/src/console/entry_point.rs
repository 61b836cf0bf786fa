//! Requests of the console to its gateway: the check of tokens, and calls as the API makes them.

use std::path::PathBuf;

use orange_api::gateway::{AnswerBody, PauseEffect};
use orange_core::plan::{Execution, Intervene};

use crate::host::Later;

/// The gateway behind the console. Calls of forms go through the same code as calls of the API.
pub trait EntryPoint: Send + Sync + 'static {
    /// The id of a token, if it is one of a person.
    fn person(&self, token: &str) -> Option<String>;

    /// Name of the person whose token has this id; `None` after it was revoked.
    fn name_of(&self, id: &str) -> Option<String>;

    /// True if the token of this id is one of a person still.
    fn is_person(&self, id: &str) -> bool;

    /// Secret that signs sessions: all gateways of a fleet share it.
    fn secret(&self) -> Vec<u8>;

    /// The folder in which sessions are noted that people have ended.
    fn signed_out(&self) -> PathBuf;

    /// True if browsers reach the gateway over TLS only.
    fn is_secure(&self) -> bool;

    /// Does what a person asks, once for each key.
    fn ask(&self, key: String, ask: Ask) -> Later<'_, Result<DoneRequest, RefusedRequest>>;
}

/// Request of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Start a mission.
    Start(Begin),
    /// Answer a pause.
    Continue {
        mission: String,
        /// The number of the pause.
        pause: Option<u32>,
        /// True to take the failure as it is.
        accepts: bool,
        /// The policy from now on.
        execution: Option<Execution>,
        /// The policy from now on.
        intervene: Option<Intervene>,
    },
    /// Answer the question of a step.
    Answer {
        mission: String,
        /// Name of the person.
        by: String,
        answer: AnswerBody,
    },
    /// Run a failed mission again.
    Retry {
        mission: String,
        /// From this step, and not from every failed one.
        step: Option<String>,
    },
    /// End a mission.
    Cancel { mission: String },
}

/// A mission to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    /// The colony, by its id.
    pub colony: String,
    /// The name of the workflow.
    pub workflow: String,
    /// Description of the work.
    pub prompt: String,
    pub branch: Option<String>,
    /// The policy, where it is not the workflow's.
    pub execution: Option<Execution>,
    /// The policy, where it is not the workflow's.
    pub intervene: Option<Intervene>,
}

/// Result of a request that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneRequest {
    pub mission: String,
    /// Effect of the answer to a pause.
    pub answered: Option<PauseEffect>,
}

/// Refusal of a request, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The status of the answer.
    pub status: u16,
    pub message: String,
    /// Advice on the next action.
    pub help: String,
}
