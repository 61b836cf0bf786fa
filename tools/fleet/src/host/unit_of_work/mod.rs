//! Working state of the writing thread of a host: the actors that it has loaded, and the rows of one transaction.
//!
//! Every host has the same rules: they are here, and a store only reads and writes rows (`rows`).

mod alarm;
mod attempt;
mod forget;
mod keys;
mod load;
mod make;
mod queue;
mod remind;
mod rows;
mod save;
mod writer;
mod writing;

use std::collections::{BTreeMap, HashMap};

use orange_core::plan::Plan;
use orange_core::scheduler::Event as SchedulerEvent;

use self::load::Loaded;
use self::queue::WaitingQueue;
pub use self::rows::*;
#[cfg(test)]
pub use self::writer::answers;
pub use self::writer::{WriterAnswer, WriterJob, WriterRequest, publish};
pub use self::writing::WriterThread;
use crate::actors::{Cascade, CrabChange, HostChange, MissionActor, MissionHappening, SchedulerActor, Todo};
use crate::fault;
use crate::host::{ActorReply, Delivery, HostError, Millis};
use crate::model;

/// The most missions that stay loaded.
const LOADED: usize = 4096;

/// The store, and what was loaded from it.
pub struct UnitOfWork<R> {
    pub(super) rows: R,
    missions: HashMap<String, LoadedMission>,
    colonies: HashMap<String, LoadedColony>,
    /// Missions to which something has happened since they were written last.
    touched: Vec<String>,
    /// The steps that wait, of missions that were loaded.
    waiting: HashMap<String, Waits>,
    /// The answers to calls of this transaction that were made before.
    calls: HashMap<String, AnsweredCall>,
    /// Rows that the transaction has not written yet.
    writes: Writes,
    /// Start of the transaction.
    now: Millis,
    /// Actors to set aside, in this transaction or, if that fails, in the next one.
    alarms: Vec<Alarm>,
    /// Instructions to crabs from this transaction.
    deliveries: Vec<Delivery>,
    /// The newest of everything that this transaction has written.
    newest: Newest,
    /// The number of the newest record that is committed.
    committed: u64,
}

/// A mission, with what its row says.
struct LoadedMission {
    actor: MissionActor,
    saved_version: u64,
    saved_status: &'static str,
    /// It runs, and a question of a step waited for an answer.
    saved_asking: bool,
}

/// A scheduler, with what its row says, and its first waiting steps by role.
struct LoadedColony {
    actor: SchedulerActor,
    saved_version: u64,
    queues: BTreeMap<String, WaitingQueue>,
}

/// Reason for undoing a transaction.
#[derive(Debug)]
pub enum Failed {
    /// This call cannot happen; others can.
    Call(HostError),
    /// Nothing can happen.
    Store(HostError),
}

impl Failed {
    /// Error for the callers.
    pub fn into_error(self) -> HostError {
        match self {
            Failed::Call(error) | Failed::Store(error) => error,
        }
    }
}

