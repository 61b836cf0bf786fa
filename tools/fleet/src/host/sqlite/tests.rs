//! Tests of what only this host has: its file, its versions, its groups of calls, and its searches for rows.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use orange_core::plan::{Policy, StepId};
use orange_core::scheduler::{Ability, Event as SchedulerEvent};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::rows::SqliteRows;
use super::{SqliteHost, connect, filter, schema, text};
use crate::host::unit_of_work::{Failed, UnitOfWork, WriterAnswer, WriterJob, WriterRequest, answers};
use crate::host::{
    ActorCall, ActorReply, CallDetails, Event, HostError, MissionFilter, NewColony, NewMission, TextKind,
    TextOf, packed,
};
use crate::plans::PLANS;

fn unit(folder: &Path) -> UnitOfWork<SqliteRows> {
    let mut connection = connect(&folder.join("fleet.db")).unwrap();
    schema::migrate(&mut connection).unwrap();
    UnitOfWork::new(SqliteRows::new(connection)).unwrap()
}

fn refused(path: &Path) -> String {
    match SqliteHost::open(path) {
        Err(HostError::Corrupt(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn colony(name: &str) -> WriterRequest {
    WriterRequest::Colony(NewColony { name: name.to_owned(), repository: "r".to_owned(), base: None })
}

fn mission(colony: &str, key: &str) -> WriterRequest {
    WriterRequest::Mission(NewMission {
        key: Some(key.to_owned()),
        colony: colony.to_owned(),
        plan: PLANS[0],
        prompt: format!("do {key}"),
        branch: None,
        policy: Policy::DEFAULT,
        inputs: Default::default(),
    })
}

fn register(colony: &str) -> WriterRequest {
    let (roles, abilities) = (vec!["any".to_owned()], Ability::ALL.into_iter().collect());
    let event = SchedulerEvent::Register { crab: "c".to_owned(), roles, abilities };
    let event = Event::Scheduler { id: colony.to_owned(), event };
    WriterRequest::Call(Box::new(ActorCall { key: None, event, about: CallDetails::default() }))
}

/// The answers to a group of calls, in its order.
fn group(
    unit: &mut UnitOfWork<SqliteRows>,
    requests: Vec<WriterRequest>,
) -> Vec<Result<WriterAnswer, HostError>> {
    let mut callers = Vec::new();
    let mut jobs = Vec::new();
    for request in requests {
        let (reply, caller) = oneshot::channel();
        jobs.push(WriterJob { request, reply });
        callers.push(caller);
    }
    for (reply, answer) in answers(unit, jobs) {
        reply.send(answer).unwrap();
    }
    callers.iter_mut().map(|it| it.try_recv().unwrap()).collect()
}

fn made(unit: &mut UnitOfWork<SqliteRows>, name: &str) -> String {
    match group(unit, vec![colony(name)]).remove(0) {
        Ok(WriterAnswer::Colony(colony)) => colony.id,
        other => panic!("{other:?}"),
    }
}

fn is_done(answer: &Result<WriterAnswer, HostError>) -> bool {
    matches!(answer, Ok(WriterAnswer::Reply(ActorReply::Done { .. })))
}

fn number(connection: &Connection, select: &str) -> i64 {
    connection.query_row(select, [], |row| row.get(0)).unwrap()
}

#[test]
fn the_file_of_a_newer_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep").join("fleet.db");
    drop(SqliteHost::open(&path).unwrap());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    let why = refused(&path);
    assert!(why.contains("version 99") && why.contains("Upgrade orange-fleet"), "{why}");
    connection.pragma_update(None, "user_version", 2).unwrap();
    drop(SqliteHost::open(&path).unwrap());
}

#[test]
fn the_file_of_an_older_program_becomes_one_of_this_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("schema-1.sql")).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection.pragma_update(None, "application_id", 0x4f72_6e67).unwrap();
    let insert = "insert into run (mission, step, attempt, queued) values ('m', 0, 1, 7)";
    connection.execute(insert, []).unwrap();
    let insert = "insert into waiting (colony, role, ticket, mission, step, attempt, version) values ('c', 'worker', 1, 'm', 0, 1, 1)";
    connection.execute(insert, []).unwrap();
    drop(SqliteHost::open(&path).unwrap());
    assert_eq!(number(&connection, "select count(*) from waiting where lane = 'worker'"), 1);
    let kept = "select count(*) from run where queued = 7 and due is null";
    assert_eq!((number(&connection, "pragma user_version"), number(&connection, kept)), (2, 1));
    assert_eq!(number(&connection, "select count(*) from mission where asks is null and tip is null"), 0);
}

#[test]
fn a_text_belongs_to_an_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    let insert = "insert into run (mission, step, attempt, queued) values ('m', 0, 1, 5)";
    unit.rows.connection.execute(insert, []).unwrap();
    let of = |attempt| TextOf { mission: "m".to_owned(), step: StepId(0), attempt, kind: TextKind::Diff };
    let texts =
        [1, 2].map(|attempt| WriterRequest::Text(Box::new((of(attempt), packed::pack("text").unwrap()))));
    let answers = group(&mut unit, texts.into());
    assert!(
        matches!(answers[..], [Ok(WriterAnswer::Done(true)), Ok(WriterAnswer::Done(false))]),
        "{answers:?}"
    );
    assert_eq!(text::text(&unit.rows.connection, &of(1)).unwrap().as_deref(), Some("text"));
}

