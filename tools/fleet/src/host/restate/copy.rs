//! The copy of the store that is read, and what other gateways say in their entries.
//!
//! It is another copy than the one that writes: nobody who reads waits for the log to take an entry.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{Semaphore, broadcast, watch};

use super::entry::{Entry, Op};
use super::log::RemoteLog;
use super::replica::Replica;
use super::rows::Me;
use crate::host::unit_of_work::publish;
use crate::host::{Delivery, HostError};

/// The most readers that ask the log at once.
const READERS: usize = 16;

/// Interval between looks for what others have written.
const LOOK: Duration = Duration::from_millis(500);

/// The copy that is read.
pub(super) struct Copy {
    log: Arc<RemoteLog>,
    me: Arc<Me>,
    replica: Mutex<Replica>,
    turns: Semaphore,
    deliveries: broadcast::Sender<Delivery>,
    newest: Weak<watch::Sender<u64>>,
}

impl Copy {
    /// The copy `replica`.
    pub(super) fn new(
        replica: Replica,
        log: Arc<RemoteLog>,
        me: Arc<Me>,
        deliveries: broadcast::Sender<Delivery>,
        newest: Weak<watch::Sender<u64>>,
    ) -> Copy {
        let (replica, turns) = (Mutex::new(replica), Semaphore::new(READERS));
        Copy { log, me, replica, turns, deliveries, newest }
    }

    /// Reads what is in the log now.
    pub(super) async fn read<T: Send + 'static>(
        self: Arc<Copy>,
        ask: impl FnOnce(&Connection) -> Result<T, HostError> + Send + 'static,
    ) -> Result<T, HostError> {
        let copy = Arc::clone(&self);
        let _turn = self.turns.acquire().await.map_err(|_| HostError::Stopping)?;
        let asked = tokio::task::spawn_blocking(move || copy.fresh(ask));
        asked.await.map_err(|_| HostError::Stopping)?
    }

    fn fresh<T>(&self, ask: impl FnOnce(&Connection) -> Result<T, HostError>) -> Result<T, HostError> {
        let length = self.log.length()?;
        let mut replica = self.replica.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have read more meanwhile.
        if replica.position() != length {
            replica.catch_up(&self.log, None, |entry| self.hear(entry))?;
        }
        ask(&replica.rows.connection)
    }

    fn say(&self, deliveries: impl IntoIterator<Item = Delivery>) {
        for delivery in deliveries {
            // Nobody may be there to hear it: crabs that come ask for it.
            self.deliveries.send(delivery).map(drop).unwrap_or_default();
        }
    }

    fn hear(&self, entry: &Entry) {
        for op in &entry.ops {
            let Op::Write(writes) = op else { continue };
            if entry.by != self.me.name {
                self.say(writes.deliveries.iter().cloned());
            }
            if let Some(news) = self.newest.upgrade() {
                publish(&news, writes.newest.record);
            }
        }
    }
}

/// The thread that looks what others have written, for as long as this lives.
pub(super) struct Looking {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Looking {
    /// Begins to look.
    ///
    /// # Errors
    /// No thread can be started.
    pub(super) fn start(copy: Arc<Copy>) -> Result<Looking, HostError> {
        let (stop, stopped) = channel();
        let look = move || {
            let mut is_heard = true;
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(LOOK) {
                let heard = copy.fresh(|_| Ok(()));
                let unsaid =
                    std::mem::take(&mut *copy.me.unsaid.lock().unwrap_or_else(PoisonError::into_inner));
                copy.say(unsaid);
                if let (Err(error), true) = (&heard, is_heard) {
                    ::log::warn!(cause = error.to_string().as_str(); "other gateways are not heard");
                }
                is_heard = heard.is_ok();
            }
        };
        let thread = std::thread::Builder::new().name("fleet-listener".to_owned()).spawn(look);
        let thread = thread.map_err(|cause| {
            HostError::Unavailable(format!("cannot start the thread that listens: {cause}"))
        })?;
        Ok(Looking { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_default();
        }
    }
}
