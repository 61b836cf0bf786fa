//! A gateway: everything that its routes and its tasks share.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use orange_api::Result;
use orange_codegen::suggest;
use orange_core::plan::{Plan, StepId};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::auth::{Hosts, Rights, Tokens};
use super::connected::Connected;
use super::error::ApiError;
use super::heartbeats::Heartbeats;
use super::metrics::Metrics;
use super::run::RunId;
use super::settings::GatewaySettings;
use super::traces::{TracedEnd, Traces};
use super::workflows::ServedWorkflows;
use crate::host::{ActorCall, ActorReply, CallDetails, Colony, Event, Host, HostError};

/// The most missions that are remembered with what never changes of them.
const REMEMBERED: usize = 20_000;

/// State that the routes and the tasks of a gateway share.
pub struct Gateway {
    /// Store of missions and schedulers.
    pub host: Arc<dyn Host>,
    /// Workflows that missions can follow.
    pub workflows: ServedWorkflows,
    pub settings: GatewaySettings,
    /// Tokens of those who may call it.
    pub tokens: Tokens,
    /// The names under which it is called.
    pub hosts: Hosts,
    /// It serves the pages of the console beside the API, at `/` and below `/console`.
    pub has_pages: bool,
    /// Its counters.
    pub metrics: Metrics,
    /// Destination of its traces.
    pub traces: Traces,
    /// The crabs that wait here.
    pub connected: Connected,
    /// The heartbeats that come in.
    pub heartbeats: Heartbeats,
    /// Turns true when the gateway stops.
    pub stopping: watch::Sender<bool>,
    /// Spans that are being made.
    tracing: Mutex<JoinSet<()>>,
    missions: Mutex<HashMap<String, FixedFacts>>,
    colonies: Mutex<BTreeMap<String, Colony>>,
    crabs: Mutex<HashMap<String, String>>,
}

/// Facts about a mission that never change.
#[derive(Clone, Debug)]
pub struct FixedFacts {
    pub colony: String,
    pub plan: &'static Plan<'static>,
}

impl Gateway {
    /// A gateway on this store.
    ///
    /// # Errors
    /// Its tokens cannot be read or made, or the address of the collector is none.
    pub fn new(
        settings: GatewaySettings,
        host: Arc<dyn Host>,
        workflows: ServedWorkflows,
        has_pages: bool,
    ) -> Result<Arc<Gateway>> {
        let tokens = Tokens::open(&settings.folder)?;
        let hosts = Hosts::new(&settings.host_names);
        let traces = Traces::to(settings.traces.as_deref())?;
        Ok(Arc::new(Gateway {
            host,
            workflows,
            settings,
            tokens,
            hosts,
            has_pages,
            metrics: Metrics::default(),
            traces,
            connected: Connected::default(),
            heartbeats: Heartbeats::default(),
            stopping: watch::Sender::new(false),
            tracing: Mutex::default(),
            missions: Mutex::default(),
            colonies: Mutex::default(),
            crabs: Mutex::default(),
        }))
    }

