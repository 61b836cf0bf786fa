//! Common part of all hosts whose rows are in SQLite, in a file or in memory.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tokio::sync::{broadcast, watch};

use super::{filter, read, text};
use crate::host::unit_of_work::Writing;
use crate::host::{
    ActorCall, Colony, ColonyState, Delivery, HistoryRecord, Host, HostError, Later, Millis, MissionFilter,
    MissionListRow, NewColony, NewMission, Reply, StoreCounts, StoredMission, TextOf,
};

/// A host with a thread that writes, and with connections to SQLite that read.
pub trait InSqlite: Send + Sync + 'static {
    /// The side that writes.
    fn writing(&self) -> &Writing;

    /// Reads on a thread that may wait.
    fn read<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Connection) -> Result<T, HostError> + Send + 'static,
    ) -> impl Future<Output = Result<T, HostError>> + Send;

    /// Copies everything into a new file.
    fn copy_into(&self, file: PathBuf) -> impl Future<Output = Result<(), HostError>> + Send;
}

impl<H: InSqlite> Host for H {
    fn create_colony(&self, new: NewColony) -> Later<'_, Colony> {
        self.writing().create_colony(new)
    }

    fn create_mission(&self, new: NewMission) -> Later<'_, Reply> {
        self.writing().create_mission(new)
    }

    fn apply(&self, call: ActorCall) -> Later<'_, Reply> {
        self.writing().apply(call)
    }

    fn mission(&self, id: &str) -> Later<'_, Option<StoredMission>> {
        let id = id.to_owned();
        Box::pin(self.read(move |connection| read::mission(connection, &id)))
    }

    fn missions(&self, filter: MissionFilter) -> Later<'_, Vec<MissionListRow>> {
        Box::pin(self.read(move |connection| filter::missions(connection, &filter)))
    }

    fn keep_text(&self, of: TextOf, text: String) -> Later<'_, bool> {
        self.writing().keep_text(of, text)
    }

    fn text(&self, of: TextOf) -> Later<'_, Option<String>> {
        Box::pin(self.read(move |connection| text::text(connection, &of)))
    }

    fn colonies(&self) -> Later<'_, Vec<Colony>> {
        Box::pin(self.read(read::colonies))
    }

    fn colony(&self, id: &str) -> Later<'_, Option<ColonyState>> {
        let id = id.to_owned();
        Box::pin(self.read(move |connection| read::colony(connection, &id)))
    }

    fn records(&self, after: u64, mission: Option<String>, limit: u32) -> Later<'_, Vec<HistoryRecord>> {
        Box::pin(self.read(move |connection| read::records(connection, after, mission.as_deref(), limit)))
    }

    fn counts(&self) -> Later<'_, StoreCounts> {
        Box::pin(self.read(read::counts))
    }

    fn forget(&self, ended_before: Millis) -> Later<'_, u64> {
        self.writing().forget(ended_before)
    }

    fn backup(&self, to: &Path) -> Later<'_, ()> {
        Box::pin(self.copy_into(to.to_owned()))
    }

    fn deliveries(&self) -> broadcast::Receiver<Delivery> {
        self.writing().deliveries().subscribe()
    }

    fn news(&self) -> watch::Receiver<u64> {
        self.writing().news()
    }
}
