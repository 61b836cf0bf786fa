//! Lists, searches, counts, records, retention and copies.

use std::path::Path;
use std::sync::Arc;

use orange_core::mission::Event as MissionEvent;
use orange_fleet::host::{HostError, MissionFilter, NewColony, NewMission};

use crate::TestedStore;
use crate::world::{World, step};

async fn ids(world: &World, filter: MissionFilter) -> Vec<String> {
    world.host.missions(filter).await.unwrap().into_iter().map(|it| it.id).collect()
}

fn page(limit: u32, before: Option<&String>) -> MissionFilter {
    MissionFilter { limit, before: before.cloned(), ..MissionFilter::default() }
}

/// The newest first.
async fn missions(world: &World, count: usize) -> Vec<String> {
    let mut made = Vec::new();
    for number in 0..count {
        made.insert(0, world.start(&format!("n{number}")).await);
    }
    made
}

pub async fn pages_have_every_mission_once(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let made = missions(&world, 25).await;
    let mut sorted = made.clone();
    sorted.sort();
    sorted.reverse();
    assert_eq!(made, sorted, "ids rise");
    let mut read: Vec<String> = Vec::new();
    loop {
        let next = ids(&world, page(10, read.last())).await;
        if next.is_empty() {
            break;
        }
        read.extend(next);
        // A mission that is made meanwhile is on no later page.
        world.start(&format!("late {}", read.len())).await;
    }
    assert_eq!(read, made);
}

pub async fn filters_find_what_they_say(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let made = missions(&world, 9).await;
    let new = NewColony { name: "far".to_owned(), repository: "r".to_owned(), base: None };
    let far = world.host.create_colony(new).await.unwrap().id;
    let elsewhere = World { host: world.host.clone(), colony: far.clone() };
    let prompt = "First line\n\nÄpfel: 100% \"quoted\" OR (NEAR) ' and a* -b".to_owned();
    let draft = NewMission { prompt, branch: Some("fix/some_branch".to_owned()), ..elsewhere.draft("far") };
    world.host.create_mission(draft).await.unwrap();
    for id in &made[..3] {
        world.mission("", id, MissionEvent::Cancel).await;
    }
    for id in &made[3..5] {
        world.mission("", id, MissionEvent::Obstruct { reason: "no worktree".to_owned() }).await;
    }
    let of = |statuses: &[&str]| MissionFilter {
        statuses: statuses.iter().map(|it| (*it).to_owned()).collect(),
        limit: 100,
        ..MissionFilter::default()
    };
    assert_eq!(ids(&world, of(&["cancelled"])).await, made[..3]);
    assert_eq!(ids(&world, of(&["paused", "cancelled"])).await, made[..5]);
    assert_eq!(ids(&world, MissionFilter { limit: 2, ..of(&["paused", "cancelled"]) }).await, made[..2]);
    let next = MissionFilter { before: Some(made[1].clone()), limit: 2, ..of(&["paused", "cancelled"]) };
    assert_eq!(ids(&world, next).await, made[2..4]);
    let here = MissionFilter { colony: Some(world.colony.clone()), ..of(&["running"]) };
    assert_eq!(ids(&world, here).await, made[5..]);
    let counts = world.host.counts().await.unwrap();
    let counted = [("cancelled", 3), ("paused", 2), ("running", 5)].map(|(name, n)| (name.to_owned(), n));
    assert_eq!((counts.missions, counts.waiting), (counted.to_vec(), 5));
    let row = &world.host.missions(of(&["paused"])).await.unwrap()[0];
    assert_eq!((row.pause, row.step.as_deref()), (Some(1), None));
    let with = |text: &str| MissionFilter { text: Some(text.to_owned()), ..of(&[]) };
    for found in
        ["äpfel", "Äpfel: 100% \"quoted\" OR (NEAR) ' and a* -b", "some_branch", "FIRST", "\"quoted\"", "fi"]
    {
        let missions = world.host.missions(with(found)).await.unwrap();
        let found_far = missions.iter().any(|it| it.colony == far);
        assert!(found_far && (missions.len() == 1 || found == "fi"), "{found}: {missions:?}");
    }
    for missing in ["somexbranch", "Birnen", "quoted OR missing", "%%%", "___", "\"", "'; drop table mission"]
    {
        assert_eq!(ids(&world, with(missing)).await, [""; 0], "{missing}");
    }
    assert_eq!(ids(&world, with("dev-task")).await.len(), 10);
    let third = MissionFilter { statuses: vec!["paused".to_owned()], ..with("as I say") };
    assert_eq!(ids(&world, third).await, made[3..5]);
}

