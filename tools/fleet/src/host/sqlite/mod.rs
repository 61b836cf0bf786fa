//! The host that needs nothing else: one SQLite file.
//!
//! One thread writes, and many calls share one commit, and so the time of the disk. Readers have connections of their own, which never wait
//! for the writer.
//!
//! Another process may use the file at the same time: what it writes is seen by the next call, and what it has for crabs of this one they
//! hear when they ask.

mod backup;
mod filter;
mod read;
mod rows;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::{broadcast, watch};

use self::read::SqliteReaders;
use self::rows::SqliteRows;
use super::unit_of_work::WriterThread;
use super::{
    ActorCall, ActorReply, Colony, ColonyState, Delivery, HistoryRecord, Host, HostError, Later, Millis,
    MissionFilter, MissionListRow, NewColony, NewMission, OpenQuestion, StoreCounts, StoredMission, TextOf,
};
use crate::fault;

/// Limit of a connection's wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Missions and schedulers in one SQLite file.
#[derive(Debug)]
pub struct SqliteHost {
    path: PathBuf,
    writing: WriterThread,
    readers: Arc<SqliteReaders>,
}

impl SqliteHost {
    /// Opens the store in this file, and makes it if there is none.
    ///
    /// # Errors
    /// The file cannot be written, is not a store, or is one of a newer version.
    pub fn open(path: &Path) -> Result<SqliteHost, HostError> {
        let file = path.to_owned();
        let writing = WriterThread::start(move || {
            let mut connection = connect(&file)?;
            schema::migrate(&mut connection)?;
            Ok(SqliteRows::new(connection))
        })?;
        let readers = Arc::new(SqliteReaders::new(path));
        Ok(SqliteHost { path: path.to_owned(), writing, readers })
    }

    /// Checks that [`SqliteHost::open`] can open the store in this file. It changes nothing.
    ///
    /// # Errors
    /// The file cannot be read, is not a store, or is one of a newer version.
    pub fn check(path: &Path) -> Result<(), HostError> {
        schema::version(&read::connect(path)?).map(drop)
    }

    /// Copies the store of this file into a new one, while others work with it. It changes nothing, not even an older form of the store.
    ///
    /// # Errors
    /// The copy cannot be made, or its file is there.
    pub fn copy(from: &Path, to: &Path) -> Result<(), HostError> {
        backup::backup(from, to)
    }
}

impl Host for SqliteHost {
    fn create_colony(&self, new: NewColony) -> Later<'_, Colony> {
        self.writing.create_colony(new)
    }

    fn create_mission(&self, new: NewMission) -> Later<'_, ActorReply> {
        self.writing.create_mission(new)
    }

    fn apply(&self, call: ActorCall) -> Later<'_, ActorReply> {
        self.writing.apply(call)
    }

    fn mission(&self, id: &str) -> Later<'_, Option<StoredMission>> {
        let id = id.to_owned();
        Box::pin(self.readers.clone().read(move |connection| read::mission(connection, &id)))
    }

    fn missions(&self, filter: MissionFilter) -> Later<'_, Vec<MissionListRow>> {
        Box::pin(self.readers.clone().read(move |connection| filter::missions(connection, &filter)))
    }

    fn keep_text(&self, of: TextOf, text: String) -> Later<'_, bool> {
        self.writing.keep_text(of, text)
    }

    fn text(&self, of: TextOf) -> Later<'_, Option<String>> {
        Box::pin(self.readers.clone().read(move |connection| text::text(connection, &of)))
    }

    fn colonies(&self) -> Later<'_, Vec<Colony>> {
        Box::pin(self.readers.clone().read(read::colonies))
    }

    fn colony(&self, id: &str) -> Later<'_, Option<ColonyState>> {
        let id = id.to_owned();
        Box::pin(self.readers.clone().read(move |connection| read::colony(connection, &id)))
    }

    fn records(&self, after: u64, mission: Option<String>, limit: u32) -> Later<'_, Vec<HistoryRecord>> {
        Box::pin(
            self.readers
                .clone()
                .read(move |connection| read::records(connection, after, mission.as_deref(), limit)),
        )
    }

    fn counts(&self) -> Later<'_, StoreCounts> {
        Box::pin(self.readers.clone().read(read::counts))
    }

    fn due(&self) -> Later<'_, Vec<OpenQuestion>> {
        Box::pin(self.readers.clone().read(|connection| read::due(connection, fault::now())))
    }

    fn remind(&self, question: OpenQuestion) -> Later<'_, bool> {
        self.writing.remind(question)
    }

    fn forget(&self, ended_before: Millis) -> Later<'_, u64> {
        self.writing.forget(ended_before)
    }

    fn backup(&self, to: &Path) -> Later<'_, ()> {
        let (from, to) = (self.path.clone(), to.to_owned());
        Box::pin(async {
            let copied = tokio::task::spawn_blocking(move || backup::backup(&from, &to)).await;
            copied.map_err(|_| HostError::Stopping)?
        })
    }

    fn deliveries(&self) -> broadcast::Receiver<Delivery> {
        self.writing.deliveries().subscribe()
    }

    fn news(&self) -> watch::Receiver<u64> {
        self.writing.news()
    }
}

/// A connection that writes. A commit is on the disk when it returns.
fn connect(path: &Path) -> Result<Connection, HostError> {
    create_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(broken)?;
    connection.busy_timeout(PATIENCE).map_err(broken)?;
    connection.pragma_update(None, "journal_mode", "wal").map_err(broken)?;
    connection.pragma_update(None, "synchronous", "full").map_err(broken)?;
    connection.pragma_update(None, "wal_autocheckpoint", 4000).map_err(broken)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20).map_err(broken)?;
    connection.pragma_update(None, "cache_size", -16_000).map_err(broken)?;
    connection.set_prepared_statement_cache_capacity(96);
    Ok(connection)
}

/// The file holds prompts, and its user alone reads them.
fn create_private(path: &Path) -> Result<(), HostError> {
    use std::os::unix::fs::OpenOptionsExt;
    let failed = |cause| HostError::Unavailable(format!("cannot open {}: {cause}", path.display()));
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map(drop).map_err(failed)
}

/// Error that a caller gets for a failure of SQLite.
pub(super) fn broken(cause: rusqlite::Error) -> HostError {
    match cause.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => HostError::Corrupt(format!(
            "the file is damaged ({cause}): restore a backup, or move the file away to begin with an empty one"
        )),
        Some(_) | None => HostError::Unavailable(cause.to_string()),
    }
}
