//! Crabs that are silent, give back, go away and come back.

use std::path::Path;

use orange_core::mission::{Event as MissionEvent, Refusal, Report};
use orange_core::plan::StepId;
use orange_core::scheduler::{self, Ability, Event as SchedulerEvent, SILENT_SWEEPS};
use orange_fleet::host::{ActorReply, Instruction};
use orange_fleet::simulate::measure::WALLED;

use crate::TestedStore;
use crate::world::{World, done, offers, step};

pub fn heartbeat(crab: &str, mission: &str, name: &str, attempt: u32) -> SchedulerEvent {
    SchedulerEvent::Heartbeat { leases: vec![(crab.to_owned(), mission.to_owned(), step(name), attempt)] }
}

/// A mission whose first step runs with the crab `c`.
async fn running(store: TestedStore, folder: &Path) -> (World, String) {
    let world = World::new((store.open)(folder)).await;
    world.register("c", "any").await;
    let id = world.start("one").await;
    world.park("c").await.unwrap();
    world.begin("c", &id, "plan", 1).await;
    (world, id)
}

pub async fn a_crab_gets_the_first_step_that_it_takes(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let (first, second) = (world.start_apart("one").await, world.start_apart("two").await);
    assert_eq!(world.state().await.waiting, [("planner".to_owned(), 2), ("worker".to_owned(), 2)]);
    world.register("w", "worker").await;
    let taken = world.park("w").await.unwrap();
    assert_eq!((taken.mission.as_str(), taken.step), (first.as_str(), StepId(1)));
    assert_eq!(world.state().await.waiting, [("planner".to_owned(), 1), ("worker".to_owned(), 1)]);
    let report = || Report { result: None, summary: "done".to_owned(), warning: None, ..Report::default() };
    let complete = |step| MissionEvent::Complete { step, attempt: 1, report: report() };
    done(&world.mission("w", &first, MissionEvent::Start { step: StepId(1), attempt: 1 }).await);
    done(&world.mission("w", &first, complete(StepId(1))).await);
    assert_eq!(world.park("w").await.unwrap().mission, second);
    world.register("p", "planner").await;
    assert_eq!(
        world.park("p").await.unwrap().mission,
        first,
        "the other step of the second mission has to wait"
    );
    done(&world.mission("p", &first, MissionEvent::Start { step: StepId(0), attempt: 1 }).await);
    done(&world.mission("p", &first, complete(StepId(0))).await);
    assert_eq!(world.stored(&first).await.row.status, "completed");
    done(&world.mission("", &second, MissionEvent::Cancel).await);
    assert_eq!((world.state().await.waiting, world.host.counts().await.unwrap().waiting), (Vec::new(), 0));
}

pub async fn a_step_with_a_need_waits_for_a_crab_that_is_able(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let (first, second) = (world.start_with(&WALLED, "one").await, world.start_with(&WALLED, "two").await);
    assert_eq!(world.state().await.waiting, [("worker".to_owned(), 4)]);
    world.register("old", "any").await;
    let taken = world.park("old").await.unwrap();
    assert_eq!((taken.mission.as_str(), taken.step), (first.as_str(), StepId(1)));
    assert_eq!(world.park("old").await.unwrap(), taken);
    world.register("older", "any").await;
    let taken = world.park("older").await.unwrap();
    assert_eq!((taken.mission.as_str(), taken.step), (second.as_str(), StepId(1)));
    done(&world.mission("", &second, MissionEvent::Cancel).await);
    let third = world.start_with(&WALLED, "three").await;
    assert_eq!(world.state().await.waiting, [("worker".to_owned(), 2)]);
    drop(world);
    let world = World::new((store.open)(folder)).await;
    assert_eq!(world.state().await.waiting, [("worker".to_owned(), 2)]);
    world.register_with("able", "any", [Ability::Wall].into()).await;
    let taken = world.park("able").await.unwrap();
    assert_eq!(
        (taken.mission.as_str(), taken.step, taken.needs),
        (third.as_str(), StepId(0), [Ability::Wall].into())
    );
    let why = world.state().await.why_waits(&world.stored(&third).await);
    assert_eq!(why, None, "a crab has it");
    world.scheduler(SchedulerEvent::Leave { crab: "able".to_owned() }).await;
    assert_eq!(world.state().await.waiting, [("worker".to_owned(), 2)]);
}

pub async fn a_lost_step_waits_again_with_the_others_of_its_mission(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let id = world.start_apart("one").await;
    world.register("w", "worker").await;
    world.park("w").await.unwrap();
    assert_eq!(world.state().await.waiting, []);
    drop(world);
    let world = World::new((store.open)(folder)).await;
    world.scheduler(SchedulerEvent::Leave { crab: "w".to_owned() }).await;
    assert_eq!(world.state().await.waiting, [("planner".to_owned(), 1), ("worker".to_owned(), 1)]);
    world.register("p", "planner").await;
    assert_eq!(world.park("p").await.unwrap().step, StepId(0));
    done(&world.mission("", &id, MissionEvent::Cancel).await);
    assert_eq!(world.state().await.waiting, []);
}

