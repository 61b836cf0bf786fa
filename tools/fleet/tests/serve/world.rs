//! A gateway on a port of its own, and clients that hold every answer against `openapi.json`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use orange_core::plan::{Plan, Step, StepId, WorktreeUse};
use orange_core::scheduler::Event;
use orange_fleet::host::sqlite::SqliteHost;
use orange_fleet::host::{ActorReply, Host};
use orange_fleet::plans::PLANS;
use orange_fleet::serve::auth::{Rights, Tokens};
use orange_fleet::serve::workflows::ServedWorkflows;
use orange_fleet::serve::{Gateway, GatewaySettings, OpenSocket, Serving, serve};
pub use orange_testkit::{PATIENCE, until};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

use crate::described;

/// A workflow of one step of role `worker`, one of two roles, one that nothing can follow, and one that needs a wall.
const ONE: &str = "[workflow]\nname = 'one'\n[[steps]]\nid = 'do'\nrole = 'worker'\nprompt = 'In {{worktree_path}} on {{branch}} from {{base}}: {{mission_prompt}}'\n";
const TWO: &str = "[workflow]\nname = 'two'\n[[steps]]\nid = 'plan'\nrole = 'planner'\nresults = ['GO', 'STOP']\nprompt = 'plan {{mission_prompt}}'\n\
                   [[steps]]\nid = 'do'\nrole = 'worker'\ndepends_on = ['plan']\nprompt = 'do {{mission_prompt}} {{attempt}}'\n";
/// A plan that Ada or Bob approves, after which everybody may say when.
const ASKS: &str = "[workflow]\nname = 'asks'\n[[steps]]\nid = 'plan'\nrole = 'planner'\nprompt = 'plan {{mission_prompt}}'\n\
                    [[steps]]\nid = 'approve'\nask = 'Is this plan good: {{mission_prompt}}?'\nwho = ['Ada', 'Bob']\ndepends_on = ['plan']\non_fail = 'revise'\n\
                    [[steps]]\nid = 'revise'\nrole = 'planner'\nprompt = 'revise'\n\
                    [[steps]]\nid = 'when'\nask = 'When?'\nshow = ['context']\nanswers = ['now', 'later']\ndepends_on = ['plan']\n\
                    [[steps]]\nid = 'do'\nrole = 'planner'\ndepends_on = ['approve', 'when']\nprompt = 'do {{context}}'\n";
/// Questions that nobody answers in time.
const HURRY: &str = "[workflow]\nname = 'hurry'\nintervene = 'never'\n[[steps]]\nid = 'go'\nask = 'Go?'\nanswers = ['yes', 'no']\ntimeout = 2\non_timeout = 'no'\n\
                     [[steps]]\nid = 'good'\nask = 'Good?'\nshow = ['context']\ntimeout = 2\n";
const CYCLE: &str = "[workflow]\nname = 'cycle'\n[[steps]]\nid = 'a'\nprompt = 'x'\ndepends_on = ['b']\n[[steps]]\nid = 'b'\nprompt = 'x'\ndepends_on = ['a']\n";
const WALLED: &str = "[workflow]\nname = 'walled'\nsandbox = 'wall'\n[[steps]]\nid = 'do'\nrole = 'worker'\nprompt = '{{mission_prompt}}'\n\
                      gates = [{ file = 'plan.md', contains = 'done' }]\n";
const LEAVES: &str = "[workflow]\nname = 'leaves'\n[[steps]]\nid = 'a'\nprompt_file = '../../secret.md'\n";

/// A plan whose only step reads beside others.
const BESIDE: Plan<'static> = Plan {
    name: "beside",
    source_hash: "0000000000000006",
    roles: &["worker"],
    steps: &[Step { id: "a", worktree: WorktreeUse::Read, ..Step::EMPTY }],
    order: &[StepId(0)],
    ..Plan::EMPTY
};

/// A gateway, and a folder that goes away with it.
pub struct World {
    pub address: SocketAddr,
    pub admin: TokenClient,
    pub gateway: Arc<Gateway>,
    serving: Option<Serving>,
    runtime: Runtime,
    _folder: TempDir,
}

/// A client with a token.
#[derive(Clone, Debug)]
pub struct TokenClient {
    pub address: SocketAddr,
    pub token: Option<String>,
    pub headers: Vec<(&'static str, String)>,
}

#[derive(Clone, Debug)]
pub struct HttpAnswer {
    pub status: u16,
    pub text: String,
    pub json: Value,
    pub headers: Vec<(String, String)>,
}

/// A crab on a WebSocket.
pub struct SocketCrab(pub WebSocket<TcpStream>);

impl World {
    /// A gateway whose leases are swept only on request.
    pub fn new() -> World {
        World::with(|_| {})
    }