#[test]
fn the_file_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("create table notes (text)").unwrap();
    let why = refused(&path);
    assert!(why.contains("another program"), "{why}");
    assert_eq!(number(&connection, "select count(*) from sqlite_schema"), 1);
    let text = folder.path().join("text");
    std::fs::write(&text, "no database at all, but a text of some length, so that a header could be there")
        .unwrap();
    assert!(matches!(SqliteHost::open(&text), Err(HostError::Corrupt(_))));
}

#[test]
fn a_commit_is_on_the_disk_when_it_returns() {
    let folder = tempfile::tempdir().unwrap();
    let unit = unit(folder.path());
    assert_eq!(number(&unit.rows.connection, "pragma synchronous"), 2, "full");
    let mode: String = unit.rows.connection.query_row("pragma journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn a_call_that_fails_leaves_the_others_of_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    let (sound, damaged) = (made(&mut unit, "sound"), made(&mut unit, "damaged"));
    let other = Connection::open(folder.path().join("fleet.db")).unwrap();
    other.execute("update colony set state = '{\"v\":7}' where id = ?1", [&damaged]).unwrap();
    let requests = vec![
        mission(&sound, "a"),
        register(&damaged),
        mission(&sound, "b"),
        mission(&damaged, "c"),
        mission("nowhere", "d"),
        mission(&sound, "a"),
    ];
    let answers = group(&mut unit, requests);
    assert!(is_done(&answers[0]) && is_done(&answers[2]) && is_done(&answers[5]), "{answers:?}");
    for failed in [&answers[1], &answers[3]] {
        let Err(HostError::Corrupt(why)) = failed else { panic!("{failed:?}") };
        assert!(why.contains("version 7"), "{why}");
    }
    assert!(matches!(answers[4], Ok(WriterAnswer::Reply(ActorReply::NotFound))));
    assert_eq!(number(&other, "select count(*) from mission"), 2);
    assert_eq!(number(&other, "select n from tally where kind = 'waiting'"), 2);
    assert_eq!(number(&other, "select count(*) from alarm where kind = 'scheduler'"), 1);
    assert_eq!(number(&other, "select version from colony where name = 'damaged'"), 0);
}

#[test]
fn a_full_disk_loses_nothing_and_the_same_call_works_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    let colony = made(&mut unit, "home");
    assert!(is_done(&group(&mut unit, vec![mission(&colony, "a")])[0]));
    let pages = number(&unit.rows.connection, "pragma page_count");
    unit.rows.connection.pragma_update(None, "max_page_count", pages).unwrap();
    let mut full = 0;
    let mut keys = Vec::new();
    while full < 3 {
        let key = format!("k{}", keys.len());
        match group(&mut unit, vec![mission(&colony, &key)]).remove(0) {
            Err(HostError::Unavailable(why)) => {
                assert!(why.contains("full"), "{why}");
                full += 1;
            }
            answer => assert!(is_done(&answer), "{answer:?}"),
        }
        keys.push(key);
    }
    unit.rows.connection.pragma_update(None, "max_page_count", pages + 1000).unwrap();
    let again = group(&mut unit, keys.iter().map(|key| mission(&colony, key)).collect());
    assert!(again.iter().all(is_done), "{again:?}");
    let all = keys.len() as i64 + 1;
    assert_eq!(number(&unit.rows.connection, "select count(*) from mission"), all);
    assert_eq!(number(&unit.rows.connection, "select sum(n) from tally where kind = 'mission'"), all);
    assert_eq!(number(&unit.rows.connection, "select count(*) from waiting"), all);
    assert_eq!(number(&unit.rows.connection, "select count(distinct ticket) from waiting"), all);
}

