//! Measures a gateway as a process, over HTTP: `load ORANGE-FLEET [MISSIONS] [BACKLOG] [CRABS] [STORE]`. `cargo xtask bench` prints its
//! lines. STORE is the address of an empty database of Postgres on this machine; without one, the gateway keeps missions in its own file, and
//! its start and its memory are measured, too.
//!
//! A line has what was measured, its figure, its budget, and whether the budget is kept, with tabs between.

mod store;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use orange_fleet::host::NewColony;
use orange_fleet::simulate::measure::{FIVE, create};
use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::client::IntoClientRequest;

use self::store::LoadStore;

type LoadFailure = Box<dyn std::error::Error + Send + Sync>;
type Result<T> = std::result::Result<T, LoadFailure>;

/// Five steps, one after the other, which every crab takes.
const FIVE_STEPS: &str = "[workflow]\nname = 'five'\n[[steps]]\nid = 'a'\nrole = 'any'\nprompt = '{{mission_prompt}}'\n\
    [[steps]]\nid = 'b'\nrole = 'any'\nprompt = 'b'\ndepends_on = ['a']\n\
    [[steps]]\nid = 'c'\nrole = 'any'\nprompt = 'c'\ndepends_on = ['b']\n\
    [[steps]]\nid = 'd'\nrole = 'any'\nprompt = 'd'\ndepends_on = ['c']\n\
    [[steps]]\nid = 'e'\nrole = 'any'\nprompt = 'e'\ndepends_on = ['d']\n";

/// Number of clients that start missions at once, and number of crabs that run them.
const CLIENTS: u32 = 32;
const CRABS: u32 = 16;

/// Number of heartbeats that each client sends.
const HEARTBEATS: u32 = 100;

/// Time limit of any action.
const PATIENCE: Duration = Duration::from_secs(600);

/// A gateway that runs.
struct RunningGateway<'s> {
    child: Child,
    address: String,
    token: String,
    /// From its start to its first line.
    ready: Duration,
    store: &'s LoadStore,
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let program = PathBuf::from(args.next().ok_or("name the program orange-fleet")?);
    let mut number = |default: u32| args.next().map_or(Ok(default), |it| it.parse());
    let (missions, backlog, parked) = (number(1000)?, number(100_000)?, number(1000)?);
    // Without a line there is nothing that could be measured.
    let store = args.next().map_or(LoadStore::File, LoadStore::Postgres);
    let folder = folder()?;
    if store.is_file() {
        starts(&program)?;
    }
    let start = || RunningGateway::start(&program, folder.path(), &store);
    let gateway = start()?;
    let colony = gateway.colony()?;
    let few = missions_made_and_run(&gateway, &colony, missions, "")?;
    drop(gateway);
    // The backlog is made without a gateway, since that is not what is measured.
    fill(folder.path(), &store, backlog)?;
    let gateway = start()?;
    let many = missions_made_and_run(&gateway, &colony, missions, &format!(", {backlog} more wait"))?;
    for (what, few, many) in [("made", few.0, many.0), ("run", few.1, many.1)] {
        let share = many / few;
        line(
            &format!("missions {what}, of the same with few waiting"),
            share,
            "at least 0.8",
            Some(share >= 0.8),
        )?;
    }
    gateway.status()?;
    drop(gateway);
    if store.is_file() { crowd(&program, parked) } else { Ok(()) }
}

/// Measures the time until a gateway serves, and the memory that it takes while nothing happens.
fn starts(program: &Path) -> Result<()> {
    let mut times = Vec::new();
    let mut memory = 0.0;
    for _ in 0..5 {
        let folder = folder()?;
        // The first start makes the store and the tokens.
        drop(RunningGateway::start(program, folder.path(), &LoadStore::File)?);
        let gateway = RunningGateway::start(program, folder.path(), &LoadStore::File)?;
        times.push(gateway.ready);
        memory = gateway.resident()?;
    }
    let ready = milliseconds(median(times));
    line("start until it serves, ms", ready, "at most 50 ms", Some(ready <= 50.0))?;
    line("memory of an idle gateway, MB", memory, "at most 30 MB", Some(memory <= 30.0))
}

