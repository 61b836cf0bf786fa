//! Crabs' wait for work: on a WebSocket, or by a long poll.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket};
use orange_api::gateway::{CrabMessage, HeartbeatAnswer, MessageToCrab};
use orange_core::scheduler::Refusal;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};

use super::assignment::assignment;
use super::auth::{TokenHolder, unauthorized};
use super::connected::Connection;
use super::connected::Notice;
use super::error::ApiError;
use super::gateway::Gateway;
use super::heartbeats::heartbeat;
use super::run::RunId;
use crate::host::ActorReply;

/// A WebSocket is closed with this code when its crab is not registered any more.
pub const NOT_REGISTERED: u16 = 4404;

/// A WebSocket is closed with this code when its crab has connected again.
pub const REPLACED: u16 = 4409;

/// A WebSocket is closed with this code when its token was revoked.
pub const REVOKED: u16 = 4401;

/// After how long a crab is parked again when the store did not answer.
const PARK_AGAIN: Duration = Duration::from_secs(1);

/// For how long a crab that polls counts as waiting after an answer without work.
const BETWEEN_POLLS: Duration = Duration::from_secs(2);

/// Time limit for a crab to hear that its line ends.
const GOODBYE: Duration = Duration::from_secs(1);

/// Number of pings that a crab may leave without an answer.
const PINGS: u32 = 3;