pub async fn records_have_everything_in_order(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let news = world.host.news();
    let id = world.start("one").await;
    world.start("two").await;
    let all = world.host.records(0, None, 1000).await.unwrap();
    assert!(all.windows(2).all(|pair| pair[0].seq < pair[1].seq && pair[0].time <= pair[1].time));
    assert_eq!(*news.borrow(), all.last().unwrap().seq);
    let rest = world.host.records(all[0].seq, None, 2).await.unwrap();
    assert_eq!(rest, all[1..3]);
    let of_one = world.host.records(0, Some(id.clone()), 1000).await.unwrap();
    assert!(of_one.iter().all(|it| it.mission.as_ref() == Some(&id)));
    assert_eq!(of_one[1].data, serde_json::json!({"step": "plan", "attempt": 1}));
    assert_eq!(world.kinds(None).await[0], "colony.created");
}

pub async fn what_ended_long_ago_is_forgotten(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let made = missions(&world, 5).await;
    for id in &made[..3] {
        world.mission("", id, MissionEvent::Cancel).await;
    }
    assert_eq!(world.host.forget(0).await.unwrap(), 0);
    let newest = *world.host.news().borrow();
    assert_eq!(world.host.forget(i64::MAX).await.unwrap(), 3);
    assert_eq!(ids(&world, page(10, None)).await, made[3..]);
    assert_eq!(
        ids(&world, page(10, Some(&made[0]))).await,
        made[3..],
        "a page may begin after one that is gone"
    );
    let found = MissionFilter { text: Some("Change".to_owned()), ..page(10, None) };
    assert_eq!(ids(&world, found).await, made[3..]);
    assert!(world.host.mission(&made[0]).await.unwrap().is_none());
    assert_eq!(world.host.counts().await.unwrap().missions, [("running".to_owned(), 2)]);
    let records = world.host.records(0, None, 1000).await.unwrap();
    assert!(
        records.iter().all(|it| it.mission.is_none() || made[3..].contains(it.mission.as_ref().unwrap()))
    );
    let later = world.start("later").await;
    assert!(later > made[0]);
    let records = world.host.records(0, Some(later), 1).await.unwrap();
    assert!(records[0].seq > newest, "numbers are never used again");
}

pub async fn a_copy_is_a_store(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    world.register("c", "any").await;
    let made = missions(&world, 3).await;
    world.park("c").await.unwrap();
    let to = folder.join("copies").join("fleet.db");
    match world.host.backup(&to).await {
        Err(HostError::Unsupported(_)) => return,
        done => done.unwrap(),
    }
    let before = world.everything().await;
    world.begin("c", made.last().unwrap(), "plan", 1).await;
    assert_ne!(world.everything().await, before);
    assert!(world.host.backup(&to).await.is_err(), "a copy replaces nothing");
    let copy = World::new((store.open)(to.parent().unwrap())).await;
    assert_eq!(copy.everything().await, before);
    copy.begin("c", made.last().unwrap(), "plan", 1).await;
    copy.complete("c", made.last().unwrap(), "plan", 1).await;
    assert_eq!(copy.stored(made.last().unwrap()).await.mission.step(step("implement")).attempt(), 1);
}

pub async fn a_copy_made_while_others_write_is_whole(store: TestedStore, folder: &Path) {
    let world = Arc::new(World::new((store.open)(folder)).await);
    missions(&world, 20).await;
    let writer = Arc::clone(&world);
    let writing = tokio::spawn(async move {
        for number in 0..60 {
            writer.start(&format!("later {number}")).await;
        }
    });
    for number in 0..3 {
        let to = folder.join(format!("copy-{number}")).join("fleet.db");
        match world.host.backup(&to).await {
            Err(HostError::Unsupported(_)) => return,
            done => done.unwrap(),
        }
        let copy = World::new((store.open)(to.parent().unwrap())).await;
        let all = ids(&copy, page(1000, None)).await;
        let counts = copy.host.counts().await.unwrap();
        assert_eq!(counts.missions, [("running".to_owned(), all.len() as u64)]);
        assert_eq!(counts.waiting, all.len() as u64);
        for id in &all {
            assert_eq!(copy.kinds(Some(id)).await, ["mission.created", "step.queued"]);
            assert_eq!(copy.stored(id).await.runs.len(), 1);
        }
    }
    writing.await.unwrap();
    assert_eq!(world.host.counts().await.unwrap().waiting, 80);
}
