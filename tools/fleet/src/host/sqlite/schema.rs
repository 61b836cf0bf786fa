//! The tables, and how older ones become newer ones.

use rusqlite::{Connection, TransactionBehavior};

use super::broken;
use crate::host::HostError;

/// "Orng" in a file's header: `PRAGMA application_id`.
const APPLICATION: i64 = 0x4f72_6e67;

/// Migrations: each adds to the version before it. Never change one that was released: add another.
const MIGRATIONS: &[&str] = &[include_str!("schema-1.sql"), include_str!("schema-2.sql")];

/// Brings the tables to the version of this program.
///
/// # Errors
/// The file is another program's, or was written by a newer version of this one.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), HostError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(broken)?;
    let done = version(&transaction)?;
    for (number, migration) in MIGRATIONS.iter().enumerate().skip(done) {
        transaction.execute_batch(migration).map_err(broken)?;
        transaction.pragma_update(None, "user_version", number as i64 + 1).map_err(broken)?;
    }
    if done < MIGRATIONS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(broken)?;
    }
    transaction.commit().map_err(broken)
}

/// The version of the tables, which this program understands.
///
/// # Errors
/// The file is another program's, or was written by a newer version of this one.
pub(super) fn version(connection: &Connection) -> Result<usize, HostError> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) =
        (pragma("application_id").map_err(broken)?, pragma("user_version").map_err(broken)?);
    let is_empty = connection
        .query_row("select count(*) = 0 from sqlite_schema", [], |row| row.get::<_, bool>(0))
        .map_err(broken)?;
    if application != APPLICATION && !(application == 0 && version == 0 && is_empty) {
        return Err(HostError::Corrupt(
            "it is a database of another program: name another file with --store".to_owned(),
        ));
    }
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    if done > MIGRATIONS.len() {
        return Err(HostError::Corrupt(format!(
            "a newer orange-fleet has written it: its tables have version {version}, and this program knows {}. \
             Upgrade orange-fleet, or restore the backup from before the upgrade",
            MIGRATIONS.len()
        )));
    }
    Ok(done)
}