#[test]
fn what_another_process_writes_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (unit(folder.path()), unit(folder.path()));
    let colony = made(&mut one, "home");
    for turn in 0..4 {
        let unit = if turn % 2 == 0 { &mut one } else { &mut two };
        assert!(is_done(&group(unit, vec![mission(&colony, &turn.to_string())])[0]));
    }
    let distinct = "select count(distinct ticket) from waiting";
    assert_eq!(number(&one.rows.connection, distinct), 4);
    assert_eq!(
        one.newest() as i64,
        number(
            &one.rows.connection,
            "select max(seq) from record where mission = \
        (select id from mission where seq = 3)"
        )
    );
}

#[test]
fn a_transaction_that_fails_leaves_nothing_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    let colony = made(&mut unit, "home");
    let newest = unit.newest();
    let failed = unit.transaction(std::iter::empty(), |unit| {
        assert!(is_done(&unit.handle(mission(&colony, "a"))?));
        Err::<(), _>(Failed::Store(HostError::Unavailable("a test".to_owned())))
    });
    assert!(matches!(failed, Err(Failed::Store(_))));
    assert_eq!((unit.newest(), unit.deliveries().len(), unit.loaded()), (newest, 0, 0));
    assert!(is_done(&group(&mut unit, vec![mission(&colony, "a")])[0]));
    assert_eq!(number(&unit.rows.connection, "select count(*) from mission"), 1);
    assert_eq!(number(&unit.rows.connection, "select sum(n) from tally"), 2);
}

/// Whatever is listed, SQLite goes through an index, in its order: a page costs the same however much there is.
#[test]
fn every_list_goes_through_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let mut unit = unit(folder.path());
    let colony = made(&mut unit, "home");
    let statuses = [Vec::new(), vec!["paused".to_owned()]];
    for statuses in statuses {
        for (colony, text) in
            [(None, None), (Some(colony.clone()), None), (None, Some("some text".to_owned()))]
        {
            let filter = MissionFilter {
                colony,
                statuses: statuses.clone(),
                text,
                asks: false,
                before: None,
                limit: 9,
            };
            let (select, _) = filter::query(&filter, Some(5));
            has_no_scan(&unit.rows.connection, &select, &filter);
        }
    }
    for select in [
        "select 1 from waiting where colony = ?1 and lane = ?2 order by ticket, step limit 1",
        "select min(lane) from waiting where colony = ?1 and lane > ?2",
        "select 1 from waiting where mission = ?1",
        "select 1 from mission where id = ?1",
        "select 1 from run where mission = ?1 order by mission",
        "delete from attempt_text where mission = ?1",
        "select 1 from record where mission = ?1 and seq > ?2 order by seq limit 9",
        "select seq from record where mission is null and time < ?1 limit ?2",
        "select key from call where time < ?1 limit ?2",
        "select seq from mission where status in ('completed', 'failed', 'cancelled') and updated < ?1 order by updated limit ?2",
    ] {
        has_no_scan(&unit.rows.connection, select, &MissionFilter::default());
    }
}

fn has_no_scan(connection: &Connection, select: &str, filter: &MissionFilter) {
    let mut explain = connection.prepare(&format!("explain query plan {select}")).unwrap();
    let count = explain.parameter_count();
    let rows = explain
        .query_map(rusqlite::params_from_iter(vec![rusqlite::types::Value::Null; count]), |row| {
            row.get::<_, String>(3)
        })
        .unwrap();
    let plan: Vec<String> = rows.map(Result::unwrap).collect();
    let is_slow = |line: &&String| {
        (line.starts_with("SCAN mission") || line.starts_with("SCAN m") || line.starts_with("SCAN waiting"))
            || line.starts_with("SCAN record")
            || line.starts_with("SCAN call")
            || line.starts_with("SCAN attempt_text")
    };
    assert_eq!(plan.iter().find(is_slow), None, "{select}\n{filter:?}\n{plan:#?}");
}
