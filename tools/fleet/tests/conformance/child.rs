//! A host in a process of its own, which can be killed: requests and answers are lines of JSON.
//!
//! The process is this test program again, with one test: the one that serves.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

use orange_core::plan::StepId;
use orange_core::scheduler::Item;
use orange_fleet::host::{
    ActorCall, ActorReply, CallDetails, Colony, ColonyState, Delivery, Event, HistoryRecord, Host, HostError,
    Instruction, Later, Millis, MissionFilter, MissionListRow, NewColony, NewMission, OpenQuestion,
    StoreCounts, StoredMission, TextOf,
};
use orange_fleet::model;
use serde_json::{Value, json};
use tokio::sync::{broadcast, oneshot, watch};

use crate::world::{World, dev_task};
use crate::{STORES, TestedStore};

/// Prefix of a line with an answer; other lines are the test program's own.
const MARK: &str = "@";

/// The variables with which a process is to die, for its first, second, … start.
pub type Faults = Box<dyn Fn(usize) -> Vec<(String, String)> + Send + Sync>;

/// After how many answers the process is killed, for its first, second, … start.
pub type Kills = Box<dyn Fn(usize) -> Option<u64> + Send + Sync>;

/// A host in another process, which starts again after it has died.
pub struct ChildHost {
    store: TestedStore,
    folder: PathBuf,
    faults: Faults,
    kills: Kills,
    state: Mutex<State>,
    shared: Arc<SharedChild>,
}

#[derive(Default)]
struct State {
    starts: usize,
    numbers: u64,
    process: Option<(Child, ChildStdin, Arc<Mutex<bool>>)>,
}

struct SharedChild {
    waiting: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    deliveries: broadcast::Sender<Delivery>,
    news: watch::Sender<u64>,
    acknowledged: Mutex<AcknowledgedCalls>,
}

/// Answers that callers have had: they must never be lost.
#[derive(Clone, Debug, Default)]
pub struct AcknowledgedCalls {
    /// Missions that were made.
    pub missions: Vec<String>,
    /// Reports that were accepted: mission, step, attempt, summary.
    pub reports: Vec<(String, StepId, u32, String)>,
}

impl ChildHost {
    pub fn new(store: TestedStore, folder: &Path, faults: Faults, kills: Kills) -> ChildHost {
        let shared = SharedChild {
            waiting: Mutex::default(),
            deliveries: broadcast::channel(4096).0,
            news: watch::channel(0).0,
            acknowledged: Mutex::default(),
        };
        let state = Mutex::default();
        ChildHost { store, folder: folder.to_owned(), faults, kills, state, shared: Arc::new(shared) }
    }

    pub fn acknowledged(&self) -> AcknowledgedCalls {
        self.shared.acknowledged.lock().unwrap().clone()
    }

    /// Number of times that the process has been started.
    pub fn starts(&self) -> usize {
        self.state.lock().unwrap().starts
    }

