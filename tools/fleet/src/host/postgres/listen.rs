//! Notices of other gateways on the same database, heard on a connection of its own.
//!
//! A lost connection misses something. Crabs that wait are offered again what nobody has accepted, and the newest record is looked up.

use std::sync::Weak;
use std::thread::JoinHandle;
use std::time::Duration;

use orange_core::scheduler::Lease;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio_postgres::AsyncMessage;

use super::address::Address;
use super::notices;
use super::read::PostgresReaders;
use super::session::{PostgresSession, broken};
use crate::host::{Delivery, HostError, Instruction};

/// Pause before it connects again.
const AGAIN: Duration = Duration::from_millis(500);

/// Interval between looks for something that was missed.
const LOOK: Duration = Duration::from_secs(5);

/// The thread that listens, for as long as this lives.
pub(super) struct Listening {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The listener: its address, and the channels to which it passes what it hears.
pub(super) struct Ears {
    pub(super) address: Address,
    /// Name of this process: it does not listen to itself.
    pub(super) name: String,
    pub(super) deliveries: broadcast::Sender<Delivery>,
    pub(super) newest: Weak<watch::Sender<u64>>,
}

impl Listening {
    /// Begins to listen.
    pub(super) fn start(ears: Ears) -> Result<Listening, HostError> {
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| HostError::Unavailable(cause.to_string()))?;
        let thread = std::thread::Builder::new()
            .name("fleet-listener".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = ears.listen() => {}
                        // It is dropped with the host.
                        _ = stopped => {}
                    }
                });
            })
            .map_err(|cause| {
                HostError::Unavailable(format!("cannot start the thread that listens: {cause}"))
            })?;
        Ok(Listening { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_default();
        }
    }
}

impl Ears {
    async fn listen(&self) {
        let readers = PostgresReaders::new(self.address.clone());
        let mut is_first = true;
        loop {
            if let Err(error) = self.listen_once(&readers, is_first).await {
                log::warn!(cause = error.to_string().as_str(); "other gateways are not heard");
            }
            is_first = false;
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Listens until the connection is lost.
    async fn listen_once(&self, readers: &PostgresReaders, is_first: bool) -> Result<(), HostError> {
        let (client, mut connection) = self.address.connect().await?;
        let (hear, mut heard) = mpsc::unbounded_channel();
        let driven = tokio::spawn(async move {
            while let Some(message) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
                match message {
                    Ok(AsyncMessage::Notification(it)) => {
                        hear.send(it.payload().to_owned()).unwrap_or_default();
                    }
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        });
        let session = PostgresSession::with(client).await?;
        session.client.batch_execute("listen orange_fleet").await.map_err(|it| broken(&it))?;
        if !is_first {
            self.repeat_offers(readers).await?;
        }
        let mut looks = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                text = heard.recv() => match text {
                    Some(text) => self.hear(&text),
                    None => break,
                },
                _ = looks.tick() => self.look(&session).await?,
            }
        }
        driven.await.unwrap_or_default();
        Err(HostError::Unavailable("the connection to the database is lost".to_owned()))
    }

    fn hear(&self, text: &str) {
        let Some(notice) = notices::read(text).filter(|it| it.name != self.name) else { return };
        for delivery in notice.deliveries {
            // Nobody may be there to hear it: crabs that come ask for it.
            self.deliveries.send(delivery).map(drop).unwrap_or_default();
        }
        self.publish(notice.newest);
    }

    async fn look(&self, session: &PostgresSession) -> Result<(), HostError> {
        let row = session.client.query_one("select record from store", &[]).await;
        self.publish(row.map_err(|it| broken(&it))?.get::<_, i64>(0).unsigned_abs());
        Ok(())
    }

    fn publish(&self, newest: u64) {
        if let Some(news) = self.newest.upgrade() {
            crate::host::unit_of_work::publish(&news, newest);
        }
    }

    /// Says again which steps were offered to crabs that have not accepted them.
    async fn repeat_offers(&self, readers: &PostgresReaders) -> Result<(), HostError> {
        for colony in readers.colonies().await? {
            let Some(state) = readers.colony(&colony.id).await? else { continue };
            for Lease { crab, item, is_accepted, .. } in state.scheduler.leases.into_values() {
                if !is_accepted {
                    let what = Instruction::Offer(item);
                    let delivery = Delivery { colony: colony.id.clone(), crab, what };
                    self.deliveries.send(delivery).map(drop).unwrap_or_default();
                }
            }
        }
        Ok(())
    }
}
