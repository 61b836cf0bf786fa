//! The calls of the gateway, as a crab and `complete-run` make them.

use std::time::Duration;

use orange_api::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use super::assigned::Message;
use super::job::Verdict;
use super::line::Line;
use super::workflow::short_hash;
use crate::client::{Client, Gateway, Heard, parse};
use crate::host::TextKind;

/// Time limit of a call that does not wait for work.
const PATIENCE: Duration = Duration::from_secs(20);

/// A gateway, at one or several addresses.
#[derive(Debug)]
pub struct Api {
    client: Client,
}

/// Registration of a crab: its id, colony, name and roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    pub crab: String,
    pub colony: String,
    pub name: String,
    pub roles: Vec<String>,
}

/// Answer of a gateway to the registration of a crab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Registered {
    /// Time between two heartbeats that the gateway expects, in milliseconds.
    pub beat_ms: Option<u64>,
}

/// Author of the reports of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reporter<'r> {
    pub run: &'r str,
    /// The crab, unless a script reports.
    pub crab: Option<&'r str>,
    /// The crab's job, which makes one report of a run differ from a later one.
    pub job: &'r str,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Messages {
    Named { messages: Vec<Message> },
    Plain(Vec<Message>),
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Ended {
    ended: Vec<String>,
}

impl Api {
    /// A client of this gateway.
    ///
    /// # Errors
    /// `usage` without an address, or with certificates that cannot be read.
    pub fn new(gateway: Gateway) -> Result<Api> {
        Ok(Api { client: Client::new(gateway)? })
    }

    /// Connects a crab that is going to wait for work.
    ///
    /// # Errors
    /// The gateway does not answer, or has no WebSockets.
    pub fn line(&self, crab: &str) -> Heard<Line> {
        let path = format!("/v1/crabs/{crab}/work");
        Line::connect(self.client.address(), &path, self.client.token(), self.client.tls())
    }

    /// Registers a crab, or changes its roles.
    pub fn register(&self, crab: &Registration) -> Heard<Registered> {
        let Registration { crab, colony, name, roles } = crab;
        let body = json!({ "crab_id": crab, "colony_id": colony, "name": name, "roles": roles });
        self.ask("/v1/crabs/register", &body, PATIENCE)
    }

    /// Waits for work, for at most this time.
    pub fn poll(&self, crab: &str, wait: Duration) -> Heard<Vec<Message>> {
        let body = json!({ "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) });
        let answer: Messages = self.ask(&format!("/v1/crabs/{crab}/poll"), &body, wait + PATIENCE)?;
        Ok(match answer {
            Messages::Named { messages } | Messages::Plain(messages) => messages,
        })
    }

    /// Says that a run is alive. Returns whether the gateway thinks so, too.
    pub fn beat(&self, crab: &str, run: &str, patience: Duration) -> Heard<bool> {
        let answer: Ended =
            self.ask(&format!("/v1/crabs/{crab}/beat"), &json!({ "runs": [run] }), patience)?;
        Ok(!answer.ended.iter().any(|it| it == run))
    }

    /// Says that the agent of a run has started.
    pub fn start(&self, crab: &str, run: &str, worktree: &str) -> Heard<()> {
        let body = json!({ "run_id": run, "crab_id": crab, "worktree_path": worktree });
        self.ask::<Value>("/v1/runs/start", &body, PATIENCE).map(drop)
    }

    /// Reports how a run has ended.
    pub fn report(&self, of: Reporter<'_>, verdict: &Verdict, commit: Option<&str>) -> Heard<()> {
        let mut body = serde_json::to_value(verdict).unwrap_or_default();
        body["run_id"] = of.run.into();
        if let Some(crab) = of.crab {
            body["crab_id"] = crab.into();
        }
        let path = match verdict {
            Verdict::GivenBack { .. } => {
                body.as_object_mut().map(|it| it.remove("status"));
                "/v1/runs/give-back"
            }
            Verdict::Completed { .. } | Verdict::Failed { .. } => {
                if let Some(commit) = commit {
                    body["commit"] = commit.into();
                }
                "/v1/runs/complete"
            }
        };
        // A run that comes back to this crab can be given back again.
        let key = short_hash(&format!("{path}\n{body}{}", of.job));
        self.client.post(path, &body, Some(&key), PATIENCE).map(drop)
    }

    /// Sends a text of a run. The last one counts.
    pub fn put_text(&self, run: &str, kind: TextKind, text: &str, patience: Duration) -> Heard<()> {
        self.client.put(&format!("/v1/runs/{run}/{}", kind.as_str()), text, patience).map(drop)
    }

    /// Takes a crab out of its colony.
    pub fn leave(&self, crab: &str) -> Heard<()> {
        self.client.delete(&format!("/v1/crabs/{crab}"), PATIENCE).map(drop)
    }

    /// A call with a body. The same body to the same path has the same key, so that the gateway takes it once.
    pub fn ask<T: for<'de> Deserialize<'de>>(
        &self,
        path: &str,
        body: &Value,
        patience: Duration,
    ) -> Heard<T> {
        let key = short_hash(&format!("{path}\n{body}"));
        let is_once = path.starts_with("/v1/runs/") || path == "/v1/missions";
        parse(&self.client.post(path, body, is_once.then_some(&*key), patience)?)
    }
}
