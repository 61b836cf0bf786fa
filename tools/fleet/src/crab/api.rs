//! The calls of the gateway, as a crab and `complete-run` make them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use orange_engine::{Error, Kind, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_rustls::rustls::ClientConfig;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::assigned::Message;
use super::job::Verdict;
use super::line::Line;
use super::roots;
use super::workflow::short_hash;
use crate::host::TextKind;

/// The longest answer that is read.
const LONGEST: u64 = 4 << 20;

/// How long a call may take that does not wait for work.
const PATIENCE: Duration = Duration::from_secs(20);

/// A gateway, at one or several addresses.
#[derive(Debug)]
pub struct Api {
    agent: Agent,
    addresses: Vec<String>,
    token: String,
    /// TLS, for WebSockets.
    tls: Arc<ClientConfig>,
    /// The address that has answered last.
    current: AtomicUsize,
}

/// Where a gateway is, and what it lets in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gateway {
    /// Its addresses, the best one first.
    pub addresses: Vec<String>,
    /// The token.
    pub token: String,
    /// The certificates of authorities, as PEM, in place of the public ones.
    pub authorities: Option<Vec<u8>>,
}

/// Why a call has come to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The gateway does not answer, or cannot now. The same call with the same key is safe.
    Unheard(String),
    /// It refuses.
    Refused {
        /// The status of its answer.
        status: u16,
        /// Why.
        message: String,
        /// What to do about it.
        help: String,
    },
}

/// What a crab says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Its id.
    pub crab: String,
    /// Its colony.
    pub colony: String,
    /// Its name.
    pub name: String,
    /// Its roles.
    pub roles: Vec<String>,
}

/// What a gateway says to a crab that has registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Registered {
    /// How often it expects a heartbeat, in milliseconds.
    pub beat_ms: Option<u64>,
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

#[derive(Deserialize)]
struct Refusal {
    error: Complaint,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Complaint {
    message: String,
    help: String,
}

impl Failed {
    /// The same as an error of a command.
    pub fn into_error(self) -> Error {
        match self {
            Failed::Unheard(why) => {
                Error::new(Kind::Environment, format!("the gateway does not answer: {why}"))
                    .help("`orange-fleet serve` starts it; the same command again is safe")
            }
            Failed::Refused { status, message, help } => {
                let kind = match status {
                    404 => Kind::NotFound,
                    401 | 403 => Kind::NotAllowed,
                    400 | 422 => Kind::Usage,
                    _ => Kind::Refused,
                };
                Error::new(kind, message).help(help)
            }
        }
    }
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failed::Unheard(why) => write!(f, "it does not answer: {why}"),
            Failed::Refused { status, message, .. } => write!(f, "it refuses ({status}): {message}"),
        }
    }
}