    /// Ends the process, as a power cut would.
    pub fn kill(&self) {
        if let Some((mut process, ..)) = self.state.lock().unwrap().process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    async fn ask(&self, mut request: Value) -> Result<Value, HostError> {
        let (sender, answer) = oneshot::channel();
        {
            let mut state = self.state.lock().unwrap();
            state.numbers += 1;
            request["n"] = json!(state.numbers);
            let is_gone = state.process.as_ref().is_none_or(|(.., ended)| *ended.lock().unwrap());
            if is_gone {
                self.start(&mut state);
            }
            // Not before the start: the end of the process before would take the caller for one of its own.
            self.shared.waiting.lock().unwrap().insert(state.numbers, sender);
            let (_, input, ended) = state.process.as_mut().unwrap();
            if writeln!(input, "{request}").is_err() || *ended.lock().unwrap() {
                self.shared.waiting.lock().unwrap().remove(&request["n"].as_u64().unwrap());
            }
        }
        let answer = answer.await.map_err(|_| HostError::Unavailable("the process has died".to_owned()))?;
        match answer.get("error") {
            Some(error) => Err(HostError::Unavailable(error.to_string())),
            None => Ok(answer),
        }
    }

    fn start(&self, state: &mut State) {
        if let Some((mut process, ..)) = state.process.take() {
            process.wait().unwrap();
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child::serves", "--nocapture", "--test-threads=1"]);
        command.env("ORANGE_FLEET_STORE", self.store.name).env("ORANGE_FLEET_FOLDER", &self.folder);
        command.envs((self.faults)(state.starts));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let ended = Arc::new(Mutex::new(false));
        let (shared, kill) = (Arc::clone(&self.shared), (self.kills)(state.starts));
        let (pid, has_ended) = (process.id(), Arc::clone(&ended));
        std::thread::spawn(move || shared.listen(BufReader::new(output), kill, pid, &has_ended));
        state.starts += 1;
        state.process = Some((process, input, ended));
    }
}

impl SharedChild {
    /// Hands answers to their callers until the process has died. Callers without an answer hear that.
    fn listen(&self, output: impl BufRead, kill: Option<u64>, pid: u32, ended: &Mutex<bool>) {
        let mut answers = 0;
        for line in output.lines().map_while(Result::ok) {
            let Some(text) = line.split_once(MARK).map(|(_, text)| text) else { continue };
            // The last line of a process that was killed may be cut.
            let Ok(message) = serde_json::from_str::<Value>(text) else { continue };
            match message["n"].as_u64() {
                Some(number) => {
                    let caller = self.waiting.lock().unwrap().remove(&number);
                    caller.map(|it| it.send(message)).unwrap().unwrap_or_default();
                    answers += 1;
                    if kill == Some(answers) {
                        let killed = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
                        assert!(killed.success());
                    }
                }
                None => _ = self.deliveries.send(read_delivery(&message)),
            }
            self.news.send_modify(|it| *it += 1);
        }
        // Under this lock nobody else begins to wait for this process.
        let mut ended = ended.lock().unwrap();
        self.waiting.lock().unwrap().clear();
        *ended = true;
        self.news.send_modify(|it| *it += 1);
    }
}

impl Drop for ChildHost {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Host for ChildHost {
    fn create_colony(&self, new: NewColony) -> Later<'_, Colony> {
        Box::pin(async move {
            let answer = self.ask(json!({"colony": new.name, "repository": new.repository})).await?;
            let id = answer["id"].as_str().unwrap().to_owned();
            let NewColony { name, repository, base } = new;
            Ok(Colony { id, name, repository, base, created: 0 })
        })
    }

    fn create_mission(&self, new: NewMission) -> Later<'_, ActorReply> {
        Box::pin(async move {
            let request = json!({"create": new.prompt, "in": new.colony, "key": new.key});
            let answer = self.ask(request).await?;
            let made = model::read(answer["outcome"].as_str().unwrap()).unwrap();
            if let ActorReply::Done { mission: Some(id), .. } = &made {
                self.shared.acknowledged.lock().unwrap().missions.push(id.clone());
            }
            Ok(made)
        })
    }

    fn apply(&self, call: ActorCall) -> Later<'_, ActorReply> {
        Box::pin(async move {
            let ActorCall { key, event, about } = call;
            let request = json!({"event": model::write(&event), "key": key, "crab": about.crab});
            let answer = self.ask(request).await?;
            let outcome = model::read(answer["outcome"].as_str().unwrap()).unwrap();
            if let Event::Mission {
                id,
                event: orange_core::mission::Event::Complete { step, attempt, report },
            } = event
                && matches!(outcome, ActorReply::Done { .. })
            {
                let report = (id, step, attempt, report.summary);
                self.shared.acknowledged.lock().unwrap().reports.push(report);
            }
            Ok(outcome)
        })
    }

    fn counts(&self) -> Later<'_, StoreCounts> {
        Box::pin(async move {
            let answer = self.ask(json!({"counts": true})).await?;
            let missions = answer["missions"].as_object().unwrap().iter();
            let missions = missions.map(|(status, n)| (status.clone(), n.as_u64().unwrap())).collect();
            Ok(StoreCounts { missions, ..StoreCounts::default() })
        })
    }

    fn deliveries(&self) -> broadcast::Receiver<Delivery> {
        self.shared.deliveries.subscribe()
    }

    fn news(&self) -> watch::Receiver<u64> {
        self.shared.news.subscribe()
    }

    fn mission(&self, _: &str) -> Later<'_, Option<StoredMission>> {
        unsupported()
    }

    fn missions(&self, _: MissionFilter) -> Later<'_, Vec<MissionListRow>> {
        unsupported()
    }

    fn due(&self) -> Later<'_, Vec<OpenQuestion>> {
        unsupported()
    }

    fn remind(&self, _: OpenQuestion) -> Later<'_, bool> {
        unsupported()
    }

    fn keep_text(&self, _: TextOf, _: String) -> Later<'_, bool> {
        unsupported()
    }

    fn text(&self, _: TextOf) -> Later<'_, Option<String>> {
        unsupported()
    }

    fn colonies(&self) -> Later<'_, Vec<Colony>> {
        unsupported()
    }

    fn colony(&self, _: &str) -> Later<'_, Option<ColonyState>> {
        unsupported()
    }

    fn records(&self, _: u64, _: Option<String>, _: u32) -> Later<'_, Vec<HistoryRecord>> {
        unsupported()
    }

    fn forget(&self, _: Millis) -> Later<'_, u64> {
        unsupported()
    }

    fn backup(&self, _: &Path) -> Later<'_, ()> {
        unsupported()
    }
}

