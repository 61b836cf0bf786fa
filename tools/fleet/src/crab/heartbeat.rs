//! The heartbeats of a run, in a thread of their own: they go on whatever the crab waits for.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use orange_api::gateway::MessageToCrab;

use super::api::Api;
use super::decide::LeaseState;
use super::program::StillWanted;
use crate::client::GatewayFailure;

/// Time limit of a heartbeat.
const PATIENCE: Duration = Duration::from_secs(20);

/// Wait after a heartbeat that was not answered.
const UNHEARD: Duration = Duration::from_secs(1);

/// Wait before a WebSocket is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// Sender of the heartbeats of one run. It stops when it is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    shared: Arc<SharedHeartbeat>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct SharedHeartbeat {
    api: Arc<Api>,
    crab: String,
    run: String,
    every: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Debug)]
struct State {
    lease: LeaseState,
    /// Reason for which the gateway refuses heartbeats, if it does.
    refusal: Option<String>,
    is_over: bool,
}

impl Heartbeat {
    /// Begins to send heartbeats, at once.
    pub fn start(api: Arc<Api>, crab: &str, run: &str, every: Duration) -> Heartbeat {
        let state = Mutex::new(State { lease: LeaseState::Unheard, refusal: None, is_over: false });
        let (crab, run) = (crab.to_owned(), run.to_owned());
        let shared = Arc::new(SharedHeartbeat { api, crab, run, every, state, changed: Condvar::new() });
        let (sending, listening) = (Arc::clone(&shared), Arc::clone(&shared));
        // It is not waited for: it may be reading, and its connection ends with the next one of the crab.
        thread::spawn(move || listening.listen());
        Heartbeat { shared, thread: Some(thread::spawn(move || sending.send_until_over())) }
    }

    /// State of the lease, as the last answer of the gateway says.
    pub fn lease(&self) -> LeaseState {
        self.shared.locked().lease
    }

    /// Reason for which the gateway refuses the heartbeats, if it does.
    pub fn refusal(&self) -> Option<String> {
        self.shared.locked().refusal.clone()
    }

    /// Asks the gateway now.
    pub fn ask(&self) -> LeaseState {
        self.shared.send();
        self.lease()
    }

    /// Takes the lease for lost, since the gateway has said so elsewhere.
    pub fn lose(&self) {
        self.shared.locked().lease = LeaseState::Lost;
        self.shared.changed.notify_all();
    }

    /// Waits for this time, or until the lease is lost.
    pub fn wait(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut state = self.shared.locked();
        while state.lease != LeaseState::Lost {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.shared.wait(state, left);
        }
    }
}

/// The work of a lost lease is not needed any more.
impl StillWanted for Heartbeat {
    fn is_wanted(&self) -> bool {
        self.lease() != LeaseState::Lost
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.shared.locked().is_over = true;
        self.shared.changed.notify_all();
        // A heartbeat that is under way has its time limit.
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_default();
        }
    }
}

impl SharedHeartbeat {
    fn send_until_over(&self) {
        loop {
            self.send();
            // After an outage the gateway hears of it before a lease ends.
            let is_unheard = {
                let state = self.locked();
                state.lease == LeaseState::Unheard && state.refusal.is_none()
            };
            if self.is_over_after(if is_unheard { self.every.min(UNHEARD) } else { self.every }) {
                return;
            }
        }
    }

    /// Asks at once when the gateway says that the agent is to be ended. Without a WebSocket, the next heartbeat hears of it.
    fn listen(&self) {
        loop {
            if let Ok(mut socket) = self.api.socket(&self.crab) {
                while let Ok(message) = socket.hear() {
                    if self.is_over_after(Duration::ZERO) {
                        return;
                    }
                    if matches!(message, Some(MessageToCrab::EndAgent { run_id, .. }) if run_id == self.run) {
                        self.send();
                    }
                }
            }
            if self.is_over_after(AGAIN) {
                return;
            }
        }
    }

    /// Waits for this time, and says whether the run is over before that.
    fn is_over_after(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.locked();
        loop {
            if state.is_over || state.lease == LeaseState::Lost {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.wait(state, left);
        }
    }

    fn send(&self) {
        let (lease, refusal) = match self.api.heartbeat(&self.crab, &self.run, self.every.min(PATIENCE)) {
            Ok(true) => (LeaseState::Held, None),
            Ok(false) => (LeaseState::Lost, None),
            // A crab that is not known there has no lease there.
            Err(GatewayFailure::Refused { status: 404, .. }) => (LeaseState::Lost, None),
            Err(GatewayFailure::Refused { message, .. }) => (LeaseState::Unheard, Some(message)),
            Err(GatewayFailure::Unheard(_)) => (LeaseState::Unheard, None),
        };
        let mut state = self.locked();
        state.refusal = refusal;
        // A lost lease stays lost.
        if state.lease != LeaseState::Lost {
            state.lease = lease;
        }
        drop(state);
        self.changed.notify_all();
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(&self, state: MutexGuard<'g, State>, time: Duration) -> MutexGuard<'g, State> {
        self.changed.wait_timeout(state, time).map_or_else(|it| it.into_inner().0, |it| it.0)
    }
}