impl Api {
    /// A client of this gateway.
    ///
    /// # Errors
    /// `usage` without an address, or with certificates that cannot be read.
    pub fn new(gateway: Gateway) -> Result<Api> {
        if gateway.addresses.is_empty() {
            return Err(Error::new(Kind::Usage, "the address of the gateway is missing")
                .help("name it with `--gateway URL`, or in ORANGE_FLEET_GATEWAY"));
        }
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0);
        let authorities = gateway.authorities.as_deref().map(roots::read).transpose()?;
        let config = match &authorities {
            Some(roots) => {
                let roots: Vec<_> = roots.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
                config.tls_config(TlsConfig::builder().root_certs(RootCerts::new_with_certs(&roots)).build())
            }
            None => config,
        };
        let addresses = gateway.addresses.iter().map(|it| it.trim_end_matches('/').to_owned()).collect();
        Ok(Api {
            agent: config.build().into(),
            tls: Arc::new(roots::tls(authorities)?),
            token: gateway.token,
            current: AtomicUsize::new(0),
            addresses,
        })
    }

    /// Connects a crab that is going to wait for work.
    ///
    /// # Errors
    /// The gateway does not answer, or has no WebSockets.
    pub fn line(&self, crab: &str) -> std::result::Result<Line, Failed> {
        let path = format!("/v1/crabs/{crab}/work");
        let address = self.addresses.get(self.current.load(Ordering::Relaxed)).cloned().unwrap_or_default();
        Line::connect(&address, &path, &self.token, &self.tls)
    }

    /// Registers a crab, or changes its roles.
    pub fn register(&self, crab: &Registration) -> std::result::Result<Registered, Failed> {
        let Registration { crab, colony, name, roles } = crab;
        let body = json!({ "crab_id": crab, "colony_id": colony, "name": name, "roles": roles });
        self.ask("/v1/crabs/register", &body, PATIENCE)
    }

    /// Waits for work, for at most this time.
    pub fn poll(&self, crab: &str, wait: Duration) -> std::result::Result<Vec<Message>, Failed> {
        let body = json!({ "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) });
        let answer: Messages = self.ask(&format!("/v1/crabs/{crab}/poll"), &body, wait + PATIENCE)?;
        Ok(match answer {
            Messages::Named { messages } | Messages::Plain(messages) => messages,
        })
    }

    /// Says that a run is alive. Returns whether the gateway thinks so, too.
    pub fn beat(&self, crab: &str, run: &str, patience: Duration) -> std::result::Result<bool, Failed> {
        let answer: Ended =
            self.ask(&format!("/v1/crabs/{crab}/beat"), &json!({ "runs": [run] }), patience)?;
        Ok(!answer.ended.iter().any(|it| it == run))
    }

    /// Says that the agent of a run has started.
    pub fn start(&self, crab: &str, run: &str, worktree: &str) -> std::result::Result<(), Failed> {
        let body = json!({ "run_id": run, "crab_id": crab, "worktree_path": worktree });
        self.ask::<Value>("/v1/runs/start", &body, PATIENCE).map(drop)
    }

    /// Reports how a run has ended. `crab` is missing where a script reports.
    pub fn report(
        &self,
        crab: Option<&str>,
        run: &str,
        verdict: &Verdict,
        commit: Option<&str>,
    ) -> std::result::Result<(), Failed> {
        let mut body = serde_json::to_value(verdict).unwrap_or_default();
        body["run_id"] = run.into();
        if let Some(crab) = crab {
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
        self.ask::<Value>(path, &body, PATIENCE).map(drop)
    }

    /// Sends a text of a run. The last one counts.
    pub fn put_text(
        &self,
        run: &str,
        kind: TextKind,
        text: &str,
        patience: Duration,
    ) -> std::result::Result<(), Failed> {
        self.each(|address| {
            let url = format!("{address}/v1/runs/{run}/{}", kind.as_str());
            let call = self.agent.put(&url).header("Authorization", format!("Bearer {}", self.token));
            let call = call.header("Content-Type", "text/plain; charset=utf-8");
            call.config().timeout_global(Some(patience)).build().send(text)
        })
        .map(drop)
    }

    /// Takes a crab out of its colony.
    pub fn leave(&self, crab: &str) -> std::result::Result<(), Failed> {
        self.each(|address| {
            let url = format!("{address}/v1/crabs/{crab}");
            let call = self.agent.delete(&url).header("Authorization", format!("Bearer {}", self.token));
            call.config().timeout_global(Some(PATIENCE)).build().call()
        })
        .map(drop)
    }

    /// A call with a body. The same body to the same path has the same key, so that the gateway takes it once.
    pub fn ask<T: for<'de> Deserialize<'de>>(
        &self,
        path: &str,
        body: &Value,
        patience: Duration,
    ) -> std::result::Result<T, Failed> {
        let text = body.to_string();
        let key = short_hash(&format!("{path}\n{text}"));
        let is_once = path.starts_with("/v1/runs/") || path == "/v1/missions";
        let answer = self.each(|address| {
            let call = self.agent.post(format!("{address}{path}"));
            let call = call.header("Authorization", format!("Bearer {}", self.token));
            let call = call.header("Content-Type", "application/json");
            let call = if is_once { call.header("Idempotency-Key", &key) } else { call };
            call.config().timeout_global(Some(patience)).build().send(&text)
        })?;
        let answer = if answer.is_empty() { "null" } else { &answer };
        serde_json::from_str(answer)
            .map_err(|cause| Failed::Unheard(format!("its answer is something else: {cause}")))
    }

    /// Asks the addresses in turn, beginning with the one that has answered last.
    fn each(
        &self,
        call: impl Fn(&str) -> std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> std::result::Result<String, Failed> {
        let mut failed = Failed::Unheard("it has no address".to_owned());
        for _ in 0..self.addresses.len() {
            let current = self.current.load(Ordering::Relaxed);
            let Some(address) = self.addresses.get(current % self.addresses.len()) else { break };
            match heard(call(address)) {
                Err(unheard @ Failed::Unheard(_)) => failed = unheard,
                other => return other,
            }
            self.current.store((current + 1) % self.addresses.len(), Ordering::Relaxed);
        }
        Err(failed)
    }
}

fn heard(
    answer: std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> std::result::Result<String, Failed> {
    let unheard = |error: ureq::Error| Failed::Unheard(error.to_string());
    let mut answer = answer.map_err(unheard)?;
    let status = answer.status().as_u16();
    let text = answer.body_mut().with_config().limit(LONGEST).read_to_string().map_err(unheard)?;
    if (200..300).contains(&status) {
        return Ok(text);
    }
    Err(refusal(status, &text))
}

/// What an answer means that is no success.
pub(super) fn refusal(status: u16, text: &str) -> Failed {
    let Ok(Refusal { error: Complaint { message, help } }) = serde_json::from_str(text) else {
        // Something between the crab and the gateway has answered.
        return Failed::Unheard(format!("HTTP status {status}"));
    };
    match status {
        // It is overloaded, or about to stop: the call has changed nothing that the same call would change again.
        408 | 425 | 429 | 500..=599 => Failed::Unheard(message),
        _ => Failed::Refused { status, message, help },
    }
}
