//! A colony whose crabs are played by the test: each event of a mission happens when the test says so.

use orange_core::mission::{self, Report};
use orange_core::plan::{Plan, StepId};
use orange_core::scheduler;
use orange_fleet::host::{
    ActorCall, ActorReply, CallDetails, ColonyState, Event, NewColony, NewMission, StoredMission, TextKind,
    TextOf,
};
use orange_fleet::plans::PLANS;

use tokio::task::JoinHandle;

use crate::gateway::ConsoleGateway;

/// A colony of a gateway.
pub(crate) struct ConsoleColony<'g> {
    gateway: &'g ConsoleGateway,
    pub(crate) id: String,
}

impl<'g> ConsoleColony<'g> {
    /// A colony with one crab for each role of dev-task.
    pub(crate) fn new(gateway: &'g ConsoleGateway) -> ConsoleColony<'g> {
        let new = NewColony {
            name: "orange-dev".to_owned(),
            repository: "/srv/git/orange.git".to_owned(),
            base: Some("main".to_owned()),
        };
        let made = gateway.runtime.block_on(gateway.host().create_colony(new)).unwrap();
        let colony = ConsoleColony { gateway, id: made.id };
        for (crab, name, role) in [
            ("sage-id", "Sage", "planner"),
            ("atlas-id", "Atlas", "worker"),
            ("coral-id", "Coral", "reviewer"),
        ] {
            colony.register(crab, name, role);
            colony.park(crab);
        }
        colony
    }

    fn register(&self, crab: &str, name: &str, role: &str) {
        let (crab_id, roles) = (crab.to_owned(), vec![role.to_owned()]);
        let event = scheduler::Event::Register { crab: crab_id, roles, abilities: Default::default() };
        self.of_scheduler(
            event,
            CallDetails {
                crab: Some(crab.to_owned()),
                name: Some(name.to_owned()),
                ..CallDetails::default()
            },
        );
    }

    /// Has a crab wait for work.
    pub(crate) fn park(&self, crab: &str) {
        self.of_scheduler(scheduler::Event::Park { crab: crab.to_owned() }, CallDetails::default());
    }

    /// Starts a mission of dev-task, and gives its id.
    pub(crate) fn start(&self, prompt: &str) -> String {
        self.gateway.runtime.block_on(self.make(prompt)).unwrap()
    }

    /// Starts a mission of this plan, and gives its id.
    pub(crate) fn start_with(&self, plan: &'static Plan<'static>, prompt: &str) -> String {
        self.gateway.runtime.block_on(self.make_with(plan, prompt)).unwrap()
    }

    /// Starts a mission of dev-task in the background, for a test that starts many at once.
    pub(crate) fn make(&self, prompt: &str) -> JoinHandle<String> {
        let plan = PLANS.iter().copied().find(|it| it.name == "dev-task").unwrap();
        self.make_with(plan, prompt)
    }

    fn make_with(&self, plan: &'static Plan<'static>, prompt: &str) -> JoinHandle<String> {
        let policy = plan.policy;
        let new = NewMission {
            key: None,
            colony: self.id.clone(),
            plan,
            prompt: prompt.to_owned(),
            branch: None,
            policy,
            inputs: Default::default(),
        };
        let host = self.gateway.host();
        self.gateway.runtime.spawn(async move {
            let outcome = host.create_mission(new).await.unwrap();
            let ActorReply::Done { mission, .. } = outcome else { panic!("{outcome:?}") };
            mission.unwrap()
        })
    }

    /// A mission as it is stored.
    pub(crate) fn mission(&self, id: &str) -> StoredMission {
        self.gateway.runtime.block_on(self.gateway.host().mission(id)).unwrap().unwrap()
    }

    /// Keeps a text of an attempt, as its crab does.
    pub(crate) fn text(&self, id: &str, step: &str, attempt: u32, kind: TextKind, text: &str) {
        let step = self.mission(id).plan.step_named(step).unwrap();
        let of = TextOf { mission: id.to_owned(), step, attempt, kind };
        let host = self.gateway.host();
        assert!(self.gateway.runtime.block_on(host.keep_text(of, text.to_owned())).unwrap());
    }

    /// Has the agent of a step start. A crab that has nothing to do takes it; without one, the colony gets another.
    pub(crate) fn begin(&self, id: &str, step: &str) {
        while self.holder(id).is_none() {
            let crabs = self.state().scheduler.crabs;
            match crabs.iter().find(|it| it.1.mission.is_none() && !it.1.is_parked) {
                Some((crab, _)) => self.park(crab),
                None => self.register(
                    &format!("helper-{}", crabs.len()),
                    &format!("Helper {}", crabs.len()),
                    "any",
                ),
            }
        }
        let (step, attempt) = self.current(id, step);
        self.of_mission(id, mission::Event::Start { step, attempt }, None);
    }

    /// Has a step complete, with a commit.
    pub(crate) fn complete(&self, id: &str, step: &str, result: Option<&str>, summary: &str) {
        self.report(
            id,
            step,
            Report {
                result: result.map(str::to_owned),
                summary: summary.to_owned(),
                warning: None,
                ..Report::default()
            },
        );
    }

    /// Has a step complete, with everything that can be reported.
    pub(crate) fn report(&self, id: &str, step: &str, report: Report) {
        let (step, attempt) = self.current(id, step);
        self.of_mission(
            id,
            mission::Event::Complete { step, attempt, report },
            Some("4f1c2d9e8b7a60513f2e1d0c9b8a7f6e5d4c3b2a"),
        );
    }

    /// Has a step fail.
    pub(crate) fn fail(&self, id: &str, step: &str, reason: &str) {
        let (step, attempt) = self.current(id, step);
        self.of_mission(id, mission::Event::Fail { step, attempt, reason: reason.to_owned() }, None);
    }

    /// Has a person do something elsewhere.
    pub(crate) fn person(&self, id: &str, event: mission::Event) {
        self.of_mission(id, event, None);
    }

    fn current(&self, id: &str, step: &str) -> (StepId, u32) {
        let stored = self.mission(id);
        let step = stored.plan.step_named(step).unwrap();
        (step, stored.mission.step(step).attempt())
    }

    #[track_caller]
    fn of_mission(&self, id: &str, event: mission::Event, commit: Option<&str>) {
        let about = CallDetails {
            crab: self.holder(id),
            commit: commit.map(str::to_owned),
            ..CallDetails::default()
        };
        self.call(Event::Mission { id: id.to_owned(), event }, about);
    }

    /// The crab that has a step of a mission.
    fn holder(&self, id: &str) -> Option<String> {
        self.state().scheduler.leases.get(id).map(|it| it.crab.clone())
    }

    fn state(&self) -> ColonyState {
        self.gateway.runtime.block_on(self.gateway.host().colony(&self.id)).unwrap().unwrap()
    }

    #[track_caller]
    fn of_scheduler(&self, event: scheduler::Event, about: CallDetails) {
        self.call(Event::Scheduler { id: self.id.clone(), event }, about);
    }

    #[track_caller]
    fn call(&self, event: Event, about: CallDetails) {
        let call = ActorCall { key: None, event, about };
        let outcome = self.gateway.runtime.block_on(self.gateway.host().apply(call)).unwrap();
        assert!(matches!(outcome, ActorReply::Done { .. }), "{outcome:?}");
    }
}
