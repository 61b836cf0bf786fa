//! The rows of a unit of work in SQLite.

use std::collections::BTreeMap;

use orange_core::plan::StepId;
use orange_core::scheduler::{Item, Waiting};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};

use super::{broken, read};
use crate::fault;
use crate::host::packed::Packed;
use crate::host::unit_of_work::{
    AnsweredCall, Begun, ColonyFound, Ended, Failed, MissionFound, Newest, PAGE, Rows, Writes,
};
use crate::host::{Colony, Millis, OpenQuestion, TextOf};

/// The columns of [`waiting_of`].
const WAITING: &str = "w.lane, w.ticket, w.mission, w.step, w.attempt, w.version";

/// The connection that writes.
pub(super) struct SqliteRows {
    pub(super) connection: Connection,
    /// SQLite's number for what others have written, as it was in the last transaction that was not undone.
    others: Option<i64>,
}

impl SqliteRows {
    pub(super) fn new(connection: Connection) -> SqliteRows {
        SqliteRows { connection, others: None }
    }

    fn call(&self, key: &str) -> rusqlite::Result<Option<(String, AnsweredCall)>> {
        let select = "select hash, outcome from call where key = ?1";
        let mut select = self.connection.prepare_cached(select)?;
        let read = |row: &Row<'_>| Ok(AnsweredCall { hash: row.get(0)?, outcome: row.get(1)? });
        Ok(select.query_row([key], read).optional()?.map(|it| (key.to_owned(), it)))
    }

    fn mission(&self, id: &str) -> rusqlite::Result<Option<MissionFound>> {
        let select = "select id, seq, colony, plan, version, state, tip from mission where id = ?1";
        let read = |row: &Row<'_>| {
            Ok(MissionFound {
                id: row.get(0)?,
                seq: unsigned(row, 1)?,
                colony: row.get(2)?,
                plan: row.get(3)?,
                version: unsigned(row, 4)?,
                state: text(row, 5)?,
                tip: row.get(6)?,
                waiting: self.waiting_of_mission(id)?,
            })
        };
        self.connection.prepare_cached(select)?.query_row([id], read).optional()
    }

    fn waiting_of_mission(&self, id: &str) -> rusqlite::Result<Vec<Waiting>> {
        let select =
            format!("select {WAITING} from waiting w where w.mission = ?1 order by w.ticket, w.step");
        let mut select = self.connection.prepare_cached(&select)?;
        select.query_map([id], waiting_of)?.collect()
    }

    /// The first waiting steps of each lane. It goes from lane to lane by the index, however many steps wait.
    fn all_waiting(&self, colony: &str) -> rusqlite::Result<BTreeMap<String, Vec<Waiting>>> {
        let next = "select min(lane) from waiting where colony = ?1 and lane > ?2";
        let first = "select min(lane) from waiting where colony = ?1";
        let mut lane: Option<String> =
            self.connection.prepare_cached(first)?.query_row([colony], |row| row.get(0))?;
        let mut waiting = BTreeMap::new();
        while let Some(name) = lane {
            lane = self.connection.prepare_cached(next)?.query_row((colony, &name), |row| row.get(0))?;
            waiting.insert(name.clone(), self.first_waiting(colony, &name)?);
        }
        Ok(waiting)
    }

    fn first_waiting(&self, colony: &str, lane: &str) -> rusqlite::Result<Vec<Waiting>> {
        let select = format!(
            "select {WAITING} from waiting w where w.colony = ?1 and w.lane = ?2 \
             order by w.ticket, w.step limit {PAGE}"
        );
        let mut select = self.connection.prepare_cached(&select)?;
        select.query_map((colony, lane), waiting_of)?.collect()
    }
}

impl Rows for SqliteRows {
    fn begin(&mut self, keys: &[String]) -> Result<Begun, Failed> {
        self.connection.execute_batch("begin immediate")?;
        let others: i64 =
            self.connection.prepare_cached("pragma data_version")?.query_row([], |row| row.get(0))?;
        let is_changed = self.others.replace(others) != Some(others);
        let calls = keys.iter().filter_map(|key| self.call(key).transpose()).collect::<Result<_, _>>()?;
        Ok(Begun { now: fault::now(), is_changed, calls })
    }

    fn newest(&mut self) -> Result<Newest, Failed> {
        let id = "select max(id) from (select max(id) id from mission union all select max(id) from colony)";
        let mission = "select coalesce(max(seq), 0) from mission";
        let record = "select coalesce(max(seq), 0) from sqlite_sequence where name = 'record'";
        let number = |select: &str| self.connection.query_row(select, [], |row| unsigned(row, 0));
        Ok(Newest {
            id: self.connection.query_row(id, [], |row| row.get(0))?,
            mission: number(mission)?,
            record: number(record)?,
        })
    }

    fn missions(&mut self, ids: &[String]) -> Result<Vec<MissionFound>, Failed> {
        Ok(ids.iter().filter_map(|id| self.mission(id).transpose()).collect::<Result<_, _>>()?)
    }

    fn colony(&mut self, id: &str) -> Result<Option<ColonyFound>, Failed> {
        let select = "select version, state from colony where id = ?1";
        let read = |row: &Row<'_>| Ok((unsigned(row, 0)?, text(row, 1)?));
        let found = self.connection.prepare_cached(select)?.query_row([id], read).optional()?;
        let Some((version, state)) = found else { return Ok(None) };
        Ok(Some(ColonyFound { version, state, waiting: self.all_waiting(id)? }))
    }

