//! The host for several gateways: one Postgres database.
//!
//! One thread of each process writes. Its transactions take one lock of the database first and compare a number that each of them raises:
//! if another process has written since, nothing that is loaded counts. Times are those of the database's clock.
//!
//! `NOTIFY` announces instructions of other processes to crabs of this one. It is a hint: crabs that ask again are answered from the store.

mod address;
mod filter;
mod listen;
mod notices;
mod read;
mod rows;
mod schema;
mod session;
mod write;

use std::fmt;
use std::path::Path;

use tokio::sync::{broadcast, watch};

pub use self::address::Address;
use self::listen::{Ears, Listening};
use self::read::PostgresReaders;
use self::rows::PostgresRows;
use self::session::PostgresSession;
use super::TextOf;
use super::unit_of_work::WriterThread;
use super::{
    ActorCall, ActorReply, Colony, ColonyState, Delivery, HistoryRecord, Host, HostError, Later, Millis,
    MissionFilter, MissionListRow, NewColony, NewMission, OpenQuestion, StoreCounts, StoredMission,
};

/// Missions and schedulers in one Postgres database.
pub struct PostgresHost {
    address: Address,
    readers: PostgresReaders,
    // It is dropped before the writing side, of which it speaks.
    _listening: Listening,
    writing: WriterThread,
}

impl fmt::Debug for PostgresHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresHost").field("address", &self.address).finish_non_exhaustive()
    }
}

impl PostgresHost {
    /// Opens the store of this database, and makes its tables if there are none.
    ///
    /// # Errors
    /// The database does not answer, takes no writes, or has the tables of a newer version.
    pub fn open(address: &Address) -> Result<PostgresHost, HostError> {
        let random =
            orange_system::random::bytes().map_err(|cause| HostError::Unavailable(cause.to_string()))?;
        let name = format!("{:016x}", u64::from_be_bytes(random));
        let (to, own) = (address.clone(), name.clone());
        let writing = WriterThread::start(move || PostgresRows::open(to, own))?;
        let (deliveries, newest) = (writing.deliveries().clone(), writing.newest());
        let listening = Listening::start(Ears { address: address.clone(), name, deliveries, newest })?;
        let readers = PostgresReaders::new(address.clone());
        Ok(PostgresHost { address: address.clone(), readers, _listening: listening, writing })
    }

    /// Checks that [`PostgresHost::open`] can open the store of this database. It changes nothing.
    ///
    /// # Errors
    /// The database does not answer, takes no writes, or has the tables of a newer version.
    pub fn check(address: &Address) -> Result<(), HostError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| HostError::Unavailable(cause.to_string()))?;
        runtime.block_on(async {
            let session = PostgresSession::open(address).await?;
            schema::version(&session.client).await.map(drop)
        })
    }
}

impl Host for PostgresHost {
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
        Box::pin(async move { self.readers.mission(&id).await })
    }

    fn missions(&self, filter: MissionFilter) -> Later<'_, Vec<MissionListRow>> {
        Box::pin(async move { self.readers.missions(&filter).await })
    }

    fn colonies(&self) -> Later<'_, Vec<Colony>> {
        Box::pin(self.readers.colonies())
    }

    fn colony(&self, id: &str) -> Later<'_, Option<ColonyState>> {
        let id = id.to_owned();
        Box::pin(async move { self.readers.colony(&id).await })
    }

    fn records(&self, after: u64, mission: Option<String>, limit: u32) -> Later<'_, Vec<HistoryRecord>> {
        Box::pin(self.readers.records(after, mission, limit))
    }

    fn counts(&self) -> Later<'_, StoreCounts> {
        Box::pin(self.readers.counts())
    }

    fn keep_text(&self, of: TextOf, text: String) -> Later<'_, bool> {
        self.writing.keep_text(of, text)
    }

    fn text(&self, of: TextOf) -> Later<'_, Option<String>> {
        Box::pin(async move { self.readers.text(&of).await })
    }

    fn due(&self) -> Later<'_, Vec<OpenQuestion>> {
        Box::pin(self.readers.due())
    }

    fn remind(&self, question: OpenQuestion) -> Later<'_, bool> {
        self.writing.remind(question)
    }

    fn forget(&self, ended_before: Millis) -> Later<'_, u64> {
        self.writing.forget(ended_before)
    }

    fn backup(&self, _to: &Path) -> Later<'_, ()> {
        let why = "a store in Postgres is copied with `pg_dump --schema orange_fleet`";
        Box::pin(async move { Err(HostError::Unsupported(why)) })
    }

    fn deliveries(&self) -> broadcast::Receiver<Delivery> {
        self.writing.deliveries().subscribe()
    }

    fn news(&self) -> watch::Receiver<u64> {
        self.writing.news()
    }
}