    /// A gateway with other settings.
    pub fn with(change: impl FnOnce(&mut GatewaySettings)) -> World {
        let folder = tempfile::tempdir().unwrap();
        let workflows = folder.path().join("prompts/workflows");
        std::fs::create_dir_all(&workflows).unwrap();
        std::fs::write(folder.path().join("secret.md"), "a secret").unwrap();
        for (name, text) in [
            ("one", ONE),
            ("two", TWO),
            ("asks", ASKS),
            ("hurry", HURRY),
            ("cycle", CYCLE),
            ("walled", WALLED),
            ("leaves", LEAVES),
        ] {
            std::fs::write(workflows.join(name).with_extension("toml"), text).unwrap();
        }
        let mut settings = GatewaySettings::new(folder.path());
        settings.listen = "127.0.0.1:0".parse().unwrap();
        settings.lease = Duration::from_secs(7200);
        settings.retry_after = Duration::from_millis(7);
        change(&mut settings);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let host: Arc<dyn Host> = Arc::new(SqliteHost::open(&folder.path().join("fleet.db")).unwrap());
        let plans: Vec<&'static Plan<'static>> = PLANS.iter().copied().chain([&BESIDE]).collect();
        let workflows = ServedWorkflows::load(&plans, &[folder.path().join("prompts")]).unwrap();
        let (gateway, serving) = runtime.block_on(async {
            let socket = OpenSocket::open(&settings).await.unwrap();
            let gateway = Gateway::new(settings, host, workflows, false).unwrap();
            let serving = serve(Arc::clone(&gateway), socket, None).await.unwrap();
            (gateway, serving)
        });
        let address = serving.address;
        let admin =
            TokenClient { address, token: Some(Tokens::admin(folder.path()).unwrap()), headers: Vec::new() };
        World { address, admin, gateway, serving: Some(serving), runtime, _folder: folder }
    }

    /// Begins to stop it; the answer waits until it has stopped.
    pub fn begin_stop(&mut self) -> impl FnOnce() + use<> {
        let stopped = self.serving.take().map(|it| self.runtime.spawn(it.stop()));
        let handle = self.runtime.handle().clone();
        move || handle.block_on(async { stopped.unwrap().await.unwrap() })
    }

    /// Has the store say that a crab does not wait, as another gateway might.
    pub fn unpark(&self, colony: &str, crab: &str) {
        let event = Event::Unpark { crab: crab.to_owned() };
        let outcome = self.runtime.block_on(self.gateway.scheduler(colony, event)).unwrap();
        assert!(matches!(outcome, ActorReply::Done { .. }));
    }

    /// The id of a colony of this name, which is made.
    pub fn colony(&self, name: &str) -> String {
        let body = json!({"name": name, "repository": "/srv/git/x.git", "base": "main"});
        self.admin.post("/v1/colonies", &body).ok(201)["colony_id"].as_str().unwrap().to_owned()
    }

    /// A client with the token of a colony's crabs.
    pub fn crabs_of(&self, colony: &str) -> TokenClient {
        self.with_rights(Rights::Crab { colony: colony.to_owned() })
    }

    /// A client with a token that is good for this.
    pub fn with_rights(&self, rights: Rights) -> TokenClient {
        let token = self.gateway.tokens.make("test", rights).unwrap();
        TokenClient { token: Some(token), ..self.admin.clone() }
    }

    /// A client with the token of a person of this name.
    pub fn person(&self, name: &str) -> TokenClient {
        let token = self.gateway.tokens.make(name, Rights::Person).unwrap();
        TokenClient { token: Some(token), ..self.admin.clone() }
    }

    /// Makes the token of this client worthless.
    pub fn revoke(&self, client: &TokenClient) {
        let id = client.token.as_deref().and_then(|it| it.split('_').nth(1)).unwrap();
        self.gateway.tokens.revoke(id).unwrap();
    }

    /// A client without a token.
    pub fn nobody(&self) -> TokenClient {
        TokenClient { token: None, ..self.admin.clone() }
    }

    /// The id of a new mission.
    pub fn mission(&self, colony: &str, workflow: &str) -> String {
        let body = json!({"colony_id": colony, "workflow": workflow, "prompt": "make tea"});
        self.admin.post("/v1/missions", &body).ok(201)["mission_id"].as_str().unwrap().to_owned()
    }
}

impl TokenClient {
    /// A client that also sends this header.
    pub fn header(&self, name: &'static str, value: &str) -> TokenClient {
        let mut client = self.clone();
        client.headers.push((name, value.to_owned()));
        client
    }

    pub fn get(&self, path: &str) -> HttpAnswer {
        self.call("GET", path, None)
    }

    pub fn delete(&self, path: &str) -> HttpAnswer {
        self.call("DELETE", path, None)
    }

    pub fn post(&self, path: &str, body: &Value) -> HttpAnswer {
        self.call("POST", path, Some(&body.to_string()))
    }

    /// Sends a text of a run.
    pub fn put_text(&self, run: &str, kind: &str, text: &str) -> HttpAnswer {
        let client = self.header("Content-Type", "text/plain; charset=utf-8");
        client.call("PUT", &format!("/v1/runs/{run}/{kind}"), Some(text))
    }

