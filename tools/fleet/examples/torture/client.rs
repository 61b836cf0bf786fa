//! A client of the gateway that asks again, with the same key, until it is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::Agent;

use crate::ledger::Ledger;

/// Time for which a client waits before it asks again.
const AGAIN: Duration = Duration::from_millis(30);

/// After this time without any answer a client gives up, which breaks the run.
const PATIENCE: Duration = Duration::from_secs(120);

/// An answer of the gateway.
#[derive(Clone, Debug)]
pub(crate) struct GatewayAnswer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// A client, with connections of its own.
#[derive(Clone, Debug)]
pub(crate) struct TortureClient {
    agent: Agent,
    /// The gateways, as clients reach them.
    pub(crate) addresses: Arc<Vec<String>>,
    pub(crate) token: Arc<str>,
    current: Arc<AtomicUsize>,
    ledger: Arc<Ledger>,
    is_over: Arc<AtomicBool>,
}

impl TortureClient {
    pub(crate) fn new(
        addresses: Vec<String>,
        token: &str,
        ledger: &Arc<Ledger>,
        is_over: &Arc<AtomicBool>,
    ) -> TortureClient {
        let (addresses, ledger, is_over) = (Arc::new(addresses), Arc::clone(ledger), Arc::clone(is_over));
        TortureClient {
            agent: agent(),
            addresses,
            token: token.into(),
            current: Arc::default(),
            ledger,
            is_over,
        }
    }

    /// A client with connections of its own, which begins at another gateway.
    pub(crate) fn another(&self, number: usize) -> TortureClient {
        TortureClient { agent: agent(), current: Arc::new(AtomicUsize::new(number)), ..self.clone() }
    }

    /// The address to ask next.
    pub(crate) fn address(&self) -> &str {
        &self.addresses[self.current.load(Ordering::Relaxed) % self.addresses.len()]
    }

    /// The next address from now on.
    pub(crate) fn turn(&self) {
        self.current.fetch_add(1, Ordering::Relaxed);
    }

    /// One try. `None` if nobody has answered, or the gateway cannot now.
    pub(crate) fn try_once(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
        patience: Duration,
    ) -> Option<GatewayAnswer> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.address()))
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", "application/json");
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let agent = &self.agent;
        let answer = match body {
            Some(body) => {
                let request = request.body(body.to_string()).ok()?;
                agent.run(agent.configure_request(request).timeout_global(Some(patience)).build())
            }
            None => {
                let request = request.body(()).ok()?;
                agent.run(agent.configure_request(request).timeout_global(Some(patience)).build())
            }
        };
        let heard = answer.ok().and_then(|mut answer| {
            let status = answer.status().as_u16();
            let text = answer.body_mut().with_config().limit(64 << 20).read_to_string().ok()?;
            let body = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).ok()? };
            Some(GatewayAnswer { status, body })
                .filter(|it| it.status < 500 && ![408, 425, 429].contains(&it.status))
        });
        if heard.is_none() {
            self.ledger.notes().unheard += 1;
            self.turn();
        }
        heard
    }

    /// Repeats a call with its key until there is an answer; `None` when the run is over. Calls `between`
    /// between two tries.
    pub(crate) fn ask_between(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
        mut between: impl FnMut(),
    ) -> Option<GatewayAnswer> {
        let begin = Instant::now();
        while !self.is_over() {
            if let Some(answer) = self.try_once(method, path, key, body, Duration::from_millis(1500)) {
                return Some(answer);
            }
            if begin.elapsed() > PATIENCE {
                let message = format!("{method} {path} had no answer within {} s", PATIENCE.as_secs());
                self.ledger.notes().broken.push(message);
                return None;
            }
            between();
            thread::sleep(AGAIN);
        }
        None
    }

    /// Repeats a call with its key until there is an answer, and does nothing between two tries.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> Option<GatewayAnswer> {
        self.ask_between(method, path, key, body, || {})
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}

impl GatewayAnswer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A word of its body.
    pub(crate) fn word(&self, key: &str) -> &str {
        self.body[key].as_str().unwrap_or_default()
    }
}

fn agent() -> Agent {
    Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into()
}
