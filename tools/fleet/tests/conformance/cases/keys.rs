//! Calls that are made again.

use std::path::Path;

use orange_core::mission::{Event as MissionEvent, Refusal};
use orange_core::plan::Policy;
use orange_core::scheduler::Event as SchedulerEvent;
use orange_fleet::host::{ActorReply, Event, NewColony, NewMission};

use crate::TestedStore;
use crate::world::{World, completion, done, step};

/// A mission whose first step runs with the crab `c`.
async fn running(store: TestedStore, folder: &Path) -> (World, String) {
    let world = World::new((store.open)(folder)).await;
    world.register("c", "any").await;
    let id = world.start("one").await;
    world.park("c").await.unwrap();
    world.begin("c", &id, "plan", 1).await;
    (world, id)
}

fn event(id: &str, event: MissionEvent) -> Event {
    Event::Mission { id: id.to_owned(), event }
}

pub async fn the_same_key_twice_happens_once(store: TestedStore, folder: &Path) {
    let (world, id) = running(store, folder).await;
    let completed = event(&id, completion(&id, "plan", 1));
    let first = world.apply(Some("k"), "c", completed.clone()).await.unwrap();
    assert_eq!(done(&first), (3, false));
    let before = world.everything().await;
    for _ in 0..3 {
        assert_eq!(world.apply(Some("k"), "c", completed.clone()).await.unwrap(), first);
    }
    assert_eq!(world.everything().await, before);
    let park =
        Event::Scheduler { id: world.colony.clone(), event: SchedulerEvent::Park { crab: "c".to_owned() } };
    let parked = world.apply(Some("p"), "c", park.clone()).await.unwrap();
    world.begin("c", &id, "implement", 1).await;
    let before = world.everything().await;
    assert_eq!(world.apply(Some("p"), "c", park).await.unwrap(), parked, "the offer of then, not one of now");
    assert_eq!(world.everything().await, before);
}

pub async fn the_same_event_with_another_key_is_repeated(store: TestedStore, folder: &Path) {
    let (world, id) = running(store, folder).await;
    let completed = event(&id, completion(&id, "plan", 1));
    world.apply(Some("k"), "c", completed.clone()).await.unwrap();
    let before = world.everything().await;
    let again = world.apply(Some("l"), "c", completed.clone()).await.unwrap();
    assert_eq!(done(&again), (3, true));
    assert_eq!(done(&world.apply(None, "c", completed).await.unwrap()), (3, true));
    assert_eq!(world.everything().await, before);
    let other = MissionEvent::Complete { step: step("plan"), attempt: 1, report: Default::default() };
    let other = world.apply(Some("m"), "c", event(&id, other)).await.unwrap();
    assert_eq!(other, ActorReply::MissionRefused(Refusal::HasEnded));
    assert_eq!(world.everything().await, before);
}

pub async fn another_event_with_the_same_key_is_a_conflict(store: TestedStore, folder: &Path) {
    let (world, id) = running(store, folder).await;
    world.apply(Some("k"), "c", event(&id, completion(&id, "plan", 1))).await.unwrap();
    let before = world.everything().await;
    let cancelled = world.apply(Some("k"), "", event(&id, MissionEvent::Cancel)).await.unwrap();
    assert_eq!(cancelled, ActorReply::Conflict);
    let drafted = NewMission { key: Some("k".to_owned()), ..world.draft("x") };
    assert_eq!(world.host.create_mission(drafted).await.unwrap(), ActorReply::Conflict);
    assert_eq!(world.everything().await, before);
}

pub async fn a_refusal_is_remembered_and_changes_nothing(store: TestedStore, folder: &Path) {
    let (world, id) = running(store, folder).await;
    let before = world.everything().await;
    let early = event(
        &id,
        MissionEvent::Continue { pause: None, accept_failure: false, execution: None, intervene: None },
    );
    let refused = ActorReply::MissionRefused(Refusal::NotPaused);
    assert_eq!(world.apply(Some("k"), "", early.clone()).await.unwrap(), refused);
    assert_eq!(world.everything().await, before);
    world.mission("", &id, MissionEvent::Obstruct { reason: "no worktree".to_owned() }).await;
    assert_eq!(world.apply(Some("k"), "", early.clone()).await.unwrap(), refused);
    assert_eq!(done(&world.apply(Some("l"), "", early).await.unwrap()), (4, false));
}

