//! The calls of the gateway, as a crab and `complete-run` make them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use orange_api::Result;
use orange_api::gateway::{
    CompleteBody, GiveBackBody, HeartbeatAnswer, HeartbeatBody, MessageToCrab, Messages, PollBody,
    RegisterBody, Registered, Reported, RunEnd, StartBody,
};
use orange_core::scheduler::Ability;
use serde::{Deserialize, Serialize};

use super::job::AttemptVerdict;
use super::job::short_hash;
use super::socket::GatewaySocket;
use crate::client::{Client, GatewayAccess, Heard, json, parse};
use crate::host::TextKind;

/// Time limit of a call that does not wait for work.
const PATIENCE: Duration = Duration::from_secs(20);

/// A gateway, at one or several addresses.
#[derive(Debug)]
pub struct Api {
    client: Client,
}

/// Registration of a crab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    pub crab: String,
    pub colony: String,
    pub name: String,
    pub roles: Vec<String>,
    pub abilities: BTreeSet<Ability>,
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

impl Api {
    /// A client of this gateway.
    ///
    /// # Errors
    /// `usage` without an address, or with certificates that cannot be read.
    pub fn new(gateway: GatewayAccess) -> Result<Api> {
        Ok(Api { client: Client::new(gateway)? })
    }

    /// Connects a crab that is going to wait for work.
    ///
    /// # Errors
    /// The gateway does not answer, or has no WebSockets.
    pub fn socket(&self, crab: &str) -> Heard<GatewaySocket> {
        let path = format!("/v1/crabs/{crab}/work");
        GatewaySocket::connect(self.client.address(), &path, self.client.token(), self.client.tls())
    }

    /// Registers a crab, or changes its roles.
    pub fn register(&self, crab: &Registration) -> Heard<Registered> {
        let Registration { crab, colony, name, roles, abilities } = crab.clone();
        let abilities = abilities.iter().map(|it| it.as_str().to_owned()).collect();
        let body =
            RegisterBody { crab_id: Some(crab), colony_id: colony, name, role: None, roles, abilities };
        self.ask("/v1/crabs/register", &body, PATIENCE)
    }

    /// Waits for work, for at most this time.
    pub fn poll(&self, crab: &str, wait: Duration) -> Heard<Vec<MessageToCrab>> {
        let body = PollBody { wait_ms: Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)) };
        let answer: Messages = self.ask(&format!("/v1/crabs/{crab}/poll"), &body, wait + PATIENCE)?;
        Ok(answer.messages)
    }

    /// Says that a run is alive. Returns whether the gateway thinks so, too.
    pub fn heartbeat(&self, crab: &str, run: &str, patience: Duration) -> Heard<bool> {
        let body = HeartbeatBody { runs: vec![run.to_owned()] };
        let answer: HeartbeatAnswer = self.ask(&format!("/v1/crabs/{crab}/heartbeat"), &body, patience)?;
        Ok(!answer.ended.iter().any(|it| it == run))
    }

    /// Says that the agent of a run has started.
    pub fn start(&self, crab: &str, run: &str, worktree: &str) -> Heard<()> {
        let body = StartBody {
            run_id: run.to_owned(),
            crab_id: crab.to_owned(),
            worktree_path: Some(worktree.to_owned()),
        };
        self.ask::<Reported>("/v1/runs/start", &body, PATIENCE).map(drop)
    }

    /// Reports how a run has ended.
    pub fn report(&self, of: Reporter<'_>, verdict: &AttemptVerdict, commit: Option<&str>) -> Heard<()> {
        let (run_id, crab_id) = (of.run.to_owned(), of.crab.map(str::to_owned));
        let commit = commit.map(str::to_owned);
        let (path, body) = match verdict {
            AttemptVerdict::GivenBack { reason } => {
                let crab_id = crab_id.unwrap_or_default();
                ("/v1/runs/give-back", json(&GiveBackBody { run_id, crab_id, reason: reason.clone() }))
            }
            AttemptVerdict::Completed { result, summary, warning, outputs } => {
                let (result, warning, outputs) = (result.clone(), warning.clone(), outputs.clone());
                let (status, summary) = (RunEnd::Completed, summary.clone());
                let body =
                    CompleteBody { run_id, crab_id, status, result, summary, warning, outputs, commit };
                ("/v1/runs/complete", json(&body))
            }
            AttemptVerdict::Failed { summary } => {
                let (status, summary) = (RunEnd::Failed, summary.clone());
                let (result, warning, outputs) = (None, None, BTreeMap::new());
                let body =
                    CompleteBody { run_id, crab_id, status, result, summary, warning, outputs, commit };
                ("/v1/runs/complete", json(&body))
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
        body: &impl Serialize,
        patience: Duration,
    ) -> Heard<T> {
        let body = json(body);
        let key = short_hash(&format!("{path}\n{body}"));
        let is_once = path.starts_with("/v1/runs/") || path == "/v1/missions";
        parse(&self.client.post(path, &body, is_once.then_some(&*key), patience)?)
    }
}
