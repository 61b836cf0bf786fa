//! Crabs without agents, which report at once: they drive a host in tests and measurements.

pub mod measure;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use orange_core::mission::{Event as MissionEvent, Report};
use orange_core::plan::StepId;
use orange_core::scheduler::{self, Ability, Event as SchedulerEvent, Item};
use tokio::sync::{broadcast, mpsc, watch};

use crate::host::{ActorCall, ActorReply, CallDetails, Delivery, Event, Host, HostError, Instruction};

/// Time for which a crab waits for an offer before it asks again.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time for which a crab waits before it asks a host again that has not answered.
const AGAIN: Duration = Duration::from_millis(50);

/// Report of a simulated agent for a step of a mission: a function of the mission, the step and the number of the attempt.
pub type Agent = dyn Fn(&str, StepId, u32) -> Report + Send + Sync;

/// Crabs of one colony.
pub struct SimulatedCrabs {
    /// The host, which may be another one after a restart.
    pub host: Arc<dyn Host>,
    pub colony: String,
    /// The agents, as a function that makes their reports.
    pub agent: Arc<Agent>,
    /// Number of steps that have been completed, as the host has acknowledged.
    pub completed: AtomicU64,
    /// Numbers for the keys of calls.
    keys: AtomicU64,
    /// Prefix that makes the ids and keys of these crabs different from those of others.
    name: String,
}

impl SimulatedCrabs {
    /// Crabs of a colony. `name` differs from that of every other group of crabs of the store.
    pub fn new(host: Arc<dyn Host>, colony: &str, name: &str, agent: Arc<Agent>) -> Arc<SimulatedCrabs> {
        Arc::new(SimulatedCrabs {
            host,
            colony: colony.to_owned(),
            agent,
            completed: AtomicU64::new(0),
            keys: AtomicU64::new(0),
            name: name.to_owned(),
        })
    }

    /// Runs a crab for each list of roles until `stop` is true.
    ///
    /// # Errors
    /// The host refuses what it has to accept.
    pub async fn run(
        self: Arc<SimulatedCrabs>,
        roles: Vec<Vec<String>>,
        stop: watch::Receiver<bool>,
    ) -> Result<(), String> {
        let mut mail = HashMap::new();
        let mut crabs = tokio::task::JoinSet::new();
        let deliveries = self.host.deliveries();
        for (number, roles) in roles.into_iter().enumerate() {
            let id = format!("{}-{number}", self.name);
            let (post, letters) = mpsc::unbounded_channel();
            mail.insert(id.clone(), post);
            crabs.spawn(Arc::clone(&self).crab(id, roles, letters, stop.clone()));
        }
        let post = tokio::spawn(deliver(deliveries, mail));
        let mut result = Ok(());
        while let Some(done) = crabs.join_next().await {
            result = result.and(done.map_err(|cause| cause.to_string()).and_then(|it| it));
        }
        post.abort();
        result
    }

    async fn crab(
        self: Arc<SimulatedCrabs>,
        id: String,
        roles: Vec<String>,
        mut letters: mpsc::UnboundedReceiver<Instruction>,
        mut stop: watch::Receiver<bool>,
    ) -> Result<(), String> {
        let abilities = Ability::ALL.into_iter().collect();
        let register = SchedulerEvent::Register { crab: id.clone(), roles, abilities };
        self.scheduler(&id, register.clone()).await?;
        while !*stop.borrow() {
            let parked = self.scheduler(&id, SchedulerEvent::Park { crab: id.clone() }).await?;
            if parked == ActorReply::SchedulerRefused(scheduler::Refusal::NoSuchCrab) {
                // It was silent for too long.
                self.scheduler(&id, register.clone()).await?;
                continue;
            }
            let mut item = offer_for(&id, parked);
            while item.is_none() && !*stop.borrow() {
                tokio::select! {
                    letter = letters.recv() => match letter {
                        Some(Instruction::Offer(offered)) => item = Some(offered),
                        Some(Instruction::EndAgent { .. }) => {}
                        None => return Ok(()),
                    },
                    () = tokio::time::sleep(PATIENCE) => break,
                    _ = stop.changed() => {}
                }
            }
            if let Some(item) = item {
                self.step(&id, item).await?;
            }
        }
        Ok(())
    }

    /// One step: it starts its agent, which reports at once.
    async fn step(&self, crab: &str, item: Item) -> Result<(), String> {
        let Item { mission, step, attempt, .. } = item;
        match self.mission(crab, &mission, MissionEvent::Start { step, attempt }).await? {
            ActorReply::Done { .. } => {}
            // The offer was old: the step has another crab, or has ended.
            ActorReply::MissionRefused(_) | ActorReply::SchedulerRefused(_) => return Ok(()),
            other @ (ActorReply::NotFound | ActorReply::Conflict | ActorReply::BranchTaken { .. }) => {
                return Err(format!("start: {other:?}"));
            }
        }
        let report = (self.agent)(&mission, step, attempt);
        match self.mission(crab, &mission, MissionEvent::Complete { step, attempt, report }).await? {
            ActorReply::Done { .. } => _ = self.completed.fetch_add(1, Ordering::Relaxed),
            ActorReply::MissionRefused(_) | ActorReply::SchedulerRefused(_) => {}
            other @ (ActorReply::NotFound | ActorReply::Conflict | ActorReply::BranchTaken { .. }) => {
                return Err(format!("complete: {other:?}"));
            }
        }
        Ok(())
    }

    async fn mission(&self, crab: &str, id: &str, event: MissionEvent) -> Result<ActorReply, String> {
        self.ask(crab, Event::Mission { id: id.to_owned(), event }).await
    }

    async fn scheduler(&self, crab: &str, event: SchedulerEvent) -> Result<ActorReply, String> {
        self.ask(crab, Event::Scheduler { id: self.colony.clone(), event }).await
    }

    /// Repeats a call with one key until there is an answer.
    async fn ask(&self, crab: &str, event: Event) -> Result<ActorReply, String> {
        let key = format!("{}-{}", self.name, self.keys.fetch_add(1, Ordering::Relaxed));
        let about = CallDetails { crab: Some(crab.to_owned()), ..CallDetails::default() };
        let call = ActorCall { key: Some(key), event, about };
        loop {
            match self.host.apply(call.clone()).await {
                Ok(outcome) => return Ok(outcome),
                Err(HostError::Unavailable(_)) => tokio::time::sleep(AGAIN).await,
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

/// The step that a crab has got by the call that says it waits.
fn offer_for(crab: &str, parked: ActorReply) -> Option<Item> {
    match parked {
        ActorReply::Done { offers, .. } => {
            offers.into_iter().find(|(to, _)| to == crab).map(|(_, item)| item)
        }
        ActorReply::MissionRefused(_)
        | ActorReply::SchedulerRefused(_)
        | ActorReply::NotFound
        | ActorReply::Conflict
        | ActorReply::BranchTaken { .. } => None,
    }
}

/// Hands deliveries to their crabs. A crab that misses one asks again.
async fn deliver(
    mut deliveries: broadcast::Receiver<Delivery>,
    mail: HashMap<String, mpsc::UnboundedSender<Instruction>>,
) {
    loop {
        match deliveries.recv().await {
            Ok(delivery) => {
                if let Some(crab) = mail.get(&delivery.crab) {
                    // A crab that has stopped needs no more.
                    crab.send(delivery.what).unwrap_or_default();
                }
            }
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}