pub async fn what_was_not_found_may_be_there_later(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let nowhere = World { host: world.host.clone(), colony: "nowhere".to_owned() };
    let draft = NewMission { key: Some("k".to_owned()), ..nowhere.draft("x") };
    assert_eq!(world.host.create_mission(draft).await.unwrap(), ActorReply::NotFound);
    assert_eq!(nowhere.register("c", "any").await, ActorReply::NotFound);
    assert_eq!(world.mission("", "0", MissionEvent::Cancel).await, ActorReply::NotFound);
    assert!(world.host.mission("0").await.unwrap().is_none());
    assert!(world.host.colony("nowhere").await.unwrap().is_none());
    world.start("k").await;
}

pub async fn a_mission_is_made_once_for_a_key(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let first = world.host.create_mission(world.draft("k")).await.unwrap();
    let before = world.everything().await;
    assert_eq!(world.host.create_mission(world.draft("k")).await.unwrap(), first);
    let others = [
        NewMission { prompt: "another one".to_owned(), ..world.draft("k") },
        NewMission { branch: Some("b".to_owned()), ..world.draft("k") },
        NewMission {
            policy: Policy { intervene: orange_core::plan::Intervene::Never, ..Policy::DEFAULT },
            ..world.draft("k")
        },
    ];
    for other in others {
        assert_eq!(world.host.create_mission(other).await.unwrap(), ActorReply::Conflict);
    }
    assert_eq!(world.everything().await, before);
    let without = NewMission { key: None, ..world.draft("k") };
    assert_ne!(world.host.create_mission(without.clone()).await, world.host.create_mission(without).await);
}

pub async fn a_branch_has_one_mission_of_a_colony(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let on = |world: &World, key: &str, branch: &str| NewMission {
        branch: Some(branch.to_owned()),
        ..world.draft(key)
    };
    let first = world.host.create_mission(on(&world, "k", "fix")).await.unwrap();
    let ActorReply::Done { mission: Some(id), .. } = first.clone() else { panic!("{first:?}") };
    let taken = ActorReply::BranchTaken { mission: id.clone() };
    let before = world.everything().await;
    assert_eq!(world.host.create_mission(on(&world, "l", "fix")).await.unwrap(), taken);
    assert_eq!(world.everything().await, before);
    assert_eq!(
        world.host.create_mission(on(&world, "k", "fix")).await.unwrap(),
        first,
        "it is the same call"
    );
    world.mission("", &id, MissionEvent::Cancel).await;
    assert_eq!(world.host.create_mission(on(&world, "m", "fix")).await.unwrap(), taken);
    let own = world.start("n").await;
    let asked = on(&world, "o", &format!("orange/{own}"));
    assert_eq!(world.host.create_mission(asked).await.unwrap(), ActorReply::BranchTaken { mission: own });
    assert!(matches!(world.host.create_mission(on(&world, "p", "FIX")).await, Ok(ActorReply::Done { .. })));
    let new = NewColony { name: "far".to_owned(), repository: "r".to_owned(), base: None };
    let far = World { host: world.host.clone(), colony: world.host.create_colony(new).await.unwrap().id };
    assert!(matches!(world.host.create_mission(on(&far, "q", "fix")).await, Ok(ActorReply::Done { .. })));
    world.host.forget(i64::MAX).await.unwrap();
    assert!(matches!(world.host.create_mission(on(&world, "r", "fix")).await, Ok(ActorReply::Done { .. })));
    // Both calls are one transaction, or two.
    let (one, two) = (
        world.host.create_mission(on(&world, "s", "both")),
        world.host.create_mission(on(&world, "t", "both")),
    );
    let (one, two) = tokio::join!(one, two);
    let taken =
        [one.unwrap(), two.unwrap()].into_iter().filter(|it| matches!(it, ActorReply::BranchTaken { .. }));
    assert_eq!(taken.count(), 1);
}
