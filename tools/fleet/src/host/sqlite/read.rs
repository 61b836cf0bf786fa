//! Reading: connections that cannot write, and what they are asked.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use orange_core::plan::StepId;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use tokio::sync::Semaphore;

use super::{PATIENCE, broken, filter};
use crate::host::unit_of_work;
use crate::host::{
    AttemptRow, Colony, ColonyState, HistoryRecord, HostError, Millis, OpenQuestion, StoreCounts,
    StoredMission,
};
use crate::model;

/// The most readers at once.
const READERS: usize = 4;

/// The most records of one page.
const RECORDS: u32 = 1000;

/// The columns of [`colony_of`].
pub(super) const COLONY: &str = "id, name, repository, base, created";

/// Connections that cannot write, used again and again.
#[derive(Debug)]
pub(super) struct SqliteReaders {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    turns: Semaphore,
}

impl SqliteReaders {
    pub(super) fn new(path: &Path) -> SqliteReaders {
        SqliteReaders { path: path.to_owned(), idle: Mutex::new(Vec::new()), turns: Semaphore::new(READERS) }
    }

    /// Asks something of the store, on a thread that may wait for the disk.
    pub(super) async fn read<T: Send + 'static>(
        self: Arc<SqliteReaders>,
        ask: impl FnOnce(&Connection) -> Result<T, HostError> + Send + 'static,
    ) -> Result<T, HostError> {
        let readers = Arc::clone(&self);
        let _turn = self.turns.acquire().await.map_err(|_| HostError::Stopping)?;
        let asked = tokio::task::spawn_blocking(move || {
            let idle = readers.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = idle.map_or_else(|| connect(&readers.path), Ok)?;
            let answer = ask(&connection);
            readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            answer
        });
        asked.await.map_err(|_| HostError::Stopping)?
    }
}

/// A connection that cannot write.
pub(super) fn connect(path: &Path) -> Result<Connection, HostError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(broken)?;
    connection.busy_timeout(PATIENCE).map_err(broken)?;
    connection.pragma_update(None, "cache_size", -2000).map_err(broken)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// One mission with its attempts.
pub(super) fn mission(connection: &Connection, id: &str) -> Result<Option<StoredMission>, HostError> {
    // Both reads see one state of the store.
    let transaction = connection.unchecked_transaction().map_err(broken)?;
    let select = format!(
        "select {}, plan, state, (select body from prompt where mission = seq) from mission where id = ?1",
        filter::ROW
    );
    let found = transaction
        .prepare_cached(&select)
        .and_then(|mut select| {
            let read = |row: &Row<'_>| {
                let (plan, state): (String, String) = (row.get(12)?, row.get(13)?);
                Ok((filter::row_of(row)?, plan, state, row.get::<_, Option<String>>(14)?))
            };
            select.query_row([id], read).optional()
        })
        .map_err(broken)?;
    let Some((row, plan, state, prompt)) = found else { return Ok(None) };
    let unreadable = |why: String| HostError::Corrupt(format!("mission {id}: {why}"));
    let plan = match model::plan::known(&plan) {
        Some(plan) => plan,
        None => {
            let body = self::plan(&transaction, &plan).map_err(broken)?;
            unit_of_work::read_plan(&plan, body).map_err(unreadable)?
        }
    };
    let mission = model::mission::read(&state, plan).map_err(|cause| unreadable(cause.to_string()))?;
    let runs = runs(&transaction, id, plan).map_err(broken)?;
    Ok(Some(StoredMission { row, plan, mission, prompt: prompt.unwrap_or_default(), runs }))
}

/// The text of a plan.
pub(super) fn plan(connection: &Connection, hash: &str) -> rusqlite::Result<Option<String>> {
    let select = "select body from plan where hash = ?1";
    connection.prepare_cached(select)?.query_row([hash], |row| row.get(0)).optional()
}

fn runs(
    connection: &Connection,
    mission: &str,
    plan: &orange_core::plan::Plan<'_>,
) -> rusqlite::Result<Vec<AttemptRow>> {
    let select = "select step, attempt, crab, queued, offered, started, ended, commit_id, worktree, \
                  (select length from attempt_text t where t.mission = run.mission and t.step = run.step \
                   and t.attempt = run.attempt and t.kind = 'transcript'), \
                  (select length from attempt_text t where t.mission = run.mission and t.step = run.step \
                   and t.attempt = run.attempt and t.kind = 'diff') \
                  from run where mission = ?1 order by queued, step, attempt";
    let mut select = connection.prepare_cached(select)?;
    let rows = select.query_map([mission], |row| {
        let step: u16 = row.get(0)?;
        Ok(AttemptRow {
            step: plan.steps.get(usize::from(step)).map(|it| it.id.to_owned()).unwrap_or_default(),
            attempt: row.get(1)?,
            crab: row.get(2)?,
            queued: row.get(3)?,
            offered: row.get(4)?,
            started: row.get(5)?,
            ended: row.get(6)?,
            commit: row.get(7)?,
            worktree: row.get(8)?,
            transcript: row.get(9)?,
            diff: row.get(10)?,
        })
    })?;
    rows.collect()
}