pub async fn a_silent_crab_loses_its_attempt(store: TestedStore, folder: &Path) {
    let (world, id) = running(store, folder).await;
    let mut deliveries = world.host.deliveries();
    for _ in 0..2 {
        world.scheduler(SchedulerEvent::Sweep { seen: None }).await;
        world.scheduler(heartbeat("c", &id, "plan", 1)).await;
    }
    world.register("d", "any").await;
    world.park("d").await;
    for _ in 0..SILENT_SWEEPS {
        world.scheduler(SchedulerEvent::Sweep { seen: None }).await;
    }
    let delivery = deliveries.recv().await.unwrap();
    assert_eq!(delivery.crab, "d");
    assert!(matches!(delivery.what, Instruction::Offer(item) if item.attempt == 2 && item.mission == id));
    let late = world.complete("c", &id, "plan", 1).await;
    assert_eq!(late, ActorReply::MissionRefused(Refusal::Stale { current: 2 }));
    done(&world.begin("d", &id, "plan", 2).await);
    done(&world.complete("d", &id, "plan", 2).await);
    let runs = world.stored(&id).await.runs;
    let crabs: Vec<_> = runs.iter().map(|it| (it.step.as_str(), it.attempt, it.crab.as_deref())).collect();
    assert_eq!(crabs[..2], [("plan", 1, Some("c")), ("plan", 2, Some("d"))]);
    assert!(runs[0].ended.is_some());
    let kinds = world.kinds(Some(&id)).await;
    assert!(kinds.iter().any(|it| it == "lease.lost") && kinds.iter().any(|it| it == "run.abandoned"));
    // Its heartbeat hears that it has nothing any more.
    let mut deliveries = world.host.deliveries();
    world.scheduler(heartbeat("c", &id, "plan", 1)).await;
    let delivery = deliveries.recv().await.unwrap();
    assert_eq!(
        (delivery.crab.as_str(), delivery.what),
        ("c", Instruction::EndAgent { mission: id, step: step("plan"), attempt: 1 })
    );
}

pub async fn a_step_that_is_given_back_goes_to_another_crab(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    world.register("c", "any").await;
    world.park("c").await;
    let id = world.start("one").await;
    world.register("d", "any").await;
    world.park("d").await;
    let outcome = world
        .scheduler(SchedulerEvent::GiveBack {
            crab: "c".to_owned(),
            mission: id.clone(),
            step: step("plan"),
            attempt: 1,
            reason: "the disk is full".to_owned(),
        })
        .await;
    assert_eq!(offers(&outcome)[0].0, "d");
    let state = world.state().await;
    assert_eq!(state.scheduler.crabs["c"].fault.as_deref(), Some("the disk is full"));
    assert_eq!(world.host.counts().await.unwrap().crabs, [2, 0, 1, 1]);
    let runs = world.stored(&id).await.runs;
    assert_eq!((runs.len(), runs[0].crab.as_deref()), (1, Some("d")));
    let started = world.begin("c", &id, "plan", 1).await;
    assert_eq!(started, ActorReply::SchedulerRefused(scheduler::Refusal::NoSuchLease));
}

pub async fn a_cancelled_mission_ends_its_agent(store: TestedStore, folder: &Path) {
    let (world, id) = running(store, folder).await;
    let mut deliveries = world.host.deliveries();
    done(&world.mission("", &id, MissionEvent::Cancel).await);
    let delivery = deliveries.recv().await.unwrap();
    let end = Instruction::EndAgent { mission: id.clone(), step: step("plan"), attempt: 1 };
    assert_eq!((delivery.crab.as_str(), delivery.what), ("c", end));
    assert!(world.state().await.scheduler.leases.is_empty());
    let waiting = world.start("two").await;
    assert_eq!(world.state().await.waiting, [("planner".to_owned(), 1)]);
    done(&world.mission("", &waiting, MissionEvent::Cancel).await);
    assert_eq!((world.state().await.waiting, world.host.counts().await.unwrap().waiting), (Vec::new(), 0));
}

pub async fn a_crab_speaks_only_for_what_it_has(store: TestedStore, folder: &Path) {
    let (world, id) = running(store, folder).await;
    world.register("d", "any").await;
    let before = world.everything().await;
    let foreign = world.complete("d", &id, "plan", 1).await;
    assert_eq!(foreign, ActorReply::SchedulerRefused(scheduler::Refusal::NoSuchLease));
    let early = world.complete("c", &id, "implement", 1).await;
    assert_eq!(early, ActorReply::MissionRefused(Refusal::NoSuchAttempt { current: 0 }));
    assert_eq!(world.everything().await, before);
    // A person or a script speaks without a crab.
    done(&world.complete("", &id, "plan", 1).await);
}

pub async fn a_role_has_one_crab(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    world.register("atlas-id", "worker").await;
    let before = world.everything().await;
    let refused = world.register("other", "reviewer,worker").await;
    let ActorReply::SchedulerRefused(refusal) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal.words(), "role 'worker' is already taken in this colony by crab 'atlas-id'");
    assert_eq!(world.everything().await, before);
    done(&world.register("atlas-id", "planner").await);
    done(&world.register("other", "reviewer,worker").await);
    done(&world.scheduler(SchedulerEvent::Leave { crab: "other".to_owned() }).await);
    assert_eq!(world.state().await.crabs.into_iter().map(|it| it.0).collect::<Vec<_>>(), ["atlas-id"]);
}

pub async fn a_crab_that_comes_back_keeps_its_lease(store: TestedStore, folder: &Path) {
    let (world, id) = running(store, folder).await;
    done(&world.register("c", "any,worker").await);
    assert_eq!(world.park("c").await, None);
    assert_eq!(world.state().await.scheduler.crabs["c"].mission.as_deref(), Some(id.as_str()));
    done(&world.complete("c", &id, "plan", 1).await);
}
