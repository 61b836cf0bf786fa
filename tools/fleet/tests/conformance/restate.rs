//! Tests of Restate alone: several gateways with copies of one log, and a server that goes away.

use std::sync::Arc;
use std::time::Duration;

use orange_fleet::host::restate::RestateHost;
use orange_fleet::host::{Host, HostError, Instruction, MissionFilter, Reply};
use serde_json::json;

use crate::log_server::{LogServer, append, call, length, read, shared};
use crate::server::skip;
use crate::world::{World, opened, until};

/// After how many entries the gateways of these tests shorten the log.
const EVERY: u64 = 8;

fn open(address: &str) -> Arc<dyn Host> {
    opened(|| RestateHost::open_with(&read(address), EVERY))
}

async fn ids(host: &dyn Host) -> Vec<String> {
    let all = MissionFilter { limit: 1000, ..MissionFilter::default() };
    let rows = host.missions(all).await.unwrap();
    rows.into_iter().rev().map(|it| it.id).collect()
}

/// Asks until there is an answer.
async fn made(world: &World, key: &str) -> String {
    loop {
        match world.host.create_mission(world.draft(key)).await {
            Ok(Reply::Done { mission: Some(id), .. }) => return id,
            Err(HostError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_loses_nothing_and_repeats_nothing() {
    // It has a server of its own.
    let Some(server) = LogServer::start() else { return skip("a killed log") };
    let address = server.address();
    let world = World::new(open(&address)).await;
    let mut all = Vec::new();
    for number in 0..40 {
        let killed = match number % 10 {
            3 => Some(LogServer::kill as fn(&LogServer)),
            7 => Some(LogServer::kill_service as fn(&LogServer)),
            _ => None,
        };
        let key = format!("k{number}");
        let (id, ()) = tokio::join!(made(&world, &key), async {
            killed.into_iter().for_each(|kill| kill(&server));
        });
        all.push(id);
    }
    drop(world);
    let world = World::new(open(&address)).await;
    assert_eq!(ids(&*world.host).await, all);
    assert_eq!(world.host.counts().await.unwrap().missions, [("running".to_owned(), 40)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_hears_what_another_one_has_for_its_crabs() {
    let Some(server) = shared() else { return skip("gateways that hear each other") };
    let address = server.address();
    let (one, two) = (World::new(open(&address)).await, World::new(open(&address)).await);
    one.register("c", "any").await;
    one.park("c").await;
    let mut deliveries = two.host.deliveries();
    let id = one.start("one").await;
    let heard = deliveries.recv().await.unwrap();
    assert!(matches!(heard.what, Instruction::Offer(item) if item.mission == id));
    let newest = *one.host.news().borrow();
    until(&*two.host, async || (*two.host.news().borrow() == newest).then_some(())).await;
    assert_eq!(two.everything().await, one.everything().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_log_has_everything_for_a_new_gateway() {
    let Some(server) = shared() else { return skip("a short log") };
    let address = server.address();
    let world = World::new(open(&address)).await;
    let mut all = Vec::new();
    // The colony is the first entry.
    while length(&address) < 3 * EVERY {
        all.push(world.start(&format!("k{}", all.len())).await);
    }
    let image = loop {
        let first = call(&address, "read", &json!({"after": 0, "limit": 1 << 20})).unwrap();
        if let Some(at) = first["image"][0].as_u64() {
            assert_eq!(first["entries"], json!([]), "they are gone");
            break at;
        }
        // It is sent by a thread that nobody waits for.
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(image % EVERY, 0);
    all.push(world.start("later").await);
    let other = World::new(open(&address)).await;
    assert_eq!(ids(&*other.host).await, all);
    assert_eq!(other.everything().await, world.everything().await);
    // A search goes through an index of its own.
    let text = MissionFilter { text: Some("k1".to_owned()), limit: 1000, ..MissionFilter::default() };
    assert_eq!(other.host.missions(text.clone()).await, world.host.missions(text).await);
    assert!(other.start("latest").await > all[all.len() - 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gateways_that_write_at_once_all_come_to_their_turns() {
    let Some(server) = shared() else { return skip("gateways that write at once") };
    let address = server.address();
    let mut worlds = Vec::new();
    for _ in 0..3 {
        worlds.push(World::new(open(&address)).await);
    }
    let made = futures_util::future::join_all(worlds.iter().enumerate().map(|(number, world)| async move {
        let mut made = Vec::new();
        for turn in 0..30 {
            made.push(world.start(&format!("{number} {turn}")).await);
        }
        made
    }))
    .await;
    let mut all = made.concat();
    all.sort();
    for world in &worlds {
        assert_eq!(ids(&*world.host).await, all);
    }
    assert_eq!(worlds[0].everything().await, worlds[2].everything().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_is_sent_twice_is_taken_once() {
    let Some(server) = shared() else { return skip("an entry that is sent twice") };
    let address = server.address();
    let entry = |id: &str| json!({"after": 0, "by": id, "id": id, "entry": "x"});
    assert_eq!(call(&address, "append", &entry("a")), Ok(json!(null)));
    assert_eq!(call(&address, "append", &entry("a")), Ok(json!(null)), "its answer was lost");
    let late = call(&address, "append", &entry("b")).unwrap();
    assert_eq!((&late["length"], &late["entries"]), (&json!(1), &json!(["x"])));
    assert_eq!(length(&address), 1);
    assert!(call(&address, "append", &json!({"later": true})).unwrap_err().contains("400"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_begins_again_with_a_log_that_does() {
    let Some(server) = shared() else { return skip("a log that begins again") };
    let address = server.address();
    let before = World::new(open(&address)).await;
    let gone = before.start("one").await;
    server.forget(&address);
    assert_eq!(ids(&*before.host).await, [""; 0]);
    let world = World::new(Arc::clone(&before.host)).await;
    assert_ne!(world.colony, before.colony);
    let id = world.start("one").await;
    assert_ne!(id, gone);
    // Another log may be as long as the one before it, too.
    server.forget(&address);
    let other = World::new(open(&address)).await;
    let later = other.start("two").await;
    assert_eq!((length(&address), ids(&*world.host).await), (2, vec![later]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_used_is_refused_with_the_reason() {
    let Some(server) = shared() else { return skip("what cannot be used") };
    let refused = |address: &str| match RestateHost::open(&read(address)) {
        Err(HostError::Unavailable(why) | HostError::Corrupt(why)) => why,
        other => panic!("{other:?}"),
    };
    let why = refused("restate://127.0.0.1:1/x");
    assert!(why.contains("no Restate server answers at 127.0.0.1:1"), "{why}");
    for (entry, part) in [
        (json!({"v": 2, "by": "newer", "ops": []}), "version 2"),
        (json!({"v": 1, "by": "newer", "ops": [{"fold": 1}]}), "fold"),
        (json!({"v": 1, "by": "newer", "ops": [{"write": {"folds": 1}}]}), "folds"),
    ] {
        let address = server.address();
        let world = World::new(open(&address)).await;
        append(&address, &entry);
        let why = refused(&address);
        assert!(why.contains(part) && why.contains("upgrade orange-fleet"), "{why}");
        // A gateway that was there before does not go on without it.
        assert!(matches!(world.host.counts().await, Err(HostError::Corrupt(_))));
        let made = world.host.create_mission(world.draft("k")).await;
        assert!(matches!(made, Err(HostError::Corrupt(_))), "{made:?}");
    }
}