/// Starts missions, and has crabs run as many; gives how many of each in a second.
fn missions_made_and_run(
    gateway: &RunningGateway<'_>,
    colony: &str,
    missions: u32,
    more: &str,
) -> Result<(f64, f64)> {
    let cpu = gateway.cpu()?;
    let begin = Instant::now();
    let next = AtomicU32::new(0);
    at_once(CLIENTS, |_| {
        let agent = ureq::Agent::new_with_defaults();
        while next.fetch_add(1, Ordering::Relaxed) < missions {
            let prompt = format!("Change what the issue asks for.\n\n{}", "A line of detail. ".repeat(20));
            let body = json!({"colony_id": colony, "workflow": "five", "prompt": prompt});
            gateway.post(&agent, "/v1/missions", &body)?;
        }
        Ok(())
    })?;
    let made = f64::from(missions) / begin.elapsed().as_secs_f64();
    line(&format!("missions made in a second{more}"), made, "at least 500", Some(made >= 500.0))?;
    line(
        "CPU of the gateway for one, ms",
        milliseconds(gateway.cpu()? - cpu) / f64::from(missions),
        "",
        None,
    )?;
    let (begin, cpu, before) = (Instant::now(), gateway.cpu()?, gateway.completed()?);
    let database = gateway.store.cpu()?;
    let is_over = AtomicBool::new(false);
    let steps = AtomicU32::new(0);
    let ran = thread::scope(|scope| {
        let crabs = scope.spawn(|| {
            at_once(CRABS, |number| gateway.crab(colony, &format!("crab-{number}"), &is_over, &steps))
        });
        let wanted = before + u64::from(missions);
        let ran = loop {
            thread::sleep(Duration::from_millis(20));
            match gateway.completed() {
                Ok(count) if count < wanted && begin.elapsed() < PATIENCE && !crabs.is_finished() => {}
                other => break other.map(|count| (count - before) as f64 / begin.elapsed().as_secs_f64()),
            }
        };
        is_over.store(true, Ordering::Relaxed);
        crabs.join().map_err(|_| "a crab panicked")??;
        ran
    })?;
    line(&format!("missions of five steps run in a second{more}"), ran, "at least 100", Some(ran >= 100.0))?;
    let steps = f64::from(steps.load(Ordering::Relaxed).max(1));
    line("CPU of the gateway for one step, ms", milliseconds(gateway.cpu()? - cpu) / steps, "", None)?;
    if !gateway.store.is_file() {
        let spent = milliseconds(gateway.store.cpu()?.saturating_sub(database));
        line("CPU of the database for one step, ms", spent / steps, "", None)?;
    }
    Ok((made, ran))
}

fn fill(folder: &Path, store: &LoadStore, backlog: u32) -> Result<()> {
    let host = store.open(folder)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let colony = host
            .create_colony(NewColony { name: "toy".to_owned(), repository: String::new(), base: None })
            .await?;
        create(&host, &colony.id, &FIVE, backlog, 256).await?;
        Ok(())
    })
}