    /// True if it stops.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Waits until it stops.
    pub async fn stop(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender lives as long as the gateway.
        if stopping.wait_for(|it| *it).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// True if a crab is connected here.
    pub fn is_connected(&self, colony: &str, crab: &str) -> bool {
        self.connected.has(colony, crab)
    }

    /// Number of requests that are being answered.
    pub fn open_requests(&self) -> usize {
        self.metrics.open_requests()
    }

    /// Facts about a mission that never change; `None` if there is no such mission.
    pub async fn known(&self, mission: &str) -> std::result::Result<Option<FixedFacts>, ApiError> {
        if let Some(known) = lock(&self.missions).get(mission) {
            return Ok(Some(known.clone()));
        }
        let Some(stored) = self.host.mission(mission).await? else { return Ok(None) };
        let known = FixedFacts { colony: stored.row.colony, plan: stored.plan };
        let mut missions = lock(&self.missions);
        if missions.len() >= REMEMBERED {
            missions.clear();
        }
        missions.insert(mission.to_owned(), known.clone());
        Ok(Some(known))
    }

    /// The mission of a run and the number of its step, for a caller who may know of it.
    pub async fn run(
        &self,
        run: &RunId<'_>,
        rights: &Rights,
    ) -> std::result::Result<(FixedFacts, StepId), ApiError> {
        let known = self.known(run.mission).await?.filter(|it| sees(rights, &it.colony));
        let found = known.and_then(|it| Some((it.plan.step_named(run.step)?, it)));
        found.map(|(step, known)| (known, step)).ok_or_else(|| unknown_run(&run.to_string()))
    }

    /// A colony, by its id.
    pub async fn colony_of(&self, id: &str) -> std::result::Result<Colony, ApiError> {
        if let Some(colony) = lock(&self.colonies).get(id) {
            return Ok(colony.clone());
        }
        let found = self.colonies().await?.into_iter().find(|it| it.id == id);
        found.ok_or_else(|| ApiError::not_found("unknown_colony", "the colony is not there any more"))
    }

    /// The colony that a caller means, by its id or its name.
    pub async fn colony(&self, asked: &str, rights: &Rights) -> std::result::Result<Colony, ApiError> {
        let is_meant = |it: &Colony| it.id == asked || it.name == asked;
        let remembered = lock(&self.colonies).values().find(|it| is_meant(it)).cloned();
        let found = match remembered {
            Some(colony) => Some(colony),
            None => self.colonies().await?.into_iter().find(is_meant),
        };
        if let Some(colony) = found.filter(|it| sees(rights, &it.id)) {
            return Ok(colony);
        }
        if matches!(rights, Rights::Crab { .. }) {
            return Err(ApiError::forbidden("this token is good for another colony")
                .help("`orange-fleet token new --colony NAME` makes one for a colony"));
        }
        let shown: String = asked.chars().take(100).collect();
        let colonies = lock(&self.colonies);
        let names: Vec<&str> = colonies.values().map(|it| it.name.as_str()).collect();
        let help = suggest::help(asked, "colonies", names.iter().copied()).unwrap_or_else(|| {
            match names.is_empty() {
                true => "make one first: `orange-fleet colony create NAME --repository URL`".to_owned(),
                false => "`orange-fleet colony list` and GET /v1/colonies list them".to_owned(),
            }
        });
        Err(ApiError::not_found("unknown_colony", format!("there is no colony `{}`", shown.escape_debug()))
            .help(help))
    }

    async fn colonies(&self) -> std::result::Result<Vec<Colony>, ApiError> {
        let colonies = self.host.colonies().await?;
        *lock(&self.colonies) = colonies.iter().map(|it| (it.id.clone(), it.clone())).collect();
        Ok(colonies)
    }

    /// The colony of a crab that calls, or that a person names: the one that the caller names, or the one in which the crab is.
    pub async fn colony_of_crab(
        &self,
        crab: &str,
        asked: Option<&str>,
        rights: &Rights,
    ) -> std::result::Result<String, ApiError> {
        if let Some(asked) = asked {
            return Ok(self.colony(asked, rights).await?.id);
        }
        if let Rights::Crab { colony } = rights {
            return Ok(colony.clone());
        }
        if let Some(colony) = lock(&self.crabs).get(crab) {
            return Ok(colony.clone());
        }
        for colony in self.colonies().await? {
            let state = self.host.colony(&colony.id).await?;
            if state.is_some_and(|it| it.scheduler.crabs.contains_key(crab)) {
                self.remember_crab(crab, &colony.id);
                return Ok(colony.id);
            }
        }
        Err(ApiError::of_scheduler(&orange_core::scheduler::Refusal::NoSuchCrab))
    }

    /// Remembers where a crab has registered.
    pub fn remember_crab(&self, crab: &str, colony: &str) {
        let mut crabs = lock(&self.crabs);
        if crabs.len() >= REMEMBERED {
            crabs.clear();
        }
        crabs.insert(crab.to_owned(), colony.to_owned());
    }

    /// Forgets where a crab was.
    pub fn forget_crab(&self, crab: &str) {
        lock(&self.crabs).remove(crab);
    }

    /// Traces what has ended in a mission, beside the answer: an attempt, and perhaps the mission.
    pub fn trace(&self, mission: &str, attempt: Option<(&RunId<'_>, TracedEnd)>) {
        if !self.traces.is_on() {
            return;
        }
        let (host, traces, mission) = (Arc::clone(&self.host), self.traces.clone(), mission.to_owned());
        let attempt = attempt.map(|(run, end)| (run.step.to_owned(), run.attempt, end));
        let mut tracing = lock(&self.tracing);
        while tracing.try_join_next().is_some() {}
        tracing.spawn(async move {
            // Without the store, this has no span.
            let Ok(Some(stored)) = host.mission(&mission).await else { return };
            if let Some((step, number, end)) = attempt {
                let row = stored.runs.iter().find(|it| it.step == step && it.attempt == number);
                row.iter().for_each(|row| traces.attempt(&stored, row, &end));
            }
            if stored.mission.status.is_terminal() {
                traces.mission(&stored);
            }
        });
    }

    /// Sends the traces that have not been sent.
    pub async fn finish_traces(&self) {
        let tracing = std::mem::take(&mut *lock(&self.tracing));
        tracing.join_all().await;
        let traces = self.traces.clone();
        // The collector is on the network: this waits on a thread that may.
        tokio::task::spawn_blocking(move || traces.finish()).await.unwrap_or_default();
    }

    /// Has an event happen to a scheduler.
    pub async fn scheduler(
        &self,
        colony: &str,
        event: orange_core::scheduler::Event,
    ) -> std::result::Result<ActorReply, HostError> {
        let event = Event::Scheduler { id: colony.to_owned(), event };
        self.host.apply(ActorCall { key: None, event, about: CallDetails::default() }).await
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True if a token shows what belongs to a colony.
pub fn sees(rights: &Rights, colony: &str) -> bool {
    match rights {
        Rights::Person | Rights::Reader => true,
        Rights::Crab { colony: own } => own == colony,
    }
}

/// The answer about a run that is not there, or that the caller may not know of.
pub fn unknown_run(run: &str) -> ApiError {
    let shown: String = run.chars().take(super::input::LONGEST_ID).collect();
    ApiError::not_found("unknown_run", format!("there is no run `{}`", shown.escape_debug()))
        .help("the id of a run is <mission>.<step>.<attempt>, as in what the crab was assigned")
}
