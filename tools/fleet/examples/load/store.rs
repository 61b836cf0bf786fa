//! The store that a gateway is measured with.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use orange_fleet::host::Host;
use orange_fleet::host::postgres::{Address, PostgresHost};
use orange_fleet::host::sqlite::SqliteHost;

use crate::{Result, cpu_of};

pub(crate) enum LoadStore {
    /// The gateway's own file.
    File,
    /// The address of a database of Postgres.
    Postgres(String),
}

impl LoadStore {
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, LoadStore::File)
    }

    /// Value of `--store` of the gateway; the gateway's own file if it is `None`.
    pub(crate) fn option(&self) -> Option<&str> {
        match self {
            LoadStore::File => None,
            LoadStore::Postgres(address) => Some(address),
        }
    }

    /// Opens it without a gateway, whose folder this is.
    pub(crate) fn open(&self, folder: &Path) -> Result<Arc<dyn Host>> {
        match self {
            LoadStore::File => Ok(Arc::new(SqliteHost::open(&folder.join("fleet.db"))?)),
            LoadStore::Postgres(address) => {
                Ok(Arc::new(PostgresHost::open(&Address::read(address, &|_| None)?)?))
            }
        }
    }

    /// The processor time of the processes of its server.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        match self {
            LoadStore::File => Ok(Duration::ZERO),
            LoadStore::Postgres(address) => cpu_of_postgres(address),
        }
    }
}

fn cpu_of_postgres(address: &str) -> Result<Duration> {
    let runtime = tokio::runtime::Runtime::new()?;
    let processes = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(address, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        client.query("select pid from pg_stat_activity", &[]).await
    })?;
    // One that has ended meanwhile was idle.
    let times = processes.iter().filter_map(|row| cpu_of(row.get::<_, i32>(0).try_into().ok()?).ok());
    Ok(times.sum())
}
