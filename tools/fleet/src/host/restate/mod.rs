//! The host for several gateways on Restate: a durable log, and copies of the store in memory.
//!
//! A virtual object of Restate has the log: an entry for each transaction, in one order for all gateways (`object`). Each gateway makes
//! the store of it in an SQLite database in memory, twice: one copy is for the thread that writes, and one for those who read. A
//! transaction is durable when the log has taken its entry; it is taken if no other gateway has written since the transaction began.
//!
//! Now and then the log's entries are replaced by an image of the store, so that it does not grow for ever.

mod address;
mod copy;
mod entry;
mod log;
mod object;
mod replica;
mod rows;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;

pub use self::address::Address;
use self::copy::{Copy, Looking};
use self::log::RemoteLog;
pub use self::object::{Registration, Service};
use self::rows::{Me, RestateRows};
use super::HostError;
use super::sqlite::backup;
use super::sqlite::in_sqlite::InSqlite;
use super::unit_of_work::Writing;

/// After how many entries the log is shortened.
const EVERY: u64 = 1000;

/// Missions and schedulers in a log of Restate.
pub struct RestateHost {
    address: Address,
    copy: Arc<Copy>,
    // It is dropped before the writing side, of which it speaks.
    _looking: Looking,
    writing: Writing,
}

impl fmt::Debug for RestateHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RestateHost").field("address", &self.address).finish_non_exhaustive()
    }
}

impl RestateHost {
    /// Opens the store of this address, which is empty if its log is.
    ///
    /// # Errors
    /// The log does not answer, or has entries of a newer version.
    pub fn open(address: &Address) -> Result<RestateHost, HostError> {
        RestateHost::open_with(address, EVERY)
    }

    /// Opens the store of this address, and replaces the log's entries by an image after each so many of them.
    ///
    /// # Errors
    /// The log does not answer, or has entries of a newer version.
    pub fn open_with(address: &Address, every: u64) -> Result<RestateHost, HostError> {
        let random =
            orange_system::random::bytes().map_err(|cause| HostError::Unavailable(cause.to_string()))?;
        let name = format!("{:016x}", u64::from_be_bytes(random));
        let me = Arc::new(Me { name, unsaid: Mutex::default() });
        let log = Arc::new(RemoteLog::new(address.clone()));
        let (to, own) = (Arc::clone(&log), Arc::clone(&me));
        // The log is read once for both copies.
        let (forked, fork) = std::sync::mpsc::channel();
        let writing = Writing::start(move || {
            let rows = RestateRows::open(to, own, every)?;
            forked.send(rows.fork()?).unwrap_or_default();
            Ok(rows)
        })?;
        let replica = fork.recv().map_err(|_| HostError::Stopping)?;
        let copy = Arc::new(Copy::new(replica, log, me, writing.deliveries().clone(), writing.newest()));
        let looking = Looking::start(Arc::clone(&copy))?;
        Ok(RestateHost { address: address.clone(), copy, _looking: looking, writing })
    }

    /// Checks that there is a log at this address, from which [`RestateHost::open`] could read. It changes nothing.
    ///
    /// # Errors
    /// The log does not answer.
    pub fn check(address: &Address) -> Result<(), HostError> {
        RemoteLog::new(address.clone()).length().map(drop)
    }

    /// Writes the store of this address into a new SQLite file.
    ///
    /// # Errors
    /// The log does not answer, the copy cannot be made, or its file is there.
    pub fn copy(from: &Address, to: &Path) -> Result<(), HostError> {
        let mut replica = replica::Replica::new()?;
        replica.catch_up(&RemoteLog::new(from.clone()), None, |_| {})?;
        backup::backup_of(&replica.rows.connection, to)
    }
}

impl InSqlite for RestateHost {
    fn writing(&self) -> &Writing {
        &self.writing
    }

    async fn read<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Connection) -> Result<T, HostError> + Send + 'static,
    ) -> Result<T, HostError> {
        Arc::clone(&self.copy).read(ask).await
    }

    async fn copy_into(&self, file: PathBuf) -> Result<(), HostError> {
        self.read(move |connection| backup::backup_of(connection, &file)).await
    }
}