fn unsupported<'h, T>() -> Later<'h, T> {
    Box::pin(async { Err(HostError::Unsupported("tests read the store when the process has ended")) })
}

/// Makes a mission in a process whose clock is off by this many milliseconds.
pub async fn start_with_clock(store: TestedStore, folder: &Path, offset: i64) -> String {
    let clock = Box::new(move |_| vec![("ORANGE_FLEET_CLOCK".to_owned(), offset.to_string())]);
    let host: Arc<ChildHost> = Arc::new(ChildHost::new(store, folder, clock, Box::new(|_| None)));
    let world = World::new(Arc::clone(&host) as Arc<dyn Host>).await;
    let id = world.start(&format!("clock {offset}")).await;
    host.kill();
    id
}

/// The other side: it serves a store until its input ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves() {
    let Ok(name) = std::env::var("ORANGE_FLEET_STORE") else { return };
    let store = STORES.iter().find(|it| it.name == name).unwrap();
    let host = (store.open)(Path::new(&std::env::var_os("ORANGE_FLEET_FOLDER").unwrap()));
    let mut deliveries = host.deliveries();
    tokio::spawn(async move {
        while let Ok(delivery) = deliveries.recv().await {
            say(&delivery_of(&delivery));
        }
    });
    let (lines, mut requests) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            lines.send(serde_json::from_str::<Value>(&line).unwrap()).unwrap();
        }
    });
    while let Some(request) = requests.recv().await {
        let host = Arc::clone(&host);
        tokio::spawn(async move {
            let mut answer = match answer(&*host, &request).await {
                Ok(answer) => answer,
                Err(error) => json!({"error": error.to_string()}),
            };
            answer["n"] = request["n"].clone();
            say(&answer);
        });
    }
}

async fn answer(host: &dyn Host, request: &Value) -> Result<Value, HostError> {
    let text = |name: &str| request[name].as_str().map(str::to_owned);
    if let Some(name) = text("colony") {
        let repository = text("repository").unwrap();
        let colony = host.create_colony(NewColony { name, repository, base: None }).await?;
        return Ok(json!({"id": colony.id}));
    }
    if let Some(prompt) = text("create") {
        let (key, colony, plan) = (text("key"), text("in").unwrap(), dev_task());
        let new = NewMission {
            key,
            colony,
            plan,
            prompt,
            branch: None,
            policy: plan.policy,
            inputs: Default::default(),
        };
        let outcome = host.create_mission(new).await?;
        return Ok(json!({"outcome": model::write(&outcome)}));
    }
    if request["counts"] == true {
        let counts = host.counts().await?;
        return Ok(json!({"missions": counts.missions.into_iter().collect::<HashMap<_, _>>()}));
    }
    let event = model::read(&text("event").unwrap()).unwrap();
    let about = CallDetails { crab: text("crab"), ..CallDetails::default() };
    let outcome = host.apply(ActorCall { key: text("key"), event, about }).await?;
    Ok(json!({"outcome": model::write(&outcome)}))
}

/// One write, so that lines of several tasks do not mix.
fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{MARK}{message}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn delivery_of(delivery: &Delivery) -> Value {
    let Delivery { colony, crab, what } = delivery;
    let (end, mission, step, attempt, lane) = match what {
        Instruction::Offer(item) => (false, &item.mission, &item.step, &item.attempt, item.lane()),
        Instruction::EndAgent { mission, step, attempt } => (true, mission, step, attempt, String::new()),
    };
    json!({"in": colony, "to": crab, "end": end, "mission": mission, "step": step.0, "attempt": attempt, "lane": lane})
}

fn read_delivery(message: &Value) -> Delivery {
    let text = |name: &str| message[name].as_str().unwrap().to_owned();
    let number = |name: &str| u32::try_from(message[name].as_u64().unwrap()).unwrap();
    let (mission, step, attempt) = (text("mission"), StepId(number("step") as u16), number("attempt"));
    let what = match message["end"] == true {
        true => Instruction::EndAgent { mission, step, attempt },
        false => Instruction::Offer(Item::of_lane(&text("lane"), mission, step, attempt)),
    };
    Delivery { colony: text("in"), crab: text("to"), what }
}
