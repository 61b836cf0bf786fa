//! A store that is closed and opened again.

use std::path::Path;

use orange_core::scheduler::{Event as SchedulerEvent, SILENT_SWEEPS};

use crate::TestedStore;
use crate::world::{World, done};

pub async fn everything_is_there_after_a_restart(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    world.register("c", "any").await;
    let id = world.start("one").await;
    world.start("two").await;
    world.park("c").await.unwrap();
    world.begin("c", &id, "plan", 1).await;
    world.complete("c", &id, "plan", 1).await;
    let (before, newest) = (world.everything().await, *world.host.news().borrow());
    drop(world);
    let world = World::new((store.open)(folder)).await;
    assert_eq!(world.everything().await, before);
    assert_eq!(*world.host.news().borrow(), newest);
    assert_eq!(done(&world.complete("c", &id, "plan", 1).await), (3, true));
}

pub async fn a_lease_outlives_a_restart_and_ends_by_sweeps(store: TestedStore, folder: &Path) {
    let mut world = World::new((store.open)(folder)).await;
    world.register("c", "any").await;
    let id = world.start("one").await;
    world.park("c").await.unwrap();
    world.begin("c", &id, "plan", 1).await;
    for sweep in 1..=SILENT_SWEEPS {
        drop(world);
        world = World::new((store.open)(folder)).await;
        assert_eq!(world.state().await.scheduler.leases.len(), 1, "{sweep}");
        world.scheduler(SchedulerEvent::Sweep { seen: None }).await;
    }
    let state = world.state().await;
    assert!(state.scheduler.leases.is_empty() && state.scheduler.crabs.is_empty());
    assert_eq!(state.waiting, [("planner".to_owned(), 1)]);
    assert_eq!(world.stored(&id).await.mission.step(crate::world::step("plan")).attempt(), 2);
}

pub async fn ids_and_records_rise_when_the_clock_goes_back(store: TestedStore, folder: &Path) {
    let first = crate::child::start_with_clock(store, folder, 3_600_000).await;
    let world = World::new((store.open)(folder)).await;
    let second = world.start("two").await;
    assert!(second > first, "{first} {second}");
    let third = crate::child::start_with_clock(store, folder, -3_600_000).await;
    assert!(third > second, "{second} {third}");
    let newest =
        world.host.missions(orange_fleet::host::MissionFilter { limit: 3, ..Default::default() }).await;
    let ids: Vec<String> = newest.unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, [third, second, first]);
}
