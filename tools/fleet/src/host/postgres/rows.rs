//! The rows of a unit of work in Postgres.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::{try_join, try_join4};
use orange_core::plan::StepId;
use orange_core::scheduler::{Item, Waiting};
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::address::Address;
use super::session::{PATIENCE, PostgresSession, broken, is_about_data, silent};
use super::{read, schema, write};
use crate::host::packed::Packed;
use crate::host::unit_of_work::{
    AnsweredCall, Begun, ColonyFound, Ended, Failed, MissionFound, Newest, PAGE, Rows, Writes,
};
use crate::host::{Colony, HostError, Millis, OpenQuestion, TextOf};

/// The columns of [`waiting_of`].
const WAITING: &str = "w.lane, w.ticket, w.mission, w.step, w.attempt, w.version";

/// Time in which a connection lost since the last transaction has to be noticed, for the new transaction to begin on another one.
const SOON: Duration = Duration::from_secs(1);

/// The connection that writes.
pub(super) struct PostgresRows {
    address: Address,
    runtime: Runtime,
    session: Option<PostgresSession>,
    /// Unique name of this process in its notices to others.
    name: String,
    /// The number of the last transaction that is known.
    turn: Option<i64>,
    newest: Newest,
    /// This transaction has to raise the number.
    is_dirty: bool,
}

impl PostgresRows {
    /// Opens the store at this address, and makes it if there is none.
    pub(super) fn open(address: Address, name: String) -> Result<PostgresRows, HostError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| HostError::Unavailable(cause.to_string()))?;
        let session = runtime.block_on(connected(&address))?;
        let mut rows = PostgresRows {
            address,
            runtime,
            session: Some(session),
            name,
            turn: None,
            newest: Newest::default(),
            is_dirty: false,
        };
        // A transaction that begins learns the newest of everything.
        let begun = rows.begin(&[]);
        rows.rollback();
        begun.map_err(Failed::into_error)?;
        Ok(rows)
    }

    /// Asks the database something in the present transaction.
    fn ask<T>(&mut self, ask: impl AsyncFnOnce(&PostgresSession) -> Result<T, Error>) -> Result<T, Failed> {
        let Some(session) = &self.session else {
            let why = "the connection to the database is lost".to_owned();
            return Err(Failed::Store(HostError::Unavailable(why)));
        };
        let answer = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, ask(session)).await });
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(cause)) => {
                if session.is_lost(&cause) {
                    self.session = None;
                }
                Err(match is_about_data(&cause) {
                    true => Failed::Call(HostError::Corrupt(cause.to_string())),
                    false => Failed::Store(broken(&cause)),
                })
            }
            Err(_) => {
                self.session = None;
                Err(Failed::Store(silent()))
            }
        }
    }

    fn begin_once(&mut self, keys: &[String]) -> Result<(Row, Vec<Row>), Failed> {
        if self.session.is_none() {
            self.session = Some(self.runtime.block_on(connected(&self.address)).map_err(Failed::Store)?);
        }
        self.ask(async |session| {
            let lock = session.statement(schema::LOCK).await?;
            let store = "select version, turn, mission, record, newest, \
                         (extract(epoch from clock_timestamp()) * 1000)::bigint from store";
            let store = session.statement(store).await?;
            let calls = session.statement("select key, hash, outcome from call where key = any($1)").await?;
            let client = &session.client;
            // Each sees what was committed before the lock was free.
            let begin = client.batch_execute("begin");
            let (_, _, store, calls) = try_join4(
                begin,
                client.execute(&lock, &[]),
                client.query_one(&store, &[]),
                client.query(&calls, &[&keys]),
            )
            .await?;
            Ok((store, calls))
        })
    }
}

/// A connection to a store with tables of this version.
async fn connected(address: &Address) -> Result<PostgresSession, HostError> {
    let session = PostgresSession::open(address).await?;
    match tokio::time::timeout(PATIENCE, schema::migrate(&session.client)).await {
        Ok(migrated) => migrated.map(|()| session),
        Err(_) => Err(silent()),
    }
}

impl Rows for PostgresRows {
    fn begin(&mut self, keys: &[String]) -> Result<Begun, Failed> {
        let since = Instant::now();
        let had_session = self.session.is_some();
        let mut begun = self.begin_once(keys);
        // The connection was lost since the last transaction: nothing has happened yet.
        if begun.is_err() && had_session && self.session.is_none() && since.elapsed() < SOON {
            begun = self.begin_once(keys);
        }
        let (store, calls) = begun?;
        schema::understood(store.get(0)).map_err(Failed::Store)?;
        let turn: i64 = store.get(1);
        let is_changed = self.turn != Some(turn);
        self.turn = Some(turn);
        self.newest = Newest { mission: number(&store, 2), record: number(&store, 3), id: store.get(4) };
        self.is_dirty = false;
        let calls = calls
            .into_iter()
            .map(|row| (row.get::<_, String>(0), AnsweredCall { hash: row.get(1), outcome: row.get(2) }));
        Ok(Begun { now: store.get(5), is_changed, calls: calls.collect() })
    }

