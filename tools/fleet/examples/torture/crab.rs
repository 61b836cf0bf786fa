//! Simulated crabs: they wait for steps, send heartbeats, and report as the script of the mission says, for ever.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use crate::client::{GatewayAnswer, TortureClient};
use crate::dice::Dice;

/// Time for which a crab waits for work before it asks again.
const WAIT: Duration = Duration::from_millis(700);

pub(crate) struct SimulatedCrab {
    pub(crate) id: String,
    pub(crate) role: &'static str,
    pub(crate) colony: String,
    pub(crate) client: TortureClient,
    pub(crate) dice: Dice,
    /// Duration of a lease.
    pub(crate) lease: Duration,
    /// It waits on a WebSocket, and not with long polls.
    pub(crate) has_line: bool,
}

/// Faults that others inflict on the crabs of a run.
#[derive(Debug, Default)]
pub(crate) struct Fortune {
    /// Number of crabs that are to die at the next moment that suits them.
    pub(crate) deaths: AtomicU64,
    /// Number of crabs that are to be silent for longer than their lease, and then to go on.
    pub(crate) freezes: AtomicU64,
    /// No more missions come, and crabs are not silent by themselves any more.
    pub(crate) is_calm: AtomicBool,
}

impl Fortune {
    fn takes(of: &AtomicU64) -> bool {
        of.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

/// An attempt that a crab has got.
struct Assigned {
    run: String,
    mission: String,
    step: String,
    prompt: String,
}

impl SimulatedCrab {
    /// Works until the run is over.
    pub(crate) fn work(mut self, fortune: &Fortune) {
        let mut number = 0;
        self.register();
        while !self.client.is_over() {
            let Some(assigned) = self.wait() else { continue };
            number += 1;
            self.step(&assigned, number, fortune);
        }
    }

    fn register(&self) {
        let body = json!({"crab_id": self.id, "colony_id": self.colony, "name": self.id, "role": self.role});
        while let Some(answer) = self.client.ask("POST", "/v1/crabs/register", None, Some(&body)) {
            if answer.is_success() {
                return;
            }
            // A crab of this role is taken for alive: it is this one, or it ends soon.
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn wait(&mut self) -> Option<Assigned> {
        if self.has_line { self.wait_on_line() } else { self.poll() }
    }

    fn poll(&self) -> Option<Assigned> {
        let path = format!("/v1/crabs/{}/poll", self.id);
        let body = json!({"wait_ms": WAIT.as_millis() as u64});
        let answer = self.client.try_once("POST", &path, None, Some(&body), WAIT * 3)?;
        if answer.status == 404 {
            self.register();
            return None;
        }
        answer.body["messages"].as_array()?.iter().find_map(assigned)
    }

    fn wait_on_line(&self) -> Option<Assigned> {
        let found = self.line().and_then(|mut line| {
            line.send(Message::text("{\"type\": \"Park\"}")).ok()?;
            let begin = Instant::now();
            while begin.elapsed() < WAIT * 2 {
                match line.read() {
                    Ok(Message::Text(text)) => {
                        let message: Value = serde_json::from_str(&text).ok()?;
                        if let Some(found) = assigned(&message) {
                            return Some(found);
                        }
                    }
                    Ok(Message::Close(Some(close))) if u16::from(close.code) == 4404 => {
                        self.register();
                        return None;
                    }
                    Ok(_) => {}
                    Err(_) => return None,
                }
            }
            None
        });
        if found.is_none() {
            // The other way to wait tells a crab that has no registration so.
            return self.poll();
        }
        found
    }

    fn line(&self) -> Option<WebSocket<TcpStream>> {
        let address = self.client.address().trim_start_matches("http://");
        let mut request = format!("ws://{address}/v1/crabs/{}/work", self.id).into_client_request().ok()?;
        request.headers_mut().insert("Authorization", format!("Bearer {}", self.client.token).parse().ok()?);
        let stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(WAIT)).ok()?;
        stream.set_write_timeout(Some(WAIT)).ok()?;
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Some(socket),
            Err(_) => {
                self.client.turn();
                None
            }
        }
    }

    fn step(&mut self, assigned: &Assigned, number: u64, fortune: &Fortune) {
        let Assigned { run, .. } = assigned;
        let body = json!({"run_id": run, "crab_id": self.id, "worktree_path": "/w"});
        let key = format!("{}-{number}-start-{run}", self.id);
        let started = self.client.ask("POST", "/v1/runs/start", Some(&key), Some(&body));
        if !started.is_some_and(|it| it.is_success()) {
            return;
        }
        if Fortune::takes(&fortune.deaths) {
            // A crab that dies knows nothing of its step when it is back.
            thread::sleep(self.dice.time(self.lease * 2));
            self.register();
            return;
        }
        let by_itself = !fortune.is_calm.load(Ordering::Relaxed) && self.dice.once_in(40);
        if by_itself || Fortune::takes(&fortune.freezes) {
            thread::sleep(self.lease * 3);
        } else if self.dice.once_in(30) {
            // The lease ends without heartbeats during this.
            let until = Instant::now() + self.lease * 2;
            while Instant::now() < until && self.heartbeat(run) {
                thread::sleep(self.lease / 4);
            }
        } else {
            thread::sleep(self.dice.time(Duration::from_millis(40)));
        }
        self.report(assigned, number);
    }

    /// Says that the run is alive. False if the gateway has answered that it is not.
    fn heartbeat(&self, run: &str) -> bool {
        let path = format!("/v1/crabs/{}/heartbeat", self.id);
        let answer = self.client.try_once("POST", &path, None, Some(&json!({"runs": [run]})), self.lease / 3);
        !answer.is_some_and(|it| it.body["ended"].as_array().is_some_and(|it| it.iter().any(|it| it == run)))
    }

    fn report(&mut self, assigned: &Assigned, number: u64) {
        let Assigned { run, mission, step, prompt } = assigned;
        let summary = format!("{} number {number}", self.id);
        let mut body = json!({"run_id": run, "crab_id": self.id, "status": "completed", "summary": summary});
        match step.as_str() {
            "review" => {
                let fails = prompt.starts_with("fixed") && !self.is_fixed(mission);
                body["result"] = if fails { "FAIL" } else { "PASS" }.into();
            }
            "do" if prompt.starts_with("fails") => body["status"] = "failed".into(),
            _ => {}
        }
        let key = format!("{}-{number}-end-{run}", self.id);
        // Heartbeats go on until the report is acknowledged.
        let heartbeat = || _ = self.heartbeat(run);
        let Some(answer) =
            self.client.ask_between("POST", "/v1/runs/complete", Some(&key), Some(&body), heartbeat)
        else {
            return;
        };
        self.noted(run, &summary, &answer);
        if answer.is_success() && self.dice.once_in(8) {
            self.report_again(run, &key, &body, &summary);
        }
    }

    fn noted(&self, run: &str, summary: &str, answer: &GatewayAnswer) {
        match answer.is_success() {
            true => self.client.ledger().completed(run, &self.id, summary),
            false => self.client.ledger().notes().refused += 1,
        }
    }

    /// Sends the report once more with its key, then with another one, then another report: none of them is taken.
    fn report_again(&self, run: &str, key: &str, body: &Value, summary: &str) {
        let ask =
            |key: &str, body: &Value| self.client.ask("POST", "/v1/runs/complete", Some(key), Some(body));
        let broken = |what: String| self.client.ledger().notes().broken.push(what);
        if ask(key, body).is_some_and(|it| !it.is_success()) {
            broken(format!("{run}: the same report with the same key is refused the second time"));
        }
        if ask(&format!("{key}-again"), body).is_some_and(|it| it.word("outcome") == "accepted") {
            broken(format!("{run}: the report `{summary}` is accepted twice"));
        }
        let mut other = body.clone();
        other["summary"] = format!("{summary}, changed").into();
        if ask(key, &other).is_some_and(|it| it.is_success()) {
            broken(format!("{run}: a key is good for another report"));
        }
        if ask(&format!("{key}-other"), &other).is_some_and(|it| it.word("outcome") == "accepted") {
            broken(format!("{run}: another report is accepted after `{summary}`"));
        }
    }

    fn is_fixed(&self, mission: &str) -> bool {
        let answer = self.client.ask("GET", &format!("/v1/missions/{mission}"), None, None);
        let tasks = answer.map(|it| it.body["tasks"].clone()).unwrap_or_default();
        let mut tasks = tasks.as_array().into_iter().flatten();
        tasks.any(|it| it["step_id"] == "fix" && it["completions"].as_u64().unwrap_or(0) > 0)
    }
}

fn assigned(message: &Value) -> Option<Assigned> {
    let word = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
    (message["type"] == "TaskAssigned").then(|| Assigned {
        run: word("run_id"),
        mission: word("mission_id"),
        step: word("step_id"),
        prompt: word("prompt"),
    })
}
