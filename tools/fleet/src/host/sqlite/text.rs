//! The rows of long texts.

use rusqlite::{Connection, OptionalExtension};

use super::broken;
use crate::host::packed::{self, Packed};
use crate::host::{HostError, TextOf};

/// Keeps a text of an attempt in place of the one that it had, if there is such an attempt.
pub(super) fn keep(connection: &Connection, of: &TextOf, packed: &Packed) -> rusqlite::Result<bool> {
    let insert = "insert or replace into attempt_text (mission, step, attempt, kind, length, body) \
                  select mission, step, attempt, ?4, ?5, ?6 from run \
                  where mission = ?1 and step = ?2 and attempt = ?3";
    let TextOf { mission, step, attempt, kind } = of;
    let row = (mission, step.0, attempt, kind.as_str(), packed.length, &packed.body);
    Ok(connection.prepare_cached(insert)?.execute(row)? > 0)
}

/// A text of an attempt, if it has one.
pub(super) fn text(connection: &Connection, of: &TextOf) -> Result<Option<String>, HostError> {
    let select = "select length, body from attempt_text \
                  where mission = ?1 and step = ?2 and attempt = ?3 and kind = ?4";
    let TextOf { mission, step, attempt, kind } = of;
    let found = connection
        .prepare_cached(select)
        .and_then(|mut select| {
            let read = |row: &rusqlite::Row<'_>| Ok(Packed { length: row.get(0)?, body: row.get(1)? });
            select.query_row((mission, step.0, attempt, kind.as_str()), read).optional()
        })
        .map_err(broken)?;
    found.map(|it| packed::unpack(&it)).transpose()
}
