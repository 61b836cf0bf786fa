//! A scripted gateway: it gives out the attempts that a test has written, and writes down what it is sent.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::world::until;

/// The gateway, until the end of the test.
#[derive(Clone, Default)]
pub(crate) struct ScriptedGateway {
    state: Arc<Mutex<GatewayScript>>,
}

/// Answers of the gateway, and calls that it had.
#[derive(Default)]
pub(crate) struct GatewayScript {
    port: u16,
    /// The attempts that wait.
    waiting: VecDeque<Value>,
    /// The attempt that was given out and has not been accepted.
    offered: Option<Value>,
    /// The runs whose leases are lost.
    pub(crate) lost: BTreeSet<String>,
    /// It answers nothing.
    pub(crate) is_down: bool,
    /// Refusals of the next call of a path: the path, the status and the reason.
    pub(crate) refusals: VecDeque<(&'static str, u16, &'static str)>,
    /// Before it answers this path the next time, it kills this process.
    pub(crate) kill: Option<(&'static str, u32)>,
    /// Every call but heartbeats and polls: the path and the body, with the key.
    pub(crate) calls: Vec<(String, Value)>,
    /// Every run of a heartbeat.
    pub(crate) heartbeats: Vec<String>,
}

impl ScriptedGateway {
    pub(crate) fn start() -> ScriptedGateway {
        let gateway = ScriptedGateway::default();
        let serving = gateway.clone();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                serving.script().port = listener.local_addr().unwrap().port();
                let router = Router::new().fallback(answer).with_state(serving);
                axum::serve(listener, router).await.unwrap();
            });
        });
        until("the gateway listens", || gateway.script().port > 0);
        gateway
    }

    /// Its answers, and the calls that it had.
    pub(crate) fn script(&self) -> MutexGuard<'_, GatewayScript> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.script().port)
    }

    /// Gives out an attempt.
    pub(crate) fn assign(&self, attempt: Value) {
        self.script().waiting.push_back(attempt);
    }

    /// The bodies of the calls of a path.
    pub(crate) fn called(&self, path: &str) -> Vec<Value> {
        let script = self.script();
        script.calls.iter().filter(|(it, _)| it == path).map(|(_, body)| body.clone()).collect()
    }

    /// Waits for this many calls of a path, and gives the last one.
    #[track_caller]
    pub(crate) fn heard(&self, path: &str, count: usize) -> Value {
        until(&format!("{path} is called {count} times"), || self.called(path).len() >= count);
        self.called(path).swap_remove(count - 1)
    }
}

async fn answer(State(gateway): State<ScriptedGateway>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_else(|_| Bytes::new());
    let text = || Value::from(String::from_utf8_lossy(&bytes).into_owned());
    let is_text = parts.method == Method::PUT;
    let mut body = if is_text { text() } else { serde_json::from_slice(&bytes).unwrap_or_default() };
    if parts.headers.get("authorization").is_none_or(|it| it != "Bearer secret") {
        return refused(401, "the token is not known");
    }
    if let Some(key) = parts.headers.get("idempotency-key") {
        body["key"] = key.to_str().unwrap_or_default().into();
    }
    if parts.method == Method::DELETE {
        body = json!("delete");
    }
    {
        let mut script = gateway.script();
        if script.is_down {
            return StatusCode::BAD_GATEWAY.into_response();
        }
        if let Some((_, pid)) = script.kill.filter(|(of, _)| path.ends_with(of)) {
            script.kill = None;
            crate::world::kill(pid);
        }
        let refusal = script.refusals.iter().position(|(of, _, _)| path.ends_with(of));
        if let Some((_, status, why)) = refusal.and_then(|at| script.refusals.remove(at)) {
            return refused(status, why);
        }
    }
    if path.ends_with("/poll") {
        return polled(&gateway).await;
    }
    let mut script = gateway.script();
    if path.ends_with("/heartbeat") {
        let runs: Vec<String> = serde_json::from_value(body["runs"].clone()).unwrap_or_default();
        script.offered = script.offered.take().filter(|it| !runs.iter().any(|run| it["run_id"] == **run));
        script.heartbeats.extend(runs.clone());
        let ended: Vec<&String> = runs.iter().filter(|run| script.lost.contains(*run)).collect();
        return json_of(&json!({ "ended": ended, "is_registered": true }));
    }
    let answer = if path.ends_with("/register") {
        json!({
            "crab_id": body["crab_id"], "colony_id": body["colony_id"], "name": body["name"],
            "roles": body["roles"], "heartbeat_ms": 100, "poll_ms": 1000,
        })
    } else {
        json!({ "run_id": body["run_id"], "outcome": "accepted" })
    };
    script.calls.push((path, body));
    json_of(&answer)
}

/// Waits until there is an attempt.
async fn polled(gateway: &ScriptedGateway) -> Response {
    for _ in 0..100 {
        {
            let mut script = gateway.script();
            let offered = script.offered.take().or_else(|| script.waiting.pop_front());
            if let Some(offered) = offered {
                script.offered = Some(offered.clone());
                return json_of(&json!({ "messages": [offered] }));
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    json_of(&json!({ "messages": [] }))
}

fn json_of(value: &Value) -> Response {
    ([("content-type", "application/json")], value.to_string()).into_response()
}

fn refused(status: u16, why: &str) -> Response {
    let body = json!({ "error": { "code": "refused", "message": why, "help": "" } });
    (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
}
