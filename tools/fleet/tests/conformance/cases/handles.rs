//! Two gateways on one store.

use std::path::Path;

use orange_core::scheduler::{Event as SchedulerEvent, Refusal};
use orange_fleet::host::{ActorReply, Event, NewColony};

use super::leases::heartbeat;
use crate::TestedStore;
use crate::world::{World, completion, done};

pub async fn two_handles_drive_one_mission(store: TestedStore, folder: &Path) {
    let one = World::new((store.open)(folder)).await;
    let two = World::new((store.open)(folder)).await;
    assert_eq!(one.colony, two.colony);
    one.register("c", "any").await;
    let id = two.start("one").await;
    let steps = [("plan", 1), ("implement", 1), ("review", 1), ("fix", 1), ("review", 2), ("pr", 1)];
    for (turn, (name, attempt)) in steps.into_iter().enumerate() {
        let (here, there) = if turn % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let item = here.park("c").await.unwrap();
        assert_eq!((&item.mission, item.attempt), (&id, attempt), "{name}");
        done(&there.begin("c", &id, name, attempt).await);
        done(&here.complete("c", &id, name, attempt).await);
        assert!(done(&there.complete("c", &id, name, attempt).await).1);
    }
    assert_eq!(one.stored(&id).await.row.status, "completed");
    assert_eq!(two.everything().await, one.everything().await);
}

pub async fn a_key_is_used_once_by_two_handles_at_once(store: TestedStore, folder: &Path) {
    let one = World::new((store.open)(folder)).await;
    let two = World::new((store.open)(folder)).await;
    one.register("c", "any").await;
    for number in 0..20 {
        let key = format!("mission-{number}");
        let (a, b) =
            tokio::join!(one.host.create_mission(one.draft(&key)), two.host.create_mission(two.draft(&key)));
        assert_eq!(a, b);
        let ActorReply::Done { mission: Some(id), .. } = a.unwrap() else { panic!("refused") };
        one.park("c").await.unwrap();
        one.begin("c", &id, "plan", 1).await;
        let completed = Event::Mission { id: id.clone(), event: completion(&id, "plan", 1) };
        let key = format!("completion-{number}");
        let (a, b) = tokio::join!(
            one.apply(Some(&key), "c", completed.clone()),
            two.apply(Some(&key), "c", completed)
        );
        assert_eq!(a, b);
        one.mission("", &id, orange_core::mission::Event::Cancel).await;
    }
    let counts = one.host.counts().await.unwrap();
    assert_eq!(counts.missions, [("cancelled".to_owned(), 20)]);
    let completed = one.kinds(None).await.into_iter().filter(|it| it == "run.completed").count();
    assert_eq!(completed, 20);
}

pub async fn two_handles_make_one_colony_of_a_name(store: TestedStore, folder: &Path) {
    let one = World::new((store.open)(folder)).await;
    let two = World::new((store.open)(folder)).await;
    let new = || NewColony { name: "far".to_owned(), repository: "r".to_owned(), base: Some("b".to_owned()) };
    let (a, b) = tokio::join!(one.host.create_colony(new()), two.host.create_colony(new()));
    assert_eq!(a, b);
    let names: Vec<String> = one.host.colonies().await.unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["far", "home"]);
}

pub async fn of_two_handles_that_sweep_at_once_one_does(store: TestedStore, folder: &Path) {
    let one = World::new((store.open)(folder)).await;
    let two = World::new((store.open)(folder)).await;
    one.register("c", "any").await;
    let id = one.start("one").await;
    one.park("c").await.unwrap();
    for seen in 0..20 {
        one.scheduler(heartbeat("c", &id, "plan", 1)).await;
        let sweep = || SchedulerEvent::Sweep { seen: Some(seen) };
        let replies = tokio::join!(one.scheduler(sweep()), two.scheduler(sweep()));
        let swept = |it: &ActorReply| matches!(it, ActorReply::Done { is_repeated: false, .. });
        let refused = |it: &ActorReply| *it == ActorReply::SchedulerRefused(Refusal::HasSwept);
        assert!(
            swept(&replies.0) && refused(&replies.1) || refused(&replies.0) && swept(&replies.1),
            "{replies:?}"
        );
    }
}
