//! Pages of missions: filters that go through an index, and a search.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use super::broken;
use crate::host::{HostError, MissionFilter, MissionListRow, unit_of_work};

/// The most missions of one page.
const PAGE: u32 = 1000;

/// The shortest text that the search index finds; shorter ones are looked for row by row.
const TRIGRAM: usize = 3;

/// The columns of [`row_of`].
pub(super) const ROW: &str =
    "id, colony, workflow, summary, branch, status, step, pause, version, created, updated, asks";

/// A page of missions, the newest first.
pub(super) fn missions(
    connection: &Connection,
    filter: &MissionFilter,
) -> Result<Vec<MissionListRow>, HostError> {
    let bound = filter.before.as_deref().map(|id| bound(connection, id)).transpose().map_err(broken)?;
    let (select, values) = query(filter, bound);
    let mut select = connection.prepare_cached(&select).map_err(broken)?;
    let rows = select.query_map(params_from_iter(values), row_of).map_err(broken)?;
    rows.collect::<rusqlite::Result<_>>().map_err(broken)
}

/// The mission of a row of [`ROW`].
pub(super) fn row_of(row: &Row<'_>) -> rusqlite::Result<MissionListRow> {
    Ok(MissionListRow {
        id: row.get(0)?,
        colony: row.get(1)?,
        workflow: row.get(2)?,
        summary: row.get(3)?,
        branch: row.get(4)?,
        status: row.get(5)?,
        step: row.get(6)?,
        pause: row.get(7)?,
        version: row.get::<_, i64>(8)?.unsigned_abs(),
        created: row.get(9)?,
        updated: row.get(10)?,
        asks: unit_of_work::names(row.get(11)?),
    })
}

/// The number below which missions are older than this one. An id that was forgotten still has its place, since ids rise.
fn bound(connection: &Connection, id: &str) -> rusqlite::Result<i64> {
    let select = "select seq + (id < ?1) from mission where id <= ?1 order by id desc limit 1";
    let bound = connection.prepare_cached(select)?.query_row([id], |row| row.get(0)).optional()?;
    Ok(bound.unwrap_or(0))
}

/// One part for each status, each of which goes backwards through its own index; then the newest of all parts.
pub(super) fn query(filter: &MissionFilter, bound: Option<i64>) -> (String, Vec<Value>) {
    let limit = Value::Integer(filter.limit.min(PAGE).into());
    let mut statuses: Vec<Option<&String>> = filter.statuses.iter().map(Some).collect();
    if statuses.is_empty() {
        statuses.push(None);
    }
    let (mut parts, mut values) = (Vec::new(), Vec::new());
    for status in statuses {
        let mut tests = Vec::new();
        let mut test = |text: &str, value: Value| {
            tests.push(text.to_owned());
            values.push(value);
        };
        if let Some(colony) = &filter.colony {
            test("m.colony = ?", colony.clone().into());
        }
        if let Some(status) = status {
            test("m.status = ?", status.clone().into());
        }
        if let Some(bound) = bound {
            test("m.seq < ?", bound.into());
        }
        if filter.asks {
            tests.push("m.asks is not null".to_owned());
        }
        let mut from = "mission m";
        match filter.text.as_deref().filter(|it| !it.is_empty()) {
            Some(text) if text.chars().count() >= TRIGRAM => {
                from = "search join mission m on m.seq = search.rowid";
                tests.push("search match ?".to_owned());
                values.push(quoted(text).into());
            }
            Some(text) => {
                let like = format!("%{}%", escaped(text));
                tests.push(
                    "(m.summary like ? escape '!' or m.branch like ? escape '!' or m.workflow like ? escape '!')".to_owned(),
                );
                values.extend([like.clone().into(), like.clone().into(), like.into()]);
            }
            None => {}
        }
        let order = if from == "mission m" { "m.seq" } else { "search.rowid" };
        let tests = if tests.is_empty() { "true".to_owned() } else { tests.join(" and ") };
        values.push(limit.clone());
        parts.push(format!(
            "select * from (select m.seq, {} from {from} where {tests} order by {order} desc limit ?)",
            columns()
        ));
    }
    values.push(limit);
    (format!("select {ROW} from ({}) order by seq desc limit ?", parts.join(" union all ")), values)
}

fn columns() -> String {
    ROW.split(", ").map(|it| format!("m.{it}")).collect::<Vec<_>>().join(", ")
}

/// A text as one phrase of the search.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn escaped(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
