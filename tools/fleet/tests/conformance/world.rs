//! The world of the tests: a colony, missions, crabs, and waiting for a condition.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orange_core::mission::{Event as MissionEvent, Report};
use orange_core::plan::{Plan, Policy, StepId};
use orange_core::scheduler::{Ability, Event as SchedulerEvent, Item};
use orange_fleet::host::{
    ActorCall, ActorReply, CallDetails, ColonyState, Event, Host, HostError, MissionFilter, NewColony,
    NewMission, StoredMission,
};
use orange_fleet::plans::PLANS;
use orange_fleet::simulate::Agent;
use orange_fleet::simulate::measure::APART;

/// Time limit for an answer of a store, after which a test gives up.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// The plan of the tests: plan, implement, review, fix, pr.
pub fn dev_task() -> &'static Plan<'static> {
    PLANS.iter().find(|plan| plan.name == "dev-task").unwrap()
}

pub fn step(name: &str) -> StepId {
    dev_task().step_named(name).unwrap()
}

/// The first review of a mission fails, the next one passes.
pub fn agent() -> Arc<Agent> {
    let review = step("review");
    Arc::new(move |mission: &str, step: StepId, attempt| {
        let result = match attempt {
            _ if step != review => None,
            1 => Some("FAIL".to_owned()),
            _ => Some("PASS".to_owned()),
        };
        Report { result, summary: summary(mission, step, attempt), warning: None, ..Report::default() }
    })
}

pub fn summary(mission: &str, step: StepId, attempt: u32) -> String {
    format!("{mission} {} {attempt}", dev_task().step(step).id)
}

/// Roles of crabs: a text with commas for each crab.
pub fn roles(lists: &[&str]) -> Vec<Vec<String>> {
    lists.iter().map(|it| it.split(',').map(str::to_owned).collect()).collect()
}

/// The colony of the tests.
pub fn home() -> NewColony {
    NewColony { name: "home".to_owned(), repository: "/srv/home.git".to_owned(), base: None }
}

/// Opens a store. A busy machine may take long to answer the first call of a server.
pub fn opened<H: Host + 'static>(open: impl Fn() -> Result<H, HostError>) -> Arc<dyn Host> {
    let begin = Instant::now();
    loop {
        match open() {
            Ok(host) => return Arc::new(host),
            Err(HostError::Unavailable(_)) if begin.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(cause) => panic!("{cause:?}"),
        }
    }
}

/// A host and a colony.
pub struct World {
    pub host: Arc<dyn Host>,
    pub colony: String,
}

impl World {
    pub async fn new(host: Arc<dyn Host>) -> World {
        let colony = host.create_colony(home()).await.unwrap().id;
        World { host, colony }
    }

    pub fn draft(&self, key: &str) -> NewMission {
        NewMission {
            key: Some(key.to_owned()),
            colony: self.colony.clone(),
            plan: dev_task(),
            prompt: format!("Change {key}\nas I say"),
            branch: None,
            policy: Policy::DEFAULT,
            inputs: Default::default(),
        }
    }

    /// A mission, with a key of its own.
    pub async fn start(&self, key: &str) -> String {
        let made = self.host.create_mission(self.draft(key)).await.unwrap();
        let ActorReply::Done { mission: Some(id), version: 1, .. } = made else { panic!("{made:?}") };
        id
    }

    /// A mission of which two steps may start, one for a planner and one for a worker.
    pub async fn start_apart(&self, key: &str) -> String {
        self.start_with(&APART, key).await
    }

    /// A mission of this plan.
    pub async fn start_with(&self, plan: &'static Plan<'static>, key: &str) -> String {
        let draft = NewMission { plan, ..self.draft(key) };
        let made = self.host.create_mission(draft).await.unwrap();
        let ActorReply::Done { mission: Some(id), .. } = made else { panic!("{made:?}") };
        id
    }

    pub async fn mission(&self, about: &str, id: &str, event: MissionEvent) -> ActorReply {
        self.apply(None, about, Event::Mission { id: id.to_owned(), event }).await.unwrap()
    }

    pub async fn scheduler(&self, event: SchedulerEvent) -> ActorReply {
        self.apply(None, "", Event::Scheduler { id: self.colony.clone(), event }).await.unwrap()
    }

