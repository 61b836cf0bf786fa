//! Reading: each question is one statement, and so sees one state of the store.

use std::sync::{Mutex, PoisonError};

use orange_core::plan::StepId;
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::address::Address;
use super::filter;
use super::session::{PATIENCE, PostgresSession, broken, silent};
use crate::host::TextOf;
use crate::host::packed::{self, Packed};
use crate::host::unit_of_work;
use crate::host::{
    AttemptRow, Colony, ColonyState, HistoryRecord, HostError, Millis, MissionFilter, MissionListRow,
    OpenQuestion, StoreCounts, StoredMission,
};
use crate::model;

/// The most readers at once.
const READERS: usize = 4;

/// The most records of one page.
const RECORDS: u32 = 1000;

/// The columns of [`colony_of`].
pub(super) const COLONY: &str = "id, name, repository, base, created";

/// The text of a plan.
pub(super) const PLAN: &str = "select body from plan where hash = $1";

/// Connections that read, used again and again.
pub(super) struct PostgresReaders {
    address: Address,
    idle: Mutex<Vec<PostgresSession>>,
    turns: Semaphore,
}

impl PostgresReaders {
    pub(super) fn new(address: Address) -> PostgresReaders {
        PostgresReaders { address, idle: Mutex::default(), turns: Semaphore::new(READERS) }
    }

    /// The rows of a question.
    pub(super) async fn rows(
        &self,
        question: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, HostError> {
        let _turn = self.turns.acquire().await.map_err(|_| HostError::Stopping)?;
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let was_idle = idle.is_some();
            let session = match idle {
                Some(session) => session,
                None => PostgresSession::open(&self.address).await?,
            };
            let asked = async { session.client.query(&session.statement(question).await?, values).await };
            match tokio::time::timeout(PATIENCE, asked).await {
                Ok(Ok(rows)) => {
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
                    return Ok(rows);
                }
                // It was lost while nobody asked.
                Ok(Err(cause)) if was_idle && session.is_lost(&cause) => {}
                Ok(Err(cause)) => {
                    if !session.is_lost(&cause) {
                        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
                    }
                    return Err(broken(&cause));
                }
                Err(_) => return Err(silent()),
            }
        }
    }