    fn newest(&mut self) -> Result<Newest, Failed> {
        Ok(self.newest.clone())
    }

    fn missions(&mut self, ids: &[String]) -> Result<Vec<MissionFound>, Failed> {
        let select = "select id, seq, colony, plan, version, state, tip from mission where id = any($1)";
        let (rows, waiting) = self.ask(async |session| {
            let (missions, waiting) =
                (session.statement(select).await?, session.statement(&waiting()).await?);
            let (client, values): (_, [&(dyn ToSql + Sync); 1]) = (&session.client, [&ids]);
            try_join(client.query(&missions, &values), client.query(&waiting, &values)).await
        })?;
        let mut waiting = by_mission(&waiting);
        let found = rows.into_iter().map(|row| {
            let id: String = row.get(0);
            MissionFound {
                waiting: waiting.remove(&id).unwrap_or_default(),
                id,
                seq: number(&row, 1),
                colony: row.get(2),
                plan: row.get(3),
                version: number(&row, 4),
                state: row.get::<_, String>(5).into_bytes(),
                tip: row.get(6),
            }
        });
        Ok(found.collect())
    }

    fn colony(&mut self, id: &str) -> Result<Option<ColonyFound>, Failed> {
        // From lane to lane by the index, however many steps wait.
        let heads = format!(
            "with recursive lane(name) as ( \
               select min(lane) from waiting where colony = $1 \
               union all \
               select (select min(lane) from waiting where colony = $1 and lane > name) from lane where name is not null \
             ) select {WAITING} from lane cross join lateral \
               (select * from waiting w where w.colony = $1 and w.lane = name order by w.ticket, w.step limit {PAGE}) w \
             where name is not null order by w.lane, w.ticket, w.step"
        );
        let (found, heads) = self.ask(async |session| {
            let select = session.statement("select version, state from colony where id = $1").await?;
            let heads = session.statement(&heads).await?;
            let (client, id) = (&session.client, &id);
            let params: [&(dyn ToSql + Sync); 1] = [id];
            try_join(client.query_opt(&select, &params), client.query(&heads, &params)).await
        })?;
        let Some(row) = found else { return Ok(None) };
        let mut waiting: BTreeMap<String, Vec<Waiting>> = BTreeMap::new();
        for it in heads.iter().map(waiting_of) {
            waiting.entry(it.item.lane()).or_default().push(it);
        }
        let state = row.get::<_, String>(1).into_bytes();
        Ok(Some(ColonyFound { version: number(&row, 0), state, waiting }))
    }

    fn colony_named(&mut self, name: &str) -> Result<Option<Colony>, Failed> {
        let select = format!("select {} from colony where name = $1", read::COLONY);
        let row = self.ask(async |it| it.client.query_opt(&it.statement(&select).await?, &[&name]).await)?;
        Ok(row.as_ref().map(read::colony_of))
    }

    fn mission_on(&mut self, colony: &str, branch: &str) -> Result<Option<String>, Failed> {
        let select = "select id from mission where colony = $1 and branch = $2 order by seq desc limit 1";
        let row = self
            .ask(async |it| it.client.query_opt(&it.statement(select).await?, &[&colony, &branch]).await)?;
        Ok(row.map(|row| row.get(0)))
    }

    fn waiting(&mut self, colony: &str, lane: &str) -> Result<Vec<Waiting>, Failed> {
        let select = format!(
            "select {WAITING} from waiting w where w.colony = $1 and w.lane = $2 \
             order by w.ticket, w.step limit {PAGE}"
        );
        let rows =
            self.ask(async |it| it.client.query(&it.statement(&select).await?, &[&colony, &lane]).await)?;
        Ok(rows.iter().map(waiting_of).collect())
    }

    fn plan(&mut self, hash: &str) -> Result<Option<String>, Failed> {
        let row =
            self.ask(async |it| it.client.query_opt(&it.statement(read::PLAN).await?, &[&hash]).await)?;
        Ok(row.map(|it| it.get(0)))
    }