/// A thousand crabs that wait on WebSockets.
fn crowd(program: &Path, parked: u32) -> Result<()> {
    let folder = folder()?;
    let gateway = RunningGateway::start(program, folder.path(), &LoadStore::File)?;
    let colony = gateway.colony()?;
    let next = AtomicU32::new(0);
    let lines = std::sync::Mutex::new(Vec::new());
    at_once(8, |_| {
        let agent = ureq::Agent::new_with_defaults();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= parked {
                return Ok(());
            }
            let line = gateway.park(&agent, &colony, &format!("crab-{number}"))?;
            lines.lock().map_err(|_| "a thread panicked")?.push(line);
        }
    })?;
    let begin = Instant::now();
    while gateway.get("/v1/status")?["crabs"]["idle"].as_u64() < Some(parked.into()) {
        if begin.elapsed() > PATIENCE {
            return Err("the crabs do not wait".into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    let memory = gateway.resident()?;
    line(
        &format!("memory with {parked} crabs that wait, MB"),
        memory,
        "at most 100 MB",
        Some(memory <= 100.0),
    )?;
    let cpu = gateway.cpu()?;
    at_once(CLIENTS, |client| {
        let agent = ureq::Agent::new_with_defaults();
        (0..HEARTBEATS).try_for_each(|heartbeat| {
            let crab = (client * HEARTBEATS + heartbeat) % parked;
            let path = format!("/v1/crabs/crab-{crab}/heartbeat");
            gateway.post(&agent, &path, &json!({"runs": ["0.a.1"]})).map(drop)
        })
    })?;
    let heartbeat = milliseconds(gateway.cpu()? - cpu) / f64::from(CLIENTS * HEARTBEATS);
    line(&format!("CPU of the gateway for one heartbeat among {parked} crabs, ms"), heartbeat, "", None)
}

impl RunningGateway<'_> {
    fn start<'s>(program: &Path, folder: &Path, store: &'s LoadStore) -> Result<RunningGateway<'s>> {
        let begin = Instant::now();
        let mut command = Command::new(program);
        command.args(["serve", "--log", "error", "--listen", "127.0.0.1:0", "--dir"]).arg(folder);
        command.arg("--prompts-path").arg(folder.join("prompts"));
        command.args(store.option().iter().flat_map(|it| ["--store", it]));
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut said = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut said)?;
        let ready = begin.elapsed();
        let address = said.split("serves ").nth(1).and_then(|it| it.split(';').next());
        let address = address.ok_or("the gateway does not serve")?.to_owned();
        let token = std::fs::read_to_string(folder.join("tokens/admin"))?.trim().to_owned();
        Ok(RunningGateway { child, address, token, ready, store })
    }

    fn post(&self, agent: &ureq::Agent, path: &str, body: &Value) -> Result<Value> {
        let call = agent
            .post(format!("{}{path}", self.address))
            .header("Authorization", format!("Bearer {}", self.token));
        let call = call.header("Content-Type", "application/json");
        let text = call.send(body.to_string())?.body_mut().read_to_string()?;
        Ok(serde_json::from_str(&text)?)
    }

    fn get(&self, path: &str) -> Result<Value> {
        let call = ureq::get(format!("{}{path}", self.address))
            .header("Authorization", format!("Bearer {}", self.token));
        Ok(serde_json::from_str(&call.call()?.body_mut().read_to_string()?)?)
    }

    fn colony(&self) -> Result<String> {
        let body = json!({"name": "toy", "repository": "/srv/none.git"});
        let made = self.post(&ureq::Agent::new_with_defaults(), "/v1/colonies", &body)?;
        Ok(made["colony_id"].as_str().ok_or("a colony has no id")?.to_owned())
    }

    fn completed(&self) -> Result<u64> {
        Ok(self.get("/v1/status")?["missions"]["completed"].as_u64().unwrap_or(0))
    }

    /// A crab whose agents report at once.
    fn crab(&self, colony: &str, name: &str, is_over: &AtomicBool, steps: &AtomicU32) -> Result<()> {
        let agent = ureq::Agent::new_with_defaults();
        let body = json!({"crab_id": name, "colony_id": colony, "name": name, "role": "any"});
        self.post(&agent, "/v1/crabs/register", &body)?;
        while !is_over.load(Ordering::Relaxed) {
            let got = self.post(&agent, &format!("/v1/crabs/{name}/poll"), &json!({"wait_ms": 1000}))?;
            let messages = got["messages"].as_array().cloned().unwrap_or_default();
            for message in messages.iter().filter(|it| it["type"] == "TaskAssigned") {
                let run = &message["run_id"];
                self.post(&agent, "/v1/runs/start", &json!({"run_id": run, "crab_id": name}))?;
                let report =
                    json!({"run_id": run, "crab_id": name, "status": "completed", "summary": "done"});
                self.post(&agent, "/v1/runs/complete", &report)?;
                steps.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn park(
        &self,
        agent: &ureq::Agent,
        colony: &str,
        name: &str,
    ) -> Result<tungstenite::WebSocket<TcpStream>> {
        let body = json!({"crab_id": name, "colony_id": colony, "name": name, "role": "any"});
        self.post(agent, "/v1/crabs/register", &body)?;
        let host = self.address.trim_start_matches("http://");
        let mut request = format!("ws://{host}/v1/crabs/{name}/work").into_client_request()?;
        request.headers_mut().insert("Authorization", format!("Bearer {}", self.token).parse()?);
        let (mut socket, _) =
            tungstenite::client(request, TcpStream::connect(host)?).map_err(|it| it.to_string())?;
        socket.send(Message::text("{\"type\": \"Park\"}"))?;
        Ok(socket)
    }

    fn status(&self) -> Result<()> {
        let mut times = Vec::new();
        for _ in 0..51 {
            let begin = Instant::now();
            self.get("/v1/status")?;
            times.push(begin.elapsed());
        }
        let time = milliseconds(median(times));
        line("/v1/status, ms", time, "at most 20 ms", Some(time <= 20.0))
    }

    /// Its resident memory, in MB.
    fn resident(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kibibytes = status
            .lines()
            .find_map(|it| it.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse::<f64>().ok());
        Ok(kibibytes.ok_or("a process has no memory")? * 1024.0 / 1e6)
    }

    /// Its processor time.
    fn cpu(&self) -> Result<Duration> {
        cpu_of(self.child.id())
    }
}

/// The processor time of a process, in ticks of 10 ms.
fn cpu_of(process: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields: Vec<&str> = stat.rsplit_once(')').ok_or("no times")?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    Ok(Duration::from_millis((ticks(11) + ticks(12)) * 10))
}

impl Drop for RunningGateway<'_> {
    fn drop(&mut self) {
        // It may have ended.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// So many threads do this at once.
fn at_once(threads: u32, work: impl Fn(u32) -> Result<()> + Sync) -> Result<()> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        threads
            .into_iter()
            .try_for_each(|it| it.join().map_err(|_| LoadFailure::from("a thread panicked"))?)
    })
}

fn folder() -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::create_dir_all(folder.path().join("prompts/workflows"))?;
    std::fs::write(folder.path().join("prompts/workflows/five.toml"), FIVE_STEPS)?;
    Ok(folder)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn line(what: &str, figure: f64, budget: &str, is_kept: Option<bool>) -> Result<()> {
    let kept = is_kept.map_or("", |it| if it { "kept" } else { "missed" });
    Ok(writeln!(std::io::stdout(), "{what}\t{figure:.2}\t{budget}\t{kept}")?)
}
