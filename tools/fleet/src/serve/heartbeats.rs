//! Heartbeats: answered at once from what the scheduler knows, and passed to it together every so often.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use orange_api::gateway::HeartbeatAnswer;
use orange_core::plan::StepId;
use orange_core::scheduler::Event;
use tokio::sync::{Notify, oneshot};

use super::error::ApiError;
use super::gateway::Gateway;
use super::run::RunId;
use crate::host::{ColonyState, HostError};

/// Time that heartbeats which come together wait for each other, so that one look at the scheduler answers them all.
const TOGETHER: Duration = Duration::from_millis(5);

/// A lease: the crab, the mission, the step, and the number of the attempt.
type LeaseKey = (String, String, StepId, u32);

/// The heartbeats of a gateway.
#[derive(Debug, Default)]
pub struct Heartbeats {
    asked: Mutex<Vec<PendingHeartbeat>>,
    /// Leases that are alive, by colony, which the scheduler has not heard of yet.
    alive: Mutex<BTreeMap<String, BTreeSet<LeaseKey>>>,
    /// Held while leases are on their way to the scheduler, so that a sweep waits for them.
    flushing: tokio::sync::Mutex<()>,
    has_come: Notify,
}

#[derive(Debug)]
struct PendingHeartbeat {
    colony: String,
    crab: String,
    runs: Vec<LiveRun>,
    answer: oneshot::Sender<Result<HeartbeatAnswer, ApiError>>,
}

/// A run of which a crab says that it is alive.
#[derive(Debug)]
struct LiveRun {
    id: String,
    /// Mission, step and attempt, as in its lease; `None` if there is no such run.
    item: Option<(String, StepId, u32)>,
}

/// Takes the heartbeat of a crab for its runs, and says which of them it has no more.
pub async fn heartbeat(
    gateway: &Gateway,
    colony: &str,
    crab: &str,
    runs: Vec<String>,
) -> Result<HeartbeatAnswer, ApiError> {
    let mut live = Vec::new();
    for id in runs {
        let item = item(gateway, colony, &id).await?;
        live.push(LiveRun { id, item });
    }
    let (answer, answered) = oneshot::channel();
    let asked = PendingHeartbeat { colony: colony.to_owned(), crab: crab.to_owned(), runs: live, answer };
    let heartbeats = &gateway.heartbeats;
    heartbeats.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    heartbeats.has_come.notify_one();
    answered.await.unwrap_or_else(|_| Err(ApiError::stopping()))
}

async fn item(gateway: &Gateway, colony: &str, id: &str) -> Result<Option<(String, StepId, u32)>, ApiError> {
    let Ok(run) = RunId::parse(id) else { return Ok(None) };
    let known = gateway.known(run.mission).await?.filter(|it| it.colony == colony);
    let step = known.and_then(|it| it.plan.step_named(run.step));
    Ok(step.map(|step| (run.mission.to_owned(), step, run.attempt)))
}

/// Answers heartbeats for as long as the gateway lives.
pub async fn answer(gateway: Arc<Gateway>) {
    loop {
        gateway.heartbeats.has_come.notified().await;
        tokio::time::sleep(TOGETHER).await;
        let asked =
            std::mem::take(&mut *gateway.heartbeats.asked.lock().unwrap_or_else(PoisonError::into_inner));
        let mut by_colony: BTreeMap<String, Vec<PendingHeartbeat>> = BTreeMap::new();
        for it in asked {
            by_colony.entry(it.colony.clone()).or_default().push(it);
        }
        for (colony, asked) in by_colony {
            let state = gateway.host.colony(&colony).await;
            for it in asked {
                let ended = match &state {
                    Ok(state) => Ok(gateway.heartbeats.take(state.as_ref(), &it)),
                    Err(error) => Err(error.clone().into()),
                };
                // A crab that has gone away needs no answer.
                it.answer.send(ended).unwrap_or_default();
            }
        }
    }
}

impl Heartbeats {
    fn alive(&self) -> MutexGuard<'_, BTreeMap<String, BTreeSet<LeaseKey>>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the leases that are alive for the next flush.
    fn take(&self, state: Option<&ColonyState>, asked: &PendingHeartbeat) -> HeartbeatAnswer {
        let scheduler = state.map(|it| &it.scheduler);
        let lease = |run: &LiveRun| {
            let (mission, step, attempt) = run.item.as_ref()?;
            scheduler?.lease(&asked.crab, mission, *step, *attempt)?;
            Some((asked.crab.clone(), mission.clone(), *step, *attempt))
        };
        let mut ended = Vec::new();
        let mut alive = self.alive();
        for run in &asked.runs {
            match lease(run) {
                Some(lease) => _ = alive.entry(asked.colony.clone()).or_default().insert(lease),
                None => ended.push(run.id.clone()),
            }
        }
        HeartbeatAnswer {
            ended,
            is_registered: scheduler.is_some_and(|it| it.crabs.contains_key(&asked.crab)),
        }
    }
}

/// Passes the heartbeats that have come in to the schedulers. What the store does not take is passed to it again later.
pub async fn flush(gateway: &Gateway) {
    let colonies: Vec<String> = gateway.heartbeats.alive().keys().cloned().collect();
    for colony in colonies {
        if let Err(error) = flush_of(gateway, &colony).await {
            log::warn!(colony = colony.as_str(), cause = error.to_string().as_str(); "heartbeats wait for the store");
        }
    }
}

/// Passes the heartbeats of a colony to its scheduler. Afterwards the scheduler knows of every one that was answered before.
///
/// # Errors
/// The store does not answer: the heartbeats wait here.
pub async fn flush_of(gateway: &Gateway, colony: &str) -> Result<(), HostError> {
    let heartbeats = &gateway.heartbeats;
    let _flushing = heartbeats.flushing.lock().await;
    let Some(taken) = heartbeats.alive().remove(colony) else { return Ok(()) };
    let leases: Vec<LeaseKey> = taken.into_iter().collect();
    match gateway.scheduler(colony, Event::Heartbeat { leases: leases.clone() }).await {
        Ok(_) => gateway.metrics.count("heartbeat", u64::try_from(leases.len()).unwrap_or(u64::MAX)),
        Err(error) => {
            heartbeats.alive().entry(colony.to_owned()).or_default().extend(leases);
            return Err(error);
        }
    }
    Ok(())
}
