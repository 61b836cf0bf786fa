//! Pages of missions: filters that go through an index, and a search that looks at one mission after the other, the newest first.

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::host::{MissionFilter, MissionListRow, unit_of_work};

/// The most missions of one page.
const PAGE: u32 = 1000;

/// The columns of [`row_of`].
pub(super) const ROW: &str =
    "id, colony, workflow, summary, branch, status, step, pause, version, created, updated, asks";

/// A parameter of a question.
type Value = Box<dyn ToSql + Sync + Send>;

/// The mission of a row of [`ROW`].
pub(super) fn row_of(row: &Row) -> MissionListRow {
    MissionListRow {
        id: row.get(0),
        colony: row.get(1),
        workflow: row.get(2),
        summary: row.get(3),
        branch: row.get(4),
        status: row.get(5),
        step: row.get(6),
        pause: row.get::<_, Option<i64>>(7).and_then(|it| u32::try_from(it).ok()),
        version: row.get::<_, i64>(8).unsigned_abs(),
        created: row.get(9),
        updated: row.get(10),
        asks: unit_of_work::names(row.get(11)),
    }
}

/// One part for each status, each of which goes backwards through its own index; then the newest of all parts.
pub(super) fn query(filter: &MissionFilter) -> (String, Vec<Value>) {
    let mut values: Vec<Value> = vec![Box::new(i64::from(filter.limit.min(PAGE)))];
    let mut tests = Vec::new();
    let mut test = |text: &str, value: Value| {
        values.push(value);
        tests.push(text.replace('?', &format!("${}", values.len())));
    };
    if let Some(colony) = &filter.colony {
        test("m.colony = ?", Box::new(colony.clone()));
    }
    if let Some(before) = &filter.before {
        // An id that was forgotten still has its place, since ids rise.
        let bound = "m.seq < coalesce((select b.seq + (b.id < ?)::int from mission b where b.id <= ? order by b.id desc limit 1), 0)";
        test(bound, Box::new(before.clone()));
    }
    if let Some(text) = filter.text.as_deref().filter(|it| !it.is_empty()) {
        let like = format!("%{}%", escaped(&text.to_lowercase()));
        // A short text is looked for where lists show it.
        let searched = match text.chars().count() {
            ..3 => "lower(concat_ws(chr(10), m.summary, m.branch, m.workflow)) like ? escape '!'",
            3.. => "exists (select 1 from prompt p where p.mission = m.seq and p.searched like ? escape '!')",
        };
        test(searched, Box::new(like));
    }
    if filter.asks {
        tests.push("m.asks is not null".to_owned());
    }
    let mut parts = Vec::new();
    let statuses: Vec<Option<&String>> = match filter.statuses.is_empty() {
        true => vec![None],
        false => filter.statuses.iter().map(Some).collect(),
    };
    for status in statuses {
        let mut tests = tests.clone();
        if let Some(status) = status {
            values.push(Box::new(status.clone()));
            tests.push(format!("m.status = ${}", values.len()));
        }
        let tests = if tests.is_empty() { "true".to_owned() } else { tests.join(" and ") };
        parts
            .push(format!("(select m.seq, {ROW} from mission m where {tests} order by m.seq desc limit $1)"));
    }
    (format!("select {ROW} from ({}) t order by seq desc limit $1", parts.join(" union all ")), values)
}

fn escaped(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