/// The colonies, in the order of their names.
pub(super) fn colonies(connection: &Connection) -> Result<Vec<Colony>, HostError> {
    let select = format!("select {COLONY} from colony order by name");
    let mut select = connection.prepare_cached(&select).map_err(broken)?;
    let rows = select.query_map([], colony_of).map_err(broken)?;
    rows.collect::<rusqlite::Result<_>>().map_err(broken)
}

/// A colony with its scheduler, the names of its crabs, and how many steps wait.
pub(super) fn colony(connection: &Connection, id: &str) -> Result<Option<ColonyState>, HostError> {
    let transaction = connection.unchecked_transaction().map_err(broken)?;
    let select = format!("select {COLONY}, state from colony where id = ?1");
    let found = transaction
        .prepare_cached(&select)
        .and_then(|mut select| {
            select.query_row([id], |row| Ok((colony_of(row)?, row.get::<_, String>(5)?))).optional()
        })
        .map_err(broken)?;
    let Some((colony, state)) = found else { return Ok(None) };
    let scheduler = model::read(&state)
        .map_err(|cause| HostError::Corrupt(format!("the scheduler of colony {id}: {cause}")))?;
    let crabs =
        list(&transaction, "select id, name, heard from crab where colony = ?1 order by id", id, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, Millis>(2)?))
        })?;
    let counted = "select name, n from tally where colony = ?1 and kind = 'waiting' and n > 0 order by name";
    let waiting = list(&transaction, counted, id, |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
    })?;
    Ok(Some(ColonyState { colony, scheduler, crabs, waiting }))
}

fn list<T>(
    connection: &Connection,
    select: &str,
    id: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, HostError> {
    let mut select = connection.prepare_cached(select).map_err(broken)?;
    let rows = select.query_map([id], read).map_err(broken)?;
    rows.collect::<rusqlite::Result<_>>().map_err(broken)
}

/// Open questions about which something was due before this time, what was due first at first.
pub(super) fn due(connection: &Connection, now: Millis) -> Result<Vec<OpenQuestion>, HostError> {
    let select =
        "select mission, step, attempt from run where due <= ?1 and ended is null order by due limit ?2";
    let read = |row: &Row<'_>| {
        Ok(OpenQuestion { mission: row.get(0)?, step: StepId(row.get(1)?), attempt: row.get(2)? })
    };
    let mut select = connection.prepare_cached(select).map_err(broken)?;
    let rows = select.query_map((now, RECORDS), read).map_err(broken)?;
    rows.collect::<rusqlite::Result<_>>().map_err(broken)
}

/// The records after a number, the oldest first.
pub(super) fn records(
    connection: &Connection,
    after: u64,
    mission: Option<&str>,
    limit: u32,
) -> Result<Vec<HistoryRecord>, HostError> {
    let of_mission = if mission.is_some() { "mission = ?3 and" } else { "?3 is null and" };
    let select = format!(
        "select seq, time, colony, mission, kind, data from record where {of_mission} seq > ?1 order by seq limit ?2"
    );
    let read = |row: &Row<'_>| {
        let data: String = row.get(5)?;
        Ok(HistoryRecord {
            seq: row.get::<_, i64>(0)?.unsigned_abs(),
            time: row.get(1)?,
            colony: row.get(2)?,
            mission: row.get(3)?,
            kind: row.get(4)?,
            // A record is for people: one that is damaged is shown as the text that it is.
            data: serde_json::from_str(&data).unwrap_or(serde_json::Value::String(data)),
        })
    };
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut select = connection.prepare_cached(&select).map_err(broken)?;
    let rows = select.query_map((after, limit.min(RECORDS), mission), read).map_err(broken)?;
    rows.collect::<rusqlite::Result<_>>().map_err(broken)
}

/// Counts of the whole store. They are kept with every change, so that asking costs the same however much there is.
pub(super) fn counts(connection: &Connection) -> Result<StoreCounts, HostError> {
    let transaction = connection.unchecked_transaction().map_err(broken)?;
    let tally =
        "select name, sum(n) from tally where kind = 'mission' group by name having sum(n) > 0 order by name";
    let mut select = transaction.prepare_cached(tally).map_err(broken)?;
    let rows = select
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))
        .map_err(broken)?;
    let missions = rows.collect::<rusqlite::Result<_>>().map_err(broken)?;
    let number = |select: &str| {
        transaction
            .prepare_cached(select)
            .and_then(|mut it| it.query_row([], |row| row.get::<_, i64>(0)))
            .map(i64::unsigned_abs)
            .map_err(broken)
    };
    let crabs = [
        number("select coalesce(sum(known), 0) from colony")?,
        number("select coalesce(sum(parked), 0) from colony")?,
        number("select coalesce(sum(leased), 0) from colony")?,
        number("select coalesce(sum(faulty), 0) from colony")?,
    ];
    let waiting = number("select coalesce(sum(n), 0) from tally where kind = 'waiting'")?;
    let alarms = number("select count(*) from alarm")?;
    let asking = number("select coalesce(sum(n), 0) from tally where kind = 'asking'")?;
    Ok(StoreCounts { missions, crabs, waiting, alarms, asking })
}

/// The colony of a row of [`COLONY`].
pub(super) fn colony_of(row: &Row<'_>) -> rusqlite::Result<Colony> {
    Ok(Colony {
        id: row.get(0)?,
        name: row.get(1)?,
        repository: row.get(2)?,
        base: row.get(3)?,
        created: row.get(4)?,
    })
}
