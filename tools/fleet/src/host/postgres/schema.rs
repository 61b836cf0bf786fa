//! The tables, in a schema of their own, and how older ones become newer ones.

use tokio_postgres::Client;

use super::session::broken;
use crate::host::HostError;

/// The schema of the tables.
pub(super) const SCHEMA: &str = "orange_fleet";

/// The lock of a transaction that writes: "Orng", and the number of what is locked.
pub(super) const LOCK: &str = "select pg_advisory_xact_lock(1332899431, 1)";

/// Migrations: each adds to the version before it. Never change one that was released: add another.
const MIGRATIONS: &[&str] = &[include_str!("schema-1.sql"), include_str!("schema-2.sql")];

/// The version of the tables that this program writes.
pub(super) const VERSION: i32 = MIGRATIONS.len() as i32;

/// Brings the tables to the version of this program.
///
/// # Errors
/// They were written by a newer version of this program, or may not be made.
pub(super) async fn migrate(client: &Client) -> Result<(), HostError> {
    client.batch_execute("begin").await.map_err(|it| broken(&it))?;
    let done = migrate_all(client).await;
    let end = if done.is_ok() { "commit" } else { "rollback" };
    client.batch_execute(end).await.map_err(|it| broken(&it))?;
    done
}

async fn migrate_all(client: &Client) -> Result<(), HostError> {
    client.batch_execute(LOCK).await.map_err(|it| broken(&it))?;
    let done = version(client).await?;
    let Ok(known) = usize::try_from(done.unwrap_or(0)) else { return Err(newer(done.unwrap_or(0))) };
    if done.is_none() {
        let schema = "select 1 from pg_namespace where nspname = $1";
        let found = client.query(schema, &[&SCHEMA]).await.map_err(|it| broken(&it))?;
        if found.is_empty() {
            let create = format!("create schema {SCHEMA}");
            client.batch_execute(&create).await.map_err(|it| broken(&it))?;
        }
    }
    for migration in MIGRATIONS.iter().skip(known) {
        client.batch_execute(migration).await.map_err(|it| broken(&it))?;
    }
    if known < MIGRATIONS.len() {
        client.execute("update store set version = $1", &[&VERSION]).await.map_err(|it| broken(&it))?;
    }
    Ok(())
}

/// The version of the tables, which this program understands; nothing where there are none.
///
/// # Errors
/// They were written by a newer version of this program, or the schema has other ones.
pub(super) async fn version(client: &Client) -> Result<Option<i32>, HostError> {
    let tables = "select count(*), count(*) filter (where relname = 'store') from pg_class \
                  join pg_namespace n on n.oid = relnamespace where nspname = $1 and relkind = 'r'";
    let row = client.query_one(tables, &[&SCHEMA]).await.map_err(|it| broken(&it))?;
    match (row.get::<_, i64>(0), row.get::<_, i64>(1)) {
        (0, _) => Ok(None),
        (_, 0) => Err(HostError::Corrupt(format!(
            "the schema {SCHEMA} of the database has tables of another program: name another database"
        ))),
        _ => {
            let row = client.query_one("select version from store", &[]).await.map_err(|it| broken(&it))?;
            understood(row.get(0)).map(Some)
        }
    }
}

/// A version that this program understands.
pub(super) fn understood(version: i32) -> Result<i32, HostError> {
    if version > VERSION { Err(newer(version)) } else { Ok(version) }
}

fn newer(version: i32) -> HostError {
    HostError::Corrupt(format!(
        "a newer orange-fleet has written it: its tables have version {version}, and this program knows {VERSION}. \
         Upgrade orange-fleet, or restore the dump from before the upgrade"
    ))
}