    async fn row(&self, question: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Option<Row>, HostError> {
        Ok(self.rows(question, values).await?.pop())
    }

    /// One mission with its attempts.
    pub(super) async fn mission(&self, id: &str) -> Result<Option<StoredMission>, HostError> {
        let select = format!(
            "select {}, plan, state, (select body from prompt where mission = seq), (select coalesce(json_agg(json_build_object( \
             'step', step, 'attempt', attempt, 'crab', crab, 'queued', queued, 'offered', offered, 'started', started, \
             'ended', ended, 'commit', commit_id, 'worktree', worktree, 'transcript', \
             (select length from attempt_text t where t.mission = run.mission and t.step = run.step \
              and t.attempt = run.attempt and t.kind = 'transcript'), 'diff', \
             (select length from attempt_text t where t.mission = run.mission and t.step = run.step \
              and t.attempt = run.attempt and t.kind = 'diff')) order by queued, step, attempt), '[]')::text \
             from run where mission = id) from mission where id = $1",
            filter::ROW
        );
        let Some(row) = self.row(&select, &[&id]).await? else { return Ok(None) };
        let (hash, state, prompt): (String, String, Option<String>) = (row.get(12), row.get(13), row.get(14));
        let unreadable = |why: String| HostError::Corrupt(format!("mission {id}: {why}"));
        let plan = match model::plan::known(&hash) {
            Some(plan) => plan,
            None => {
                let body = self.row(PLAN, &[&hash]).await?.map(|it| it.get(0));
                unit_of_work::read_plan(&hash, body).map_err(unreadable)?
            }
        };
        let mission = model::mission::read(&state, plan).map_err(|cause| unreadable(cause.to_string()))?;
        let runs: Vec<ReadAttempt> =
            serde_json::from_str(&row.get::<_, String>(15)).map_err(|cause| unreadable(cause.to_string()))?;
        let runs = runs.into_iter().map(|it| it.row(plan)).collect();
        let prompt = prompt.unwrap_or_default();
        Ok(Some(StoredMission { row: filter::row_of(&row), plan, mission, prompt, runs }))
    }

    /// A text of an attempt, if it has one.
    pub(super) async fn text(&self, of: &TextOf) -> Result<Option<String>, HostError> {
        let select = "select length, body from attempt_text \
                      where mission = $1 and step = $2 and attempt = $3 and kind = $4";
        let (step, attempt) = (i32::from(of.step.0), i64::from(of.attempt));
        let row = self.row(select, &[&of.mission, &step, &attempt, &of.kind.as_str()]).await?;
        let packed =
            |row: Row| Packed { length: u32::try_from(row.get::<_, i64>(0)).unwrap_or(0), body: row.get(1) };
        row.map(|row| packed::unpack(&packed(row))).transpose()
    }

    /// A page of missions, the newest first.
    pub(super) async fn missions(&self, filter: &MissionFilter) -> Result<Vec<MissionListRow>, HostError> {
        let (select, values) = filter::query(filter);
        let values: Vec<&(dyn ToSql + Sync)> =
            values.iter().map(|it| -> &(dyn ToSql + Sync) { it.as_ref() }).collect();
        Ok(self.rows(&select, &values).await?.iter().map(filter::row_of).collect())
    }

    /// The colonies, in the order of their names.
    pub(super) async fn colonies(&self) -> Result<Vec<Colony>, HostError> {
        let select = format!("select {COLONY} from colony order by name");
        Ok(self.rows(&select, &[]).await?.iter().map(colony_of).collect())
    }

    /// A colony with its scheduler, the names of its crabs, and how many steps wait.
    pub(super) async fn colony(&self, id: &str) -> Result<Option<ColonyState>, HostError> {
        let select = format!(
            "select {COLONY}, state, \
             (select coalesce(json_agg(json_build_array(c.id, c.name, c.heard) order by c.id), '[]')::text \
              from crab c where c.colony = $1), \
             (select coalesce(json_agg(json_build_array(t.name, t.n) order by t.name), '[]')::text \
              from tally t where t.colony = $1 and t.kind = 'waiting' and t.n > 0) \
             from colony where id = $1"
        );
        let Some(row) = self.row(&select, &[&id]).await? else { return Ok(None) };
        let unreadable = |why: String| HostError::Corrupt(format!("the scheduler of colony {id}: {why}"));
        let state: String = row.get(5);
        let scheduler = model::read(&state).map_err(|cause| unreadable(cause.to_string()))?;
        let crabs: Vec<(String, String, Millis)> =
            serde_json::from_str(&row.get::<_, String>(6)).map_err(|cause| unreadable(cause.to_string()))?;
        let waiting: Vec<(String, u64)> =
            serde_json::from_str(&row.get::<_, String>(7)).map_err(|cause| unreadable(cause.to_string()))?;
        Ok(Some(ColonyState { colony: colony_of(&row), scheduler, crabs, waiting }))
    }

    /// Open questions about which something is due, what was due first at first.
    pub(super) async fn due(&self) -> Result<Vec<OpenQuestion>, HostError> {
        let select = "select mission, step, attempt from run \
             where due <= (extract(epoch from clock_timestamp()) * 1000)::bigint and ended is null order by due limit $1";
        let rows = self.rows(select, &[&i64::from(RECORDS)]).await?;
        let question = |row: Row| OpenQuestion {
            mission: row.get(0),
            step: StepId(u16::try_from(row.get::<_, i32>(1)).unwrap_or(u16::MAX)),
            attempt: u32::try_from(row.get::<_, i64>(2)).unwrap_or(u32::MAX),
        };
        Ok(rows.into_iter().map(question).collect())
    }

    /// The records after a number, the oldest first.
    pub(super) async fn records(
        &self,
        after: u64,
        mission: Option<String>,
        limit: u32,
    ) -> Result<Vec<HistoryRecord>, HostError> {
        let (after, limit) = (i64::try_from(after).unwrap_or(i64::MAX), i64::from(limit.min(RECORDS)));
        let of = if mission.is_some() { "mission = $3 and" } else { "" };
        let select = format!(
            "select seq, time, colony, mission, kind, data from record where {of} seq > $1 order by seq limit $2"
        );
        let rows = match &mission {
            Some(mission) => self.rows(&select, &[&after, &limit, mission]).await?,
            None => self.rows(&select, &[&after, &limit]).await?,
        };
        let records = rows.into_iter().map(|row| {
            let data: String = row.get(5);
            HistoryRecord {
                seq: row.get::<_, i64>(0).unsigned_abs(),
                time: row.get(1),
                colony: row.get(2),
                mission: row.get(3),
                kind: row.get(4),
                // A record is for people: one that is damaged is shown as the text that it is.
                data: serde_json::from_str(&data).unwrap_or(serde_json::Value::String(data)),
            }
        });
        Ok(records.collect())
    }

    /// Counts of the whole store. They are kept with every change, so that asking costs the same however much there is.
    pub(super) async fn counts(&self) -> Result<StoreCounts, HostError> {
        let select = "select (select coalesce(json_agg(json_build_array(name, n) order by name), '[]')::text from \
             (select name, sum(n)::bigint n from tally where kind = 'mission' group by name having sum(n) > 0) t), \
             coalesce(sum(known), 0)::bigint, coalesce(sum(parked), 0)::bigint, coalesce(sum(leased), 0)::bigint, \
             coalesce(sum(faulty), 0)::bigint, \
             (select coalesce(sum(n), 0)::bigint from tally where kind = 'waiting'), (select count(*) from alarm), \
             (select coalesce(sum(n), 0)::bigint from tally where kind = 'asking') \
             from colony";
        let Some(row) = self.row(select, &[]).await? else { return Ok(StoreCounts::default()) };
        let missions = serde_json::from_str(&row.get::<_, String>(0))
            .map_err(|cause| HostError::Corrupt(format!("the counts: {cause}")))?;
        let number = |at: usize| row.get::<_, i64>(at).unsigned_abs();
        let crabs = [number(1), number(2), number(3), number(4)];
        Ok(StoreCounts { missions, crabs, waiting: number(5), alarms: number(6), asking: number(7) })
    }
}

/// An attempt, as the database puts it together.
#[derive(Deserialize)]
struct ReadAttempt {
    step: u16,
    attempt: u32,
    crab: Option<String>,
    queued: Millis,
    offered: Option<Millis>,
    started: Option<Millis>,
    ended: Option<Millis>,
    commit: Option<String>,
    worktree: Option<String>,
    transcript: Option<u32>,
    diff: Option<u32>,
}

impl ReadAttempt {
    fn row(self, plan: &orange_core::plan::Plan<'_>) -> AttemptRow {
        let ReadAttempt {
            step,
            attempt,
            crab,
            queued,
            offered,
            started,
            ended,
            commit,
            worktree,
            transcript,
            diff,
        } = self;
        let step = plan.steps.get(usize::from(step)).map(|it| it.id.to_owned()).unwrap_or_default();
        AttemptRow {
            step,
            attempt,
            crab,
            queued,
            offered,
            started,
            ended,
            commit,
            worktree,
            transcript,
            diff,
        }
    }
}

/// The colony of a row of [`COLONY`].
pub(super) fn colony_of(row: &Row) -> Colony {
    Colony { id: row.get(0), name: row.get(1), repository: row.get(2), base: row.get(3), created: row.get(4) }
}