    fn colony_named(&mut self, name: &str) -> Result<Option<Colony>, Failed> {
        let select = format!("select {} from colony where name = ?1", read::COLONY);
        Ok(self.connection.prepare_cached(&select)?.query_row([name], read::colony_of).optional()?)
    }

    fn mission_on(&mut self, colony: &str, branch: &str) -> Result<Option<String>, Failed> {
        let select = "select id from mission where colony = ?1 and branch = ?2 order by seq desc limit 1";
        let mut select = self.connection.prepare_cached(select)?;
        Ok(select.query_row([colony, branch], |row| row.get(0)).optional()?)
    }

    fn waiting(&mut self, colony: &str, lane: &str) -> Result<Vec<Waiting>, Failed> {
        Ok(self.first_waiting(colony, lane)?)
    }

    fn plan(&mut self, hash: &str) -> Result<Option<String>, Failed> {
        Ok(read::plan(&self.connection, hash)?)
    }

    fn alarms(&mut self) -> Result<Vec<(String, String)>, Failed> {
        let mut select = self.connection.prepare("select kind, id from alarm")?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn end_alarm(&mut self, kind: &str, id: &str) -> Result<(), Failed> {
        self.connection.execute("delete from alarm where kind = ?1 and id = ?2", (kind, id))?;
        Ok(())
    }

    fn asked(&mut self, question: &OpenQuestion, now: Millis) -> Result<Option<Millis>, Failed> {
        let OpenQuestion { mission, step, attempt } = question;
        let select = "select coalesce(started, queued) from run \
             where mission = ?1 and step = ?2 and attempt = ?3 and due <= ?4 and ended is null";
        let mut select = self.connection.prepare_cached(select)?;
        Ok(select.query_row((mission, step.0, attempt, now), |row| row.get(0)).optional()?)
    }

    fn ended(&mut self, before: Millis, limit: usize) -> Result<Vec<Ended>, Failed> {
        let select = "select seq, id, colony, status from mission \
             where status in ('completed', 'failed', 'cancelled') and updated < ?1 order by updated limit ?2";
        let mut select = self.connection.prepare_cached(select)?;
        let rows = select.query_map((before, limit as i64), |row| {
            let id: String = row.get(1)?;
            let waiting = self.waiting_of_mission(&id)?;
            Ok(Ended { seq: unsigned(row, 0)?, id, colony: row.get(2)?, status: row.get(3)?, waiting })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn remove(&mut self, missions: &[Ended]) -> Result<(), Failed> {
        for Ended { seq, id, .. } in missions {
            for delete in [
                "delete from mission where seq = ?1",
                "delete from prompt where mission = ?1",
                "delete from search where rowid = ?1",
            ] {
                self.connection.prepare_cached(delete)?.execute([*seq as i64])?;
            }
            for delete in [
                "delete from run where mission = ?1",
                "delete from attempt_text where mission = ?1",
                "delete from record where mission = ?1",
                "delete from alarm where kind = 'mission' and id = ?1",
            ] {
                self.connection.prepare_cached(delete)?.execute([id])?;
            }
        }
        Ok(())
    }

    fn remove_rest(&mut self, calls: Millis, records: Millis, limit: usize) -> Result<usize, Failed> {
        let mut most = 0;
        for (delete, before) in [
            (
                "delete from call where key in \
                 (select key from call where time < ?1 order by time, key limit ?2)",
                calls,
            ),
            (
                "delete from record where seq in \
                 (select seq from record where mission is null and time < ?1 order by time, seq limit ?2)",
                records,
            ),
        ] {
            let deleted = self.connection.prepare_cached(delete)?.execute((before, limit as i64))?;
            most = most.max(deleted);
        }
        let plans =
            "delete from plan where not exists (select 1 from mission where mission.plan = plan.hash)";
        self.connection.prepare_cached(plans)?.execute([])?;
        Ok(most)
    }

    fn write(&mut self, writes: &Writes) -> Result<(), Failed> {
        super::write::write(&self.connection, writes).map_err(Failed::from)
    }

    fn keep_text(&mut self, of: &TextOf, packed: &Packed) -> Result<bool, Failed> {
        Ok(super::text::keep(&self.connection, of, packed)?)
    }

    fn commit(&mut self) -> Result<(), Failed> {
        Ok(self.connection.execute_batch("commit")?)
    }

    fn rollback(&mut self) {
        // A commit that has failed may have ended the transaction already.
        self.connection.execute_batch("rollback").unwrap_or_default();
        self.others = None;
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(cause: rusqlite::Error) -> Failed {
        match cause.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
                Failed::Call(crate::host::HostError::Corrupt(cause.to_string()))
            }
            Some(_) | None => Failed::Store(broken(cause)),
        }
    }
}

/// The bytes of a text, which a damaged row may have in another encoding.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    row.get_ref(column)?.as_bytes().map(<[u8]>::to_vec).map_err(rusqlite::Error::from)
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::unsigned_abs)
}

fn waiting_of(row: &Row<'_>) -> rusqlite::Result<Waiting> {
    let item = Item::of_lane(&row.get::<_, String>(0)?, row.get(2)?, StepId(row.get(3)?), row.get(4)?);
    Ok(Waiting { item, ticket: unsigned(row, 1)?, version: unsigned(row, 5)? })
}