/// Reason that a WebSocket ends.
enum SocketEnd {
    /// The crab has gone, or does not read.
    Gone,
    /// It is closed with this code and reason.
    Closed(u16, &'static str),
    /// The gateway stops.
    Stopping,
}

const REVOKED_NOW: SocketEnd = SocketEnd::Closed(REVOKED, "the token was revoked");

/// Serves the WebSocket of a crab until one of them goes away.
pub async fn socket(
    gateway: Arc<Gateway>,
    mut socket: WebSocket,
    connection: Connection,
    holder: Arc<TokenHolder>,
) {
    let counted = Arc::clone(&gateway);
    let _counted = counted.metrics.crab();
    let mut crab_socket = CrabSocket { gateway, connection, holder, park_at: None };
    let end = crab_socket.serve(&mut socket).await;
    // An offer that comes meanwhile is made again.
    crab_socket.connection.leave().await;
    let last = match end {
        SocketEnd::Gone => return,
        SocketEnd::Closed(code, reason) => Frame::Close(Some(CloseFrame { code, reason: reason.into() })),
        SocketEnd::Stopping => {
            let after_ms =
                u64::try_from(crab_socket.gateway.settings.retry_after.as_millis()).unwrap_or(u64::MAX);
            let retry = frame(&MessageToCrab::Retry { after_ms });
            if !matches!(timeout(GOODBYE, socket.send(retry)).await, Ok(Ok(()))) {
                return;
            }
            Frame::Close(Some(CloseFrame { code: 1001, reason: "the gateway stops".into() }))
        }
    };
    // Either the crab gets it, or it is gone already.
    if let Ok(Ok(())) = timeout(GOODBYE, socket.send(last)).await {
        drop(timeout(GOODBYE, socket.recv()).await);
    }
}

/// A crab on a WebSocket.
struct CrabSocket {
    gateway: Arc<Gateway>,
    connection: Connection,
    /// Caller that has opened it.
    holder: Arc<TokenHolder>,
    /// Time at which it is parked again, since the store did not answer.
    park_at: Option<Instant>,
}

impl CrabSocket {
    async fn serve(&mut self, socket: &mut WebSocket) -> SocketEnd {
        let every = self.gateway.settings.limits.ping;
        let mut pings = interval_at(Instant::now() + every, every);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        let gateway = Arc::clone(&self.gateway);
        let stop = gateway.stop();
        let mut stop = std::pin::pin!(stop);
        let mut tokens = gateway.tokens.changes();
        loop {
            let park_at = self.park_at.unwrap_or_else(|| Instant::now() + every);
            let done = tokio::select! {
                _ = &mut stop => return SocketEnd::Stopping,
                _ = tokens.changed() => if self.stands() { Ok(()) } else { Err(REVOKED_NOW) },
                notice = self.connection.next() => match notice {
                    _ if !self.stands() => Err(REVOKED_NOW),
                    Some(notice) => self.notify(socket, notice).await,
                    None => Err(self.replaced()),
                },
                received = socket.recv() => {
                    heard = Instant::now();
                    match received {
                        _ if !self.stands() => Err(REVOKED_NOW),
                        Some(Ok(Frame::Text(text))) => self.hear(socket, text.as_str()).await,
                        Some(Ok(Frame::Binary(_))) => self.refuse(socket, not_understood("it is binary")).await,
                        Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => Ok(()),
                        Some(Ok(Frame::Close(_)) | Err(_)) | None => Err(SocketEnd::Gone),
                    }
                },
                _ = pings.tick() => match heard.elapsed() > every * PINGS {
                    _ if !self.stands() => Err(REVOKED_NOW),
                    true => Err(SocketEnd::Gone),
                    false => self.send(socket, Frame::Ping(axum::body::Bytes::new())).await,
                },
                _ = sleep_until(park_at), if self.park_at.is_some() => self.park(socket).await,
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    /// True if its token is still good for it.
    fn stands(&self) -> bool {
        self.gateway.tokens.stands(&self.holder)
    }

    /// Reason that the line is not the crab's any more.
    fn replaced(&self) -> SocketEnd {
        match self.gateway.connected.has(self.connection.colony(), self.connection.crab()) {
            true => SocketEnd::Closed(REPLACED, "the crab has connected again"),
            false => SocketEnd::Closed(NOT_REGISTERED, "the crab is not registered"),
        }
    }

    async fn hear(&mut self, socket: &mut WebSocket, text: &str) -> Result<(), SocketEnd> {
        match serde_json::from_str(text) {
            Ok(CrabMessage::Park) => self.park(socket).await,
            Ok(CrabMessage::Heartbeat { runs }) => {
                let answer =
                    heartbeat(&self.gateway, self.connection.colony(), self.connection.crab(), runs).await;
                match answer {
                    Ok(HeartbeatAnswer { ended, .. }) => self.end(socket, ended).await,
                    Err(refused) => self.refuse(socket, refused).await,
                }
            }
            Err(cause) => self.refuse(socket, not_understood(&cause.to_string())).await,
        }
    }

    async fn park(&mut self, socket: &mut WebSocket) -> Result<(), SocketEnd> {
        self.park_at = None;
        match self.connection.park().await {
            Ok(ActorReply::SchedulerRefused(Refusal::NoSuchCrab) | ActorReply::NotFound) => {
                Err(SocketEnd::Closed(NOT_REGISTERED, "the crab is not registered"))
            }
            Ok(_) => Ok(()),
            Err(error) => {
                self.park_at = Some(Instant::now() + PARK_AGAIN);
                self.refuse(socket, error.into()).await
            }
        }
    }

    async fn notify(&mut self, socket: &mut WebSocket, notice: Notice) -> Result<(), SocketEnd> {
        match messages(&self.gateway, &self.connection, notice).await {
            Ok(messages) => {
                for message in messages {
                    self.send(socket, frame(&message)).await?;
                }
                Ok(())
            }
            // It is offered again when the crab is parked again.
            Err(error) => {
                log::warn!(crab = self.connection.crab(), cause = error.message.as_str(); "a crab could not be reached");
                self.park_at = Some(Instant::now() + PARK_AGAIN);
                Ok(())
            }
        }
    }

    async fn end(&mut self, socket: &mut WebSocket, ended: Vec<String>) -> Result<(), SocketEnd> {
        for id in ended {
            let run = RunId::parse(&id).unwrap_or(RunId { mission: "", step: "", attempt: 0 });
            let (mission_id, attempt) = (run.mission.to_owned(), run.attempt);
            self.send(socket, frame(&MessageToCrab::EndAgent { run_id: id, mission_id, attempt })).await?;
        }
        Ok(())
    }

    async fn refuse(&self, socket: &mut WebSocket, refused: ApiError) -> Result<(), SocketEnd> {
        let ApiError { code, message, help, .. } = refused;
        self.send(socket, frame(&MessageToCrab::Error { code: code.to_owned(), message, help })).await
    }

    async fn send(&self, socket: &mut WebSocket, frame: Frame) -> Result<(), SocketEnd> {
        match timeout(self.gateway.settings.limits.write_within, socket.send(frame)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(SocketEnd::Gone),
        }
    }
}

/// Waits for what a crab is to hear, for at most this long.
///
/// # Errors
/// The crab is not registered, or the store does not answer.
pub async fn poll(
    gateway: &Arc<Gateway>,
    mut connection: Connection,
    wait: Duration,
    holder: &TokenHolder,
) -> Result<Vec<MessageToCrab>, ApiError> {
    let until = Instant::now() + wait;
    let offers = match connection.park().await? {
        ActorReply::SchedulerRefused(refusal) => {
            connection.is_served();
            return Err(ApiError::of_scheduler(&refusal));
        }
        ActorReply::NotFound => {
            connection.is_served();
            return Err(ApiError::of_scheduler(&Refusal::NoSuchCrab));
        }
        ActorReply::Done { offers, .. } => offers,
        ActorReply::MissionRefused(_) | ActorReply::Conflict | ActorReply::BranchTaken { .. } => Vec::new(),
    };
    let mut found = Vec::new();
    for (_, item) in offers.into_iter().filter(|(crab, _)| crab == connection.crab()) {
        found.extend(messages(gateway, &connection, Notice::Offer(item)).await?);
    }
    let mut tokens = gateway.tokens.changes();
    while found.is_empty() {
        let notice = tokio::select! {
            notice = connection.next() => notice,
            _ = tokens.changed() => match gateway.tokens.stands(holder) {
                true => continue,
                false => {
                    connection.leave().await;
                    return Err(unauthorized("the token was revoked"));
                }
            },
            _ = sleep_until(until) => {
                tokio::spawn(linger(Arc::clone(gateway), connection));
                return Ok(found);
            }
            () = gateway.stop() => {
                connection.leave().await;
                let after_ms = u64::try_from(gateway.settings.retry_after.as_millis()).unwrap_or(u64::MAX);
                return Ok(vec![MessageToCrab::Retry { after_ms }]);
            }
        };
        let Some(notice) = notice else { return Ok(found) };
        if !gateway.tokens.stands(holder) {
            connection.leave().await;
            return Err(unauthorized("the token was revoked"));
        }
        found.extend(messages(gateway, &connection, notice).await?);
    }
    // An offer that is not taken here is made again.
    while let Some(notice @ Notice::EndAgent { .. }) = connection.ready() {
        found.extend(messages(gateway, &connection, notice).await?);
    }
    Ok(found)
}

/// Between two polls the crab still waits, so that no other crab takes a step of its role meanwhile.
async fn linger(gateway: Arc<Gateway>, connection: Connection) {
    tokio::select! {
        () = tokio::time::sleep(BETWEEN_POLLS) => {}
        () = gateway.stop() => {}
    }
    connection.leave().await;
}

/// Messages that a crab is sent for a notice.
async fn messages(
    gateway: &Gateway,
    connection: &Connection,
    notice: Notice,
) -> Result<Vec<MessageToCrab>, ApiError> {
    match notice {
        Notice::Offer(item) => {
            let assigned = assignment(gateway, &item.mission, item.step, item.attempt).await?;
            connection.is_served();
            Ok(vec![MessageToCrab::TaskAssigned(Box::new(assigned))])
        }
        Notice::EndAgent { mission, step, attempt } => {
            let step =
                gateway.known(&mission).await?.and_then(|it| Some(it.plan.steps.get(step.index())?.id));
            Ok(step.map(|step| end_agent(RunId { mission: &mission, step, attempt })).into_iter().collect())
        }
    }
}

fn end_agent(run: RunId<'_>) -> MessageToCrab {
    MessageToCrab::EndAgent {
        run_id: run.to_string(),
        mission_id: run.mission.to_owned(),
        attempt: run.attempt,
    }
}

fn frame(message: &MessageToCrab) -> Frame {
    Frame::Text(serde_json::to_string(message).unwrap_or_default().into())
}

fn not_understood(why: &str) -> ApiError {
    ApiError::bad("bad_message", format!("the message is not understood: {why}"))
        .help("a crab sends {\"type\": \"Park\"} and {\"type\": \"Heartbeat\", \"runs\": […]}")
}
