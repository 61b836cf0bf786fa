//! Tests of texts that cannot be read.

use std::path::Path;

use orange_core::mission::Event as MissionEvent;
use orange_fleet::host::{Event, HostError, MissionFilter};

use crate::TestedStore;
use crate::world::{World, done};

pub async fn a_mission_of_a_newer_version_is_set_aside(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let id = world.start("one").await;
    drop(world);
    let before = (store.damage)(folder, &id, r#"{"v":2,"status":{"new":"form"}}"#);
    let world = World::new((store.open)(folder)).await;
    let cancel = Event::Mission { id: id.clone(), event: MissionEvent::Cancel };
    for _ in 0..2 {
        let refused = world.apply(Some("k"), "", cancel.clone()).await;
        let Err(HostError::Corrupt(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains(&id) && why.contains("version 2") && why.contains("upgrade"), "{why}");
    }
    assert!(matches!(world.host.mission(&id).await, Err(HostError::Corrupt(_))));
    let counts = world.host.counts().await.unwrap();
    assert_eq!((counts.alarms, counts.waiting), (1, 0));
    drop(world);
    // The newer program comes back, and can read it.
    let newer = (store.damage)(folder, &id, &before);
    assert!(newer.contains("\"new\""), "nothing was half read and written back");
    let world = World::new((store.open)(folder)).await;
    world.register("c", "any").await;
    assert_eq!(world.park("c").await.unwrap().mission, id);
    assert_eq!(world.host.counts().await.unwrap().alarms, 0);
    done(&world.begin("c", &id, "plan", 1).await);
}

pub async fn a_mission_that_is_damaged_stops_nothing_else(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    world.register("c", "any").await;
    let damaged = world.start("one").await;
    let sound = world.start("two").await;
    drop(world);
    (store.damage)(folder, &damaged, "{\"v\":1,\"status\":\"hope");
    let world = World::new((store.open)(folder)).await;
    // It is the first that waits; the crab gets it, hears that it is not to run it, and asks again.
    world.park("c").await;
    assert_eq!(world.park("c").await.map(|it| it.mission), Some(sound.clone()));
    done(&world.begin("c", &sound, "plan", 1).await);
    done(&world.complete("c", &sound, "plan", 1).await);
    let counts = world.host.counts().await.unwrap();
    assert_eq!(counts.alarms, 1);
    let listed = world.host.missions(MissionFilter { limit: 10, ..Default::default() }).await.unwrap();
    assert_eq!(listed.len(), 2, "it is still listed");
    done(&world.mission("", &sound, MissionEvent::Cancel).await);
    assert_eq!(world.host.forget(i64::MAX).await.unwrap(), 1, "what cannot be read is not removed");
}
