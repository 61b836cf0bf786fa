//! Serves the model on the loopback interface, with a thread for each connection.

use std::io::{self, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::conversation::{Book, NextAnswer, PlanReport};
use super::http::{self, HttpRequest, HttpResponse};
use super::plan::{Plan, RequestFault};
use super::protocol::{ModelReply, ModelRequest, Protocol};

/// A request that belongs to no plan.
#[derive(Clone, Debug)]
pub struct SideRequest {
    /// Its method and path.
    pub target: String,
    /// The beginning of its text.
    pub text: String,
}

/// A running model, which stops when it is dropped.
#[derive(Debug)]
pub struct Model {
    shared: Arc<ServedState>,
    address: SocketAddr,
}

#[derive(Debug, Default)]
struct ServedState {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    book: Book,
    sides: Vec<SideRequest>,
    is_over: bool,
}

impl Model {
    /// Starts a model on this port of the loopback interface; 0 means any free port.
    pub fn start(port: u16) -> io::Result<Model> {
        Model::start_at(Ipv4Addr::LOCALHOST, port)
    }

    /// Starts a model on this port of another address of this machine.
    pub fn start_at(address: Ipv4Addr, port: u16) -> io::Result<Model> {
        let listener = TcpListener::bind((address, port))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(ServedState::default());
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if served.lock().is_over {
                    return;
                }
                let served = Arc::clone(&served);
                thread::spawn(move || converse(&served, stream));
            }
        });
        Ok(Model { shared, address })
    }

    /// Its address, as `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a plan, and returns its index.
    pub fn add(&self, plan: Plan) -> usize {
        self.shared.lock().book.add(plan)
    }

    /// Opens a gate for present and later waiters.
    pub fn open(&self, gate: &str) {
        self.shared.lock().book.open.push(gate.to_owned());
        self.shared.changed.notify_all();
    }

    /// True if a conversation has come to this gate.
    pub fn is_reached(&self, gate: &str) -> bool {
        self.shared.lock().book.reached.iter().any(|reached| reached == gate)
    }

    /// The execution of a plan so far.
    pub fn report(&self, plan: usize) -> PlanReport {
        self.shared.lock().book.reports[plan].clone()
    }

    /// The requests that belonged to no plan.
    pub fn sides(&self) -> Vec<SideRequest> {
        self.shared.lock().sides.clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
        // The listener notices with the next connection.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
    }
}

impl ServedState {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers the requests of one connection, until it breaks.
fn converse(shared: &ServedState, stream: TcpStream) {
    let Ok(copy) = stream.try_clone() else { return };
    let (mut from, mut to) = (BufReader::new(copy), stream);
    while let Ok(Some(request)) = http::read(&mut from) {
        let Some(answer) = answer(shared, &request) else { return };
        if !http::write(&mut to, &answer).unwrap_or(false) {
            return;
        }
    }
}

/// The answer to a request; `None` when the model has stopped.
fn answer(shared: &ServedState, request: &HttpRequest) -> Option<HttpResponse> {
    let raw = String::from_utf8_lossy(&request.body).into_owned();
    let body: Value = serde_json::from_str(&raw).unwrap_or_default();
    let protocol = Protocol::of(&request.path).filter(|_| request.method == "POST");
    let Some(protocol) = protocol else {
        shared.note(request, &raw);
        return Some(other(request, &raw));
    };
    let asked = protocol.read(&body, raw);
    let mut state = shared.lock();
    let Some(plan) = state.book.plan_of(&asked) else {
        drop(state);
        shared.note(request, &asked.raw);
        let text = shared.lock().book.summary(&asked).unwrap_or_else(|| aside(&asked));
        return Some(protocol.write(&asked, &ModelReply::Text(text)));
    };
    loop {
        if state.is_over {
            return None;
        }
        match state.book.next(plan, &asked) {
            NextAnswer::Reply(reply) => return Some(protocol.write(&asked, &reply)),
            NextAnswer::Fail(fault) => {
                let mut answer = protocol.fail(&asked, fault);
                answer.cut |= fault == RequestFault::Dropped;
                return Some(answer);
            }
            NextAnswer::Wait => {
                state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// The answer to a request outside of any plan: titles, names of branches, whether a command is safe.
fn aside(asked: &ModelRequest) -> String {
    if asked.raw.contains("json_schema") {
        "{\"title\":\"Scripted\"}".to_owned()
    } else {
        "Scripted".to_owned()
    }
}

/// The answer to a request that is not a conversation.
fn other(request: &HttpRequest, raw: &str) -> HttpResponse {
    if request.path.ends_with("/count_tokens") {
        return HttpResponse::json(200, &json!({ "input_tokens": raw.len() / 4 }));
    }
    if request.path.ends_with("/models") {
        let model = json!({ "id": "scripted", "object": "model", "type": "model" });
        return HttpResponse::json(200, &json!({ "object": "list", "data": [model], "models": [] }));
    }
    HttpResponse::json(200, &json!({}))
}

impl ServedState {
    fn note(&self, request: &HttpRequest, raw: &str) {
        let target = format!("{} {}", request.method, request.path);
        self.lock().sides.push(SideRequest { target, text: raw.chars().take(2000).collect() });
    }
}