impl<R: Rows> UnitOfWork<R> {
    /// A unit of work on this store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn new(mut rows: R) -> Result<UnitOfWork<R>, HostError> {
        let failed = match rows.newest() {
            Ok(newest) => {
                return Ok(UnitOfWork {
                    rows,
                    missions: HashMap::new(),
                    colonies: HashMap::new(),
                    touched: Vec::new(),
                    waiting: HashMap::new(),
                    calls: HashMap::new(),
                    writes: Writes::default(),
                    now: 0,
                    alarms: Vec::new(),
                    deliveries: Vec::new(),
                    committed: newest.record,
                    newest,
                });
            }
            Err(failed) => failed,
        };
        Err(failed.into_error())
    }

    /// The number of the newest record that is committed.
    pub fn newest(&self) -> u64 {
        self.committed
    }

    /// Takes the instructions to crabs of the last transaction.
    pub fn deliveries(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.deliveries)
    }

    /// Number of loaded missions.
    #[cfg(test)]
    pub fn loaded(&self) -> usize {
        self.missions.len()
    }

    /// Does something in one transaction. When it fails, nothing of it is left, in memory neither. What the requests need is looked up at
    /// once.
    pub fn transaction<'w, T>(
        &mut self,
        requests: impl Iterator<Item = &'w WriterRequest> + Clone,
        act: impl FnOnce(&mut UnitOfWork<R>) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let done = self.begin(requests).and_then(|()| act(self)).and_then(|value| {
            fault::point("before-save");
            self.save()?;
            fault::point("before-commit");
            self.rows.commit()?;
            fault::point("after-commit");
            Ok(value)
        });
        match done {
            Ok(_) => self.committed(),
            Err(_) => self.undo(),
        }
        done
    }

    fn begin<'w>(&mut self, requests: impl Iterator<Item = &'w WriterRequest> + Clone) -> Result<(), Failed> {
        let keys: Vec<String> = requests.clone().filter_map(WriterRequest::key).map(str::to_owned).collect();
        let begun = self.rows.begin(&keys)?;
        self.now = begun.now;
        self.calls = begun.calls.into_iter().collect();
        if begun.is_changed {
            self.unload();
            self.newest = self.rows.newest()?;
        }
        self.load_missions(requests.filter_map(WriterRequest::mission))
    }

    fn committed(&mut self) {
        self.alarms.clear();
        self.calls.clear();
        self.committed = self.newest.record;
        // What a transaction costs does not grow with what is loaded: it is looked through only when it has become too much.
        if self.missions.len() > LOADED {
            self.missions.retain(|_, it| !it.actor.mission.status.is_terminal());
            if self.missions.len() > LOADED / 2 {
                self.missions.clear();
            }
        }
        // Every mission that is loaded has an entry.
        if self.waiting.len() > self.missions.len() {
            let missions = &self.missions;
            self.waiting.retain(|id, _| missions.contains_key(id));
        }
    }

    fn undo(&mut self) {
        self.rows.rollback();
        self.unload();
        self.calls.clear();
        self.writes = Writes::default();
        self.deliveries.clear();
        self.newest = Newest { record: self.committed, ..Newest::default() };
    }

    fn unload(&mut self) {
        self.missions.clear();
        self.touched.clear();
        self.colonies.clear();
        self.waiting.clear();
    }

    /// One call. The inner error is an answer, and what was changed until then stands.
    pub fn handle(&mut self, request: WriterRequest) -> Result<Result<WriterAnswer, HostError>, Failed> {
        match request {
            WriterRequest::Call(call) => Ok(self.call(*call)?.map(WriterAnswer::Reply)),
            WriterRequest::Mission(new) => Ok(self.create_mission(new)?.map(WriterAnswer::Reply)),
            WriterRequest::Colony(new) => Ok(Ok(WriterAnswer::Colony(self.create_colony(new)?))),
            WriterRequest::Forget(before) => {
                let (missions, is_done) = self.forget(before)?;
                Ok(Ok(WriterAnswer::Forgotten { missions, is_done }))
            }
            WriterRequest::Text(kept) => {
                // The store has to know the attempts that began in this transaction.
                self.save()?;
                Ok(Ok(WriterAnswer::Done(self.rows.keep_text(&kept.0, &kept.1)?)))
            }
            WriterRequest::Remind(question) => Ok(self.remind(&question)?.map(WriterAnswer::Done)),
        }
    }

    /// Has everything of a cascade happen.
    fn run(&mut self, mut cascade: Cascade) -> Result<Result<ActorReply, HostError>, Failed> {
        let mut unreadable = None;
        let mut is_first = true;
        while let Some(todo) = cascade.todo() {
            fault::point("before-reduce");
            let changes = match todo {
                Todo::Mission { id, what } => match self.load_mission(&id)? {
                    Loaded::Found => self.mission(&mut cascade, &id, what)?,
                    Loaded::Missing => {
                        cascade.no_mission();
                        Vec::new()
                    }
                    Loaded::Unreadable { colony, version, why } => {
                        self.set_aside("mission", &id, &why);
                        cascade.unreadable(&id, &colony, version);
                        if is_first {
                            unreadable = Some(HostError::Corrupt(format!("mission {id}: {why}")));
                        }
                        Vec::new()
                    }
                },
                Todo::Scheduler { id, event } => self.scheduler(&mut cascade, &id, event)?,
            };
            is_first = false;
            fault::point("after-reduce");
            for change in changes {
                self.note(change)?;
            }
        }
        Ok(unreadable.map_or_else(|| Ok(cascade.outcome()), Err))
    }

    fn mission(
        &mut self,
        cascade: &mut Cascade,
        id: &str,
        what: MissionHappening,
    ) -> Result<Vec<HostChange>, Failed> {
        let Some(loaded) = self.missions.get(id) else { return Ok(Vec::new()) };
        let colony = loaded.actor.colony.clone();
        self.load_colony(&colony)?;
        match (self.missions.get_mut(id), self.colonies.get(&colony)) {
            (Some(mission), Some(colony)) => {
                self.touched.push(id.to_owned());
                Ok(cascade.mission(&mut mission.actor, &colony.actor.scheduler, what))
            }
            (Some(_) | None, _) => Ok(Vec::new()),
        }
    }

    fn scheduler(
        &mut self,
        cascade: &mut Cascade,
        id: &str,
        mut event: SchedulerEvent,
    ) -> Result<Vec<HostChange>, Failed> {
        if let SchedulerEvent::Want { mission, waiting, .. } = &mut event {
            *waiting = self.waiting_of(mission)?.map(|(_, it)| it).unwrap_or_default();
        }
        self.load_colony(id)?;
        let heads = self.heads(id, &event)?;
        match self.colonies.get_mut(id) {
            Some(LoadedColony { actor, .. }) => Ok(cascade.scheduler(actor, &heads, event)),
            None => {
                cascade.no_colony();
                Ok(Vec::new())
            }
        }
    }

    /// Notes what a change writes.
    fn note(&mut self, change: HostChange) -> Result<(), Failed> {
        match change {
            HostChange::Record { colony, mission, kind, data } => {
                self.newest.record += 1;
                let (seq, data) = (self.newest.record, data.to_string());
                self.writes.records.push(RecordRow { seq, colony, mission, kind, data });
            }
            HostChange::Attempt { mission, step, attempt, what } => {
                self.attempt((mission, step.0, attempt), what)?;
            }
            HostChange::Push { colony, waiting } => self.push(&colony, waiting),
            HostChange::Remove { mission } => self.remove(&mission)?,
            HostChange::Crab { colony, crab, what } => self.crab(colony, crab, what),
            HostChange::Deliver(delivery) => {
                self.writes.deliveries.push(delivery.clone());
                self.deliveries.push(delivery);
            }
        }
        Ok(())
    }

    fn crab(&mut self, colony: String, crab: String, what: CrabChange) {
        let row = match what {
            CrabChange::Registered(name) => CrabRow::Registered(name),
            CrabChange::Left => CrabRow::Left,
            // Whatever else is known of it in this transaction says that, too.
            CrabChange::Heard if self.writes.crabs.contains_key(&(colony.clone(), crab.clone())) => return,
            CrabChange::Heard => CrabRow::Heard,
        };
        self.writes.crabs.insert((colony, crab), row);
    }

    /// The plan of this hash, or why it cannot be read.
    fn plan_of(&mut self, hash: &str) -> Result<Result<&'static Plan<'static>, String>, Failed> {
        match model::plan::known(hash) {
            Some(plan) => Ok(Ok(plan)),
            None => Ok(read_plan(hash, self.rows.plan(hash)?)),
        }
    }
}

/// The names of a row that has them with commas between them.
pub fn names(joined: Option<String>) -> Vec<String> {
    joined.iter().flat_map(|it| it.split(',')).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// The plan of this hash with the text that is stored, or why it cannot be read.
pub fn read_plan(hash: &str, body: Option<String>) -> Result<&'static Plan<'static>, String> {
    match body {
        Some(body) => model::plan::read(hash, &body).map_err(|cause| format!("its plan: {cause}")),
        None => Err("its plan is not stored".to_owned()),
    }
}
