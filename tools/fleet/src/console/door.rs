//! What the console asks of its gateway: who may enter, and calls as the API makes them.

use std::path::PathBuf;

use orange_core::plan::{Execution, Intervene};

use crate::host::Later;

/// The gateway behind the console. Calls of forms go through the same code as calls of the API.
pub trait Door: Send + Sync + 'static {
    /// The id of a token, if it is one of a person.
    fn person(&self, token: &str) -> Option<String>;

    /// Whether the token of this id is one of a person still.
    fn is_person(&self, id: &str) -> bool;

    /// What signs sessions: every gateway of a fleet has the same.
    fn secret(&self) -> Vec<u8>;

    /// The folder in which sessions are noted that people have ended.
    fn signed_out(&self) -> PathBuf;

    /// Whether browsers reach the gateway over TLS only.
    fn is_secure(&self) -> bool;

    /// Does what a person asks, once for each key.
    fn ask(&self, key: String, ask: Ask) -> Later<'_, Result<Done, Refused>>;
}

/// What a person asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Start a mission.
    Start(Begin),
    /// Answer a pause.
    Continue {
        mission: String,
        /// The number of the pause.
        pause: Option<u32>,
        /// Whether to take the failure as it is.
        accepts: bool,
        /// The policy from now on.
        execution: Option<Execution>,
        /// The policy from now on.
        intervene: Option<Intervene>,
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
    /// What is to be done.
    pub prompt: String,
    pub branch: Option<String>,
    /// The policy, where it is not the workflow's.
    pub execution: Option<Execution>,
    /// The policy, where it is not the workflow's.
    pub intervene: Option<Intervene>,
}

/// What has been done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub mission: String,
    /// What the answer to a pause has done, as the API says it.
    pub answered: Option<&'static str>,
}

/// Why something is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The status of the answer.
    pub status: u16,
    pub message: String,
    /// What to do next.
    pub help: String,
}