    /// One call. `crab` is empty for a person.
    pub async fn apply(&self, key: Option<&str>, crab: &str, event: Event) -> Result<ActorReply, HostError> {
        let crab = (!crab.is_empty()).then(|| crab.to_owned());
        let about = CallDetails { crab, ..CallDetails::default() };
        self.host.apply(ActorCall { key: key.map(str::to_owned), event, about }).await
    }

    pub async fn register(&self, crab: &str, roles: &str) -> ActorReply {
        self.register_with(crab, roles, BTreeSet::new()).await
    }

    pub async fn register_with(&self, crab: &str, roles: &str, abilities: BTreeSet<Ability>) -> ActorReply {
        let roles = roles.split(',').map(str::to_owned).collect();
        self.scheduler(SchedulerEvent::Register { crab: crab.to_owned(), roles, abilities }).await
    }

    /// The step that a crab gets when it parks.
    pub async fn park(&self, crab: &str) -> Option<Item> {
        let outcome = self.scheduler(SchedulerEvent::Park { crab: crab.to_owned() }).await;
        offers(&outcome).into_iter().find(|(to, _)| to == crab).map(|(_, item)| item)
    }

    pub async fn begin(&self, crab: &str, id: &str, name: &str, attempt: u32) -> ActorReply {
        self.mission(crab, id, MissionEvent::Start { step: step(name), attempt }).await
    }

    pub async fn complete(&self, crab: &str, id: &str, name: &str, attempt: u32) -> ActorReply {
        self.mission(crab, id, completion(id, name, attempt)).await
    }

    pub async fn stored(&self, id: &str) -> StoredMission {
        self.host.mission(id).await.unwrap().unwrap()
    }

    pub async fn state(&self) -> ColonyState {
        self.host.colony(&self.colony).await.unwrap().unwrap()
    }

    /// The kinds of the records of a mission, or of all of them.
    pub async fn kinds(&self, mission: Option<&str>) -> Vec<String> {
        let records = self.host.records(0, mission.map(str::to_owned), 1000).await.unwrap();
        records.into_iter().map(|it| it.kind).collect()
    }

    /// Waits until a mission has ended.
    pub async fn ended(&self, id: &str) -> StoredMission {
        until(&*self.host, async || Some(self.stored(id).await).filter(|it| it.mission.status.is_terminal()))
            .await
    }

    /// Everything that can be read of the store, to compare it.
    pub async fn everything(&self) -> String {
        let all = MissionFilter { limit: 1000, ..MissionFilter::default() };
        let missions = self.host.missions(all).await.unwrap();
        let records = self.host.records(0, None, 1000).await.unwrap();
        let mut whole = format!("{missions:#?}\n{records:#?}\n{:#?}\n", self.host.counts().await.unwrap());
        for row in missions {
            let StoredMission { mission, runs, prompt, .. } = self.stored(&row.id).await;
            whole.push_str(&format!("{prompt}\n{mission:#?}\n{runs:#?}\n"));
        }
        let ColonyState { colony, scheduler, waiting, crabs: _ } = self.state().await;
        whole + &format!("{colony:#?}\n{scheduler:#?}\n{waiting:#?}\n")
    }
}

/// The report of the agent for an attempt.
pub fn completion(mission: &str, name: &str, attempt: u32) -> MissionEvent {
    let report = agent()(mission, step(name), attempt);
    MissionEvent::Complete { step: step(name), attempt, report }
}

pub fn offers(outcome: &ActorReply) -> Vec<(String, Item)> {
    let ActorReply::Done { offers, .. } = outcome else { panic!("{outcome:?}") };
    offers.clone()
}

pub fn done(outcome: &ActorReply) -> (u64, bool) {
    let ActorReply::Done { version, is_repeated, .. } = outcome else { panic!("{outcome:?}") };
    (*version, *is_repeated)
}

/// Waits until this holds. A record comes with every change.
pub async fn until<T>(host: &dyn Host, mut holds: impl AsyncFnMut() -> Option<T>) -> T {
    let mut news = host.news();
    loop {
        news.borrow_and_update();
        if let Some(value) = holds().await {
            return value;
        }
        news.changed().await.unwrap();
    }
}