    fn alarms(&mut self) -> Result<Vec<(String, String)>, Failed> {
        let rows = self.ask(async |it| it.client.query("select kind, id from alarm", &[]).await)?;
        Ok(rows.into_iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    fn end_alarm(&mut self, kind: &str, id: &str) -> Result<(), Failed> {
        self.is_dirty = true;
        let delete = "delete from alarm where kind = $1 and id = $2";
        self.ask(async |it| it.client.execute(delete, &[&kind, &id]).await).map(drop)
    }

    fn asked(&mut self, question: &OpenQuestion, now: Millis) -> Result<Option<Millis>, Failed> {
        let select = "select coalesce(started, queued) from run \
             where mission = $1 and step = $2 and attempt = $3 and due <= $4 and ended is null";
        let (step, attempt) = (i32::from(question.step.0), i64::from(question.attempt));
        let row = self.ask(async |it| {
            let statement = it.statement(select).await?;
            it.client.query_opt(&statement, &[&question.mission, &step, &attempt, &now]).await
        })?;
        Ok(row.map(|row| row.get(0)))
    }

    fn ended(&mut self, before: Millis, limit: usize) -> Result<Vec<Ended>, Failed> {
        let select = "select seq, id, colony, status from mission where ended < $1 order by ended limit $2";
        let limit = limit as i64;
        let rows =
            self.ask(async |it| it.client.query(&it.statement(select).await?, &[&before, &limit]).await)?;
        let ids: Vec<String> = rows.iter().map(|row| row.get(1)).collect();
        let waiting =
            self.ask(async |it| it.client.query(&it.statement(&waiting()).await?, &[&ids]).await)?;
        let mut waiting = by_mission(&waiting);
        let ended = rows.into_iter().zip(ids).map(|(row, id)| Ended {
            seq: number(&row, 0),
            waiting: waiting.remove(&id).unwrap_or_default(),
            id,
            colony: row.get(2),
            status: row.get(3),
        });
        Ok(ended.collect())
    }

    fn keep_text(&mut self, of: &TextOf, packed: &Packed) -> Result<bool, Failed> {
        self.is_dirty = true;
        let upsert = "insert into attempt_text (mission, step, attempt, kind, length, body) \
                      select mission, step, attempt, $4, $5, $6 from run where mission = $1 and step = $2 and attempt = $3 \
                      on conflict (mission, step, attempt, kind) do update set length = excluded.length, body = excluded.body";
        let (step, attempt) = (i32::from(of.step.0), i64::from(of.attempt));
        let (kind, length) = (of.kind.as_str(), i64::from(packed.length));
        let kept = self.ask(async |it| {
            it.client.execute(upsert, &[&of.mission, &step, &attempt, &kind, &length, &packed.body]).await
        })?;
        Ok(kept > 0)
    }

    fn remove(&mut self, missions: &[Ended]) -> Result<(), Failed> {
        self.is_dirty = true;
        let numbers: Vec<i64> = missions.iter().map(|it| it.seq as i64).collect();
        let ids: Vec<&str> = missions.iter().map(|it| it.id.as_str()).collect();
        self.ask(async |it| {
            it.client.execute("delete from mission where seq = any($1)", &[&numbers]).await?;
            it.client.execute("delete from prompt where mission = any($1)", &[&numbers]).await?;
            for delete in [
                "delete from run where mission = any($1)",
                "delete from attempt_text where mission = any($1)",
                "delete from record where mission = any($1)",
                "delete from alarm where kind = 'mission' and id = any($1)",
            ] {
                it.client.execute(delete, &[&ids]).await?;
            }
            Ok(())
        })
    }

    fn remove_rest(&mut self, calls: Millis, records: Millis, limit: usize) -> Result<usize, Failed> {
        self.is_dirty = true;
        let limit = limit as i64;
        let most = self.ask(async |it| {
            let old_calls = "delete from call where key in (select key from call where time < $1 limit $2)";
            let old_records = "delete from record where seq in \
                               (select seq from record where mission is null and time < $1 limit $2)";
            let plans =
                "delete from plan where not exists (select 1 from mission where mission.plan = plan.hash)";
            let calls = it.client.execute(old_calls, &[&calls, &limit]).await?;
            let records = it.client.execute(old_records, &[&records, &limit]).await?;
            it.client.execute(plans, &[]).await?;
            Ok(calls.max(records))
        })?;
        Ok(usize::try_from(most).unwrap_or(usize::MAX))
    }

    fn write(&mut self, writes: &Writes) -> Result<(), Failed> {
        if !self.is_dirty && writes.is_empty() {
            return Ok(());
        }
        self.is_dirty = true;
        let turn = self.turn.unwrap_or(0) + 1;
        let name = self.name.clone();
        self.ask(async |session| write::write(session, writes, turn, &name).await)
    }

    fn commit(&mut self) -> Result<(), Failed> {
        let committed = self.ask(async |it| it.client.batch_execute("commit").await);
        if committed.is_ok() && std::mem::take(&mut self.is_dirty) {
            self.turn = self.turn.map(|it| it + 1);
        }
        committed
    }

    fn rollback(&mut self) {
        self.turn = None;
        self.is_dirty = false;
        if self.ask(async |it| it.client.batch_execute("rollback").await).is_err() {
            self.session = None;
        }
    }
}

fn number(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).unsigned_abs()
}

/// The question for the waiting steps of missions.
fn waiting() -> String {
    format!("select {WAITING} from waiting w where w.mission = any($1) order by w.ticket, w.step")
}

fn by_mission(rows: &[Row]) -> BTreeMap<String, Vec<Waiting>> {
    let mut found: BTreeMap<String, Vec<Waiting>> = BTreeMap::new();
    for it in rows.iter().map(waiting_of) {
        found.entry(it.item.mission.clone()).or_default().push(it);
    }
    found
}

fn waiting_of(row: &Row) -> Waiting {
    let step = StepId(u16::try_from(row.get::<_, i32>(3)).unwrap_or(u16::MAX));
    let attempt = u32::try_from(row.get::<_, i64>(4)).unwrap_or(u32::MAX);
    let item = Item::of_lane(row.get(0), row.get(2), step, attempt);
    Waiting { item, ticket: number(row, 1), version: number(row, 5) }
}
