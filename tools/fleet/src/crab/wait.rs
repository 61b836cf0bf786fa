//! The wait of a crab for a job: on a WebSocket, and by a long poll where that fails.

use std::time::{Duration, Instant};

use orange_api::Result;
use orange_api::gateway::{MessageToCrab, TaskAssigned};

use super::job::Job;
use super::random;
use super::{Crab, RETRIES};
use crate::client::GatewayFailure;

/// Time for which a poll waits for work.
const POLL: Duration = Duration::from_secs(20);

/// Time for which a crab polls after a WebSocket has failed.
const POLLS: Duration = Duration::from_secs(60);

impl Crab {
    /// Asks for work until there is some, and writes it down.
    pub(super) fn wait_for_work(&mut self) -> Result<Job> {
        let mut pause = RETRIES.0;
        loop {
            self.remove_old();
            match self.messages() {
                Ok(messages) => {
                    pause = RETRIES.0;
                    if let Some(assigned) = self.taken(messages) {
                        self.tell(&format!("has {}", assigned.run_id));
                        let job = Job::new(assigned, random()?);
                        return self.home.save(&job).map(|()| job);
                    }
                }
                Err(GatewayFailure::Refused { status: 404, .. }) => {
                    self.socket = None;
                    self.register()?;
                }
                Err(failed @ GatewayFailure::Refused { .. }) => return Err(failed.into_error()),
                Err(failed @ GatewayFailure::Unheard(_)) => self.pause_after(&failed, &mut pause),
            }
        }
    }

    /// Next messages of the gateway.
    fn messages(&mut self) -> std::result::Result<Vec<MessageToCrab>, GatewayFailure> {
        if self.polls_until.is_some_and(|until| Instant::now() < until) {
            return self.api.poll(&self.id, POLL);
        }
        match self.on_line() {
            Ok(messages) => Ok(messages),
            Err(failed) => {
                self.socket = None;
                if matches!(failed, GatewayFailure::Refused { status: 401 | 403 | 404, .. }) {
                    return Err(failed);
                }
                // A proxy may know no WebSockets.
                self.tell(&format!("polls for a while, without a WebSocket: {failed}"));
                self.polls_until = Some(Instant::now() + POLLS);
                Ok(Vec::new())
            }
        }
    }

    fn on_line(&mut self) -> std::result::Result<Vec<MessageToCrab>, GatewayFailure> {
        let mut socket = match self.socket.take() {
            Some(socket) => socket,
            None => {
                let mut socket = self.api.socket(&self.id)?;
                socket.park()?;
                socket
            }
        };
        let message = socket.hear()?;
        self.socket = Some(socket);
        Ok(message.into_iter().collect())
    }

    fn taken(&mut self, messages: Vec<MessageToCrab>) -> Option<TaskAssigned> {
        let mut taken = None;
        for message in messages {
            match message {
                MessageToCrab::TaskAssigned(assigned) => taken = Some(*assigned),
                MessageToCrab::Retry { after_ms } => {
                    // The gateway stops.
                    self.socket = None;
                    std::thread::sleep(Duration::from_millis(after_ms).min(RETRIES.1));
                }
                // It has no agent.
                MessageToCrab::EndAgent { .. } | MessageToCrab::Error { .. } | MessageToCrab::Unknown => {}
            }
        }
        if taken.is_some() {
            // With a job it listens to the answers to its heartbeats.
            self.socket = None;
        }
        taken
    }
}
