//! The crabs that wait at this gateway, and how what they are to hear reaches them.
//!
//! A delivery is a hint: when one is missed, the crab is parked again, and the scheduler repeats an offer that nobody has accepted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use orange_core::scheduler::Event;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use super::gateway::Gateway;
pub use crate::host::Instruction as Notice;
use crate::host::{ActorReply, ColonyState, Delivery, HostError};

/// The most notices that a connection may be behind.
const BEHIND: usize = 16;

/// A colony and one of its crabs.
type CrabKey = (String, String);

/// The crabs that wait here.
#[derive(Debug, Default)]
pub struct Connected {
    channels: Mutex<HashMap<CrabKey, CrabChannel>>,
    made: AtomicU64,
}

/// Channel on which a crab is reached.
#[derive(Debug)]
struct CrabChannel {
    number: u64,
    messages: mpsc::Sender<Notice>,
    waits: Arc<AtomicBool>,
}

/// The other end: a crab that waits. A newer connection of the same crab ends it.
pub struct Connection {
    gateway: Arc<Gateway>,
    key: CrabKey,
    number: u64,
    messages: mpsc::Receiver<Notice>,
    waits: Arc<AtomicBool>,
}

impl Connected {
    fn channels(&self) -> MutexGuard<'_, HashMap<CrabKey, CrabChannel>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The crabs that wait for work here.
    fn waiting(&self) -> Vec<CrabKey> {
        let channels = self.channels();
        channels
            .iter()
            .filter(|(_, it)| it.waits.load(Ordering::Relaxed))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// True if a crab is connected.
    pub fn has(&self, colony: &str, crab: &str) -> bool {
        self.channels().contains_key(&(colony.to_owned(), crab.to_owned()))
    }

    /// True if a crab of this colony is connected.
    pub fn has_crabs_of(&self, colony: &str) -> bool {
        self.channels().keys().any(|(it, _)| it == colony)
    }

    /// Hands a delivery to its crab, if it is here. A crab that is too far behind hears of it when it waits again.
    fn deliver(&self, delivery: Delivery) {
        let Delivery { colony, crab, what } = delivery;
        if let Some(channel) = self.channels().get(&(colony, crab)) {
            channel.messages.try_send(what).unwrap_or_default();
        }
    }
}

impl Connection {
    /// A connection of this crab, in the place of an older one.
    pub fn new(gateway: &Arc<Gateway>, colony: &str, crab: &str) -> Connection {
        let (sender, messages) = mpsc::channel(BEHIND);
        let (key, waits) = ((colony.to_owned(), crab.to_owned()), Arc::new(AtomicBool::new(false)));
        let number = gateway.connected.made.fetch_add(1, Ordering::Relaxed);
        let channel = CrabChannel { number, messages: sender, waits: Arc::clone(&waits) };
        gateway.connected.channels().insert(key.clone(), channel);
        Connection { gateway: Arc::clone(gateway), key, number, messages, waits }
    }

    /// The colony of the crab.
    pub fn colony(&self) -> &str {
        &self.key.0
    }

    pub fn crab(&self) -> &str {
        &self.key.1
    }

    /// The next message; `None` when a newer connection of the crab has taken its place.
    pub async fn next(&mut self) -> Option<Notice> {
        self.messages.recv().await
    }

    /// A message that is already there.
    pub fn ready(&mut self) -> Option<Notice> {
        self.messages.try_recv().ok()
    }

    /// Has the crab wait for work.
    pub async fn park(&self) -> Result<ActorReply, HostError> {
        self.waits.store(true, Ordering::Relaxed);
        let crab = self.crab().to_owned();
        self.gateway.scheduler(self.colony(), Event::Park { crab }).await
    }

    /// The crab has got something to do.
    pub fn is_served(&self) {
        self.waits.store(false, Ordering::Relaxed);
    }

    /// Ends the connection. A crab that was waiting waits no longer.
    pub async fn leave(self) {
        if let Some((gateway, (colony, crab))) = self.gone() {
            unpark(&gateway, &colony, crab).await;
        }
    }

    /// The gateway and the crab, if this is its newest connection and it was waiting. It is not reached any more.
    fn gone(&self) -> Option<(Arc<Gateway>, CrabKey)> {
        let mut channels = self.gateway.connected.channels();
        channels.get(&self.key).filter(|it| it.number == self.number)?;
        channels.remove(&self.key);
        let was_waiting = self.waits.swap(false, Ordering::Relaxed);
        was_waiting.then(|| (Arc::clone(&self.gateway), self.key.clone()))
    }
}

impl Drop for Connection {
    /// For a caller that has gone away in the middle of its call.
    fn drop(&mut self) {
        if let Some((gateway, (colony, crab))) = self.gone()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move { unpark(&gateway, &colony, crab).await });
        }
    }
}

async fn unpark(gateway: &Gateway, colony: &str, crab: String) {
    if let Err(error) = gateway.scheduler(colony, Event::Unpark { crab }).await {
        log::warn!(colony = colony, cause = error.to_string().as_str(); "a crab has gone, and the store does not know");
    }
}

/// Delivers the instructions to crabs that the store announces, until the store goes away.
pub async fn deliver(gateway: Arc<Gateway>) {
    let mut deliveries = gateway.host.deliveries();
    loop {
        match deliveries.recv().await {
            Ok(delivery) => gateway.connected.deliver(delivery),
            Err(RecvError::Lagged(missed)) => {
                log::warn!(missed = missed; "deliveries were missed");
                for (colony, crab) in gateway.connected.waiting() {
                    park_again(&gateway, &colony, crab).await;
                }
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Compares who waits here with what the scheduler knows. A crab about which they differ is parked again: a delivery was missed, or
/// another gateway has said that the crab is gone. One that is not registered any more loses its channel.
pub async fn reconcile(gateway: &Gateway, state: &ColonyState) {
    let waiting = gateway.connected.waiting();
    for (colony, crab) in waiting.into_iter().filter(|(it, _)| *it == state.colony.id) {
        match state.scheduler.crabs.get(&crab) {
            Some(known) if !known.is_parked && known.fault.is_none() => {
                park_again(gateway, &colony, crab).await
            }
            Some(_) => {}
            None => drop(gateway.connected.channels().remove(&(colony, crab))),
        }
    }
}

async fn park_again(gateway: &Gateway, colony: &str, crab: String) {
    if let Err(error) = gateway.scheduler(colony, Event::Park { crab }).await {
        log::warn!(colony = colony, cause = error.to_string().as_str(); "a crab that waits could not be parked again");
    }
}
