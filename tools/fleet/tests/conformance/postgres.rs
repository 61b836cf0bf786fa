//! Tests of Postgres alone: several gateways at once, and a database that goes away.

use std::path::Path;
use std::sync::Arc;

use orange_fleet::host::postgres::PostgresHost;
use orange_fleet::host::{ActorReply, Host, HostError, Instruction};

use crate::server::{PostgresServer, read, skip, sql};
use crate::world::{World, opened};

fn open(address: &str) -> Arc<dyn Host> {
    opened(|| PostgresHost::open(&read(address)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_database_loses_nothing_and_repeats_nothing() {
    // It has a server of its own.
    let Some(server) = PostgresServer::start() else { return skip("a killed database") };
    let address = server.database();
    let world = World::new(open(&address)).await;
    let mut made = Vec::new();
    for number in 0..40 {
        if number % 10 == 5 {
            server.kill();
        }
        let draft = world.draft(&format!("k{number}"));
        let id = loop {
            match world.host.create_mission(draft.clone()).await {
                Ok(ActorReply::Done { mission: Some(id), .. }) => break id,
                Err(HostError::Unavailable(_)) => tokio::task::yield_now().await,
                other => panic!("{other:?}"),
            }
        };
        made.push(id);
    }
    let ids = sql(&address, "select id from orange_fleet.mission order by seq").unwrap();
    assert_eq!(ids, made);
    assert_eq!(world.host.counts().await.unwrap().missions, [("running".to_owned(), 40)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gateways_hear_each_other_again_after_a_lost_connection() {
    let Some(server) = crate::server::shared() else { return skip("gateways that hear each other") };
    let address = server.database();
    let (one, two) = (World::new(open(&address)).await, World::new(open(&address)).await);
    one.register("c", "any").await;
    for round in 0..2 {
        let mut deliveries = two.host.deliveries();
        let mut id = String::new();
        // The offer is a hint: it is repeated until the other gateway listens.
        let heard = loop {
            if id.is_empty() {
                id = one.start(&format!("round {round}")).await;
            }
            one.park("c").await;
            let wait = std::time::Duration::from_millis(200);
            if let Ok(heard) = tokio::time::timeout(wait, deliveries.recv()).await {
                break heard.unwrap();
            }
        };
        assert!(matches!(heard.what, Instruction::Offer(item) if item.mission == id), "round {round}");
        one.mission("", &id, orange_core::mission::Event::Cancel).await;
        sql(&address, "select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen orange_fleet' or query like 'select record from store%' and datname = current_database()").unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_hangs_loses_its_lock() {
    let Some(server) = crate::server::shared() else { return skip("a transaction that hangs") };
    let address = server.database();
    let world = World::new(open(&address)).await;
    let (client, connection) = tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    // As a gateway that was stopped in the middle.
    let hang =
        "set idle_in_transaction_session_timeout = '5s'; begin; select pg_advisory_xact_lock(1332899431, 1)";
    client.batch_execute(hang).await.unwrap();
    world.start("after it").await;
    assert!(client.simple_query("commit").await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_used_is_refused_with_the_reason() {
    let Some(server) = crate::server::shared() else { return skip("what cannot be used") };
    let refused = |address: &str| match PostgresHost::open(&read(address)) {
        Err(HostError::Unavailable(why) | HostError::Corrupt(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(&server.address("nothing")).contains("createdb"));
    assert!(refused("postgres://a@127.0.0.1:1/x").contains("look whether it runs"));
    let address = server.database();
    drop(open(&address));
    sql(&address, "update orange_fleet.store set version = 99").unwrap();
    assert!(refused(&address).contains("version 99"));
    let address = server.database();
    let unsupported = open(&address).backup(Path::new("/nowhere")).await;
    assert!(matches!(unsupported, Err(HostError::Unsupported(why)) if why.contains("pg_dump")));
}