    /// A call, whose answer is held against the description of the API.
    pub fn call(&self, method: &str, path: &str, body: Option<&str>) -> HttpAnswer {
        let answer = self.undescribed(method, path, body);
        described::check(method, path, &answer);
        answer
    }

    /// A call whose path the API does not have.
    pub fn undescribed(&self, method: &str, path: &str, body: Option<&str>) -> HttpAnswer {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let declares = self.headers.iter().any(|(name, _)| *name == "Content-Type");
        if body.is_some() && !declares {
            request = request.header("Content-Type", "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let response = match body {
            Some(body) => agent.run(request.body(body.to_owned()).unwrap()),
            None => agent.run(request.body(()).unwrap()),
        };
        let mut response = response.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let (status, headers) = (response.status().as_u16(), headers.collect());
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string().unwrap();
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        HttpAnswer { status, text, json, headers }
    }

    /// A raw connection, for clients that do not behave.
    pub fn raw(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The head of a request, with the token.
    pub fn head(&self, method: &str, path: &str, more: &str) -> String {
        let token = self.token.as_deref().unwrap_or_default();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n{more}\r\n",
            self.address
        )
    }

    /// A crab's WebSocket.
    pub fn work(&self, crab: &str) -> SocketCrab {
        let uri = format!("ws://{}/v1/crabs/{crab}/work", self.address);
        let mut request = uri.into_client_request().unwrap();
        let token = format!("Bearer {}", self.token.as_deref().unwrap());
        request.headers_mut().insert("Authorization", token.parse().unwrap());
        let (socket, response) = client(request, self.raw()).unwrap();
        described::seen("GET", "/v1/crabs/{crab_id}/work", response.status().as_u16());
        SocketCrab(socket)
    }

    /// Registers a crab.
    pub fn register(&self, crab: &str, colony: &str, role: &str) {
        let body = json!({"crab_id": crab, "colony_id": colony, "name": crab, "role": role});
        self.post("/v1/crabs/register", &body).ok(200);
    }

    /// Registers a crab that takes every step that it is able to carry out.
    pub fn register_with(&self, crab: &str, colony: &str, abilities: &[&str]) {
        let body = json!({"crab_id": crab, "colony_id": colony, "name": crab, "role": "any", "abilities": abilities});
        self.post("/v1/crabs/register", &body).ok(200);
    }

    /// Messages of a poll of a crab.
    pub fn poll(&self, crab: &str, wait_ms: u64) -> Vec<Value> {
        let answer = self.post(&format!("/v1/crabs/{crab}/poll"), &json!({"wait_ms": wait_ms})).ok(200);
        answer["messages"].as_array().unwrap().clone()
    }

    /// The id of the run that a crab gets.
    pub fn run(&self, crab: &str) -> String {
        let messages = self.poll(crab, 30_000);
        let run =
            messages.iter().find(|it| it["type"] == "TaskAssigned").unwrap_or_else(|| panic!("{messages:?}"));
        run["run_id"].as_str().unwrap().to_owned()
    }

    pub fn start(&self, crab: &str, run: &str) -> HttpAnswer {
        self.post("/v1/runs/start", &json!({"run_id": run, "crab_id": crab, "worktree_path": "/w"}))
    }

    pub fn complete(&self, crab: &str, run: &str, result: Option<&str>) -> HttpAnswer {
        let body = json!({"run_id": run, "crab_id": crab, "status": "completed", "summary": "done", "result": result});
        self.post("/v1/runs/complete", &body)
    }
}

impl HttpAnswer {
    /// The body of an answer with this status.
    #[track_caller]
    pub fn ok(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.json
    }

    /// The message and the help of a refusal.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> (String, String) {
        assert_eq!((self.status, self.json["error"]["code"].as_str()), (status, Some(code)), "{}", self.text);
        let word = |name: &str| self.json["error"][name].as_str().unwrap().to_owned();
        let (message, help) = (word("message"), word("help"));
        assert!(!message.is_empty() && !help.is_empty(), "{}", self.text);
        (message, help)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

impl SocketCrab {
    pub fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    pub fn park(&mut self) {
        self.send(&json!({"type": "Park"}));
    }

    /// The next message, which the description of the API has.
    pub fn next(&mut self) -> Value {
        let frame = self.frame();
        let Message::Text(text) = frame else { panic!("{frame:?}") };
        let message: Value = serde_json::from_str(&text).unwrap();
        described::message(&message);
        message
    }

    /// The code with which the gateway closes.
    pub fn closed(&mut self) -> u16 {
        let frame = self.frame();
        let Message::Close(Some(close)) = frame else { panic!("{frame:?}") };
        close.code.into()
    }

    fn frame(&mut self) -> Message {
        loop {
            let frame = self.0.read().unwrap();
            if !frame.is_ping() && !frame.is_pong() {
                return frame;
            }
        }
    }
}

/// Sends bytes, and reads until the other end closes.
pub fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> String {
    stream.write_all(bytes).unwrap();
    rest(stream)
}

/// Text that is sent until the other end closes.
pub fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A connection that is cut off may end with a reset.
    stream.read_to_end(&mut text).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}
