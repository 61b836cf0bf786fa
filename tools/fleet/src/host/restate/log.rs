//! Asking the log, which the service `orange-fleet restate-log` has in a Restate server.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::address::Address;
use crate::host::{HostError, Millis};

/// The name of the virtual object.
pub(super) const OBJECT: &str = "OrangeLog";

/// Time limit for a server to answer at all.
const CONNECT: Duration = Duration::from_secs(2);

/// Time limit for one call.
const PATIENCE: Duration = Duration::from_secs(8);

/// Time for which an entry whose answer is lost is sent again and again.
const LOST: Duration = Duration::from_secs(20);

/// Pause before it is sent again.
const AGAIN: Duration = Duration::from_millis(100);

/// The most bytes of entries in one answer, about.
const PAGE: u64 = 4 << 20;

/// The most bytes of an answer: one entry may be as long as Restate takes.
const LONGEST: u64 = 64 << 20;

/// A log of a Restate server.
pub(super) struct RemoteLog {
    address: Address,
    agent: ureq::Agent,
}

/// A part of a log.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    /// Number of entries that the log has had.
    pub(super) length: u64,
    /// The time by the clock of the service.
    pub(super) now: Millis,
    /// Id of this log, different from that of an earlier log with its name.
    pub(super) born: Option<String>,
    /// The image in whose place the entries before the first one are: its position, and its chunks.
    pub(super) image: Option<(u64, u64)>,
    /// The entries after the position that was asked for, unless the image has some of them.
    pub(super) entries: Vec<String>,
}

/// Result of appending an entry.
#[derive(Debug)]
pub(super) enum Appended {
    /// It is durable, and the last of the log.
    Yes,
    /// Others were first, and have written this; or others have their turn, and it is too early.
    Late(Page),
}

/// Reason for a missing answer.
enum Silence {
    /// Nothing is known.
    Unheard(String),
    /// The call is refused.
    Refused(HostError),
}

impl Silence {
    fn into_error(self) -> HostError {
        match self {
            Silence::Unheard(cause) => HostError::Unavailable(cause),
            Silence::Refused(error) => error,
        }
    }
}

impl RemoteLog {
    pub(super) fn new(address: Address) -> RemoteLog {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(PATIENCE))
            .max_idle_connections_per_host(16)
            .no_delay(true)
            .proxy(None)
            .build()
            .new_agent();
        RemoteLog { address, agent }
    }

    /// Number of entries that the log has had.
    ///
    /// # Errors
    /// It does not answer.
    pub(super) fn length(&self) -> Result<u64, HostError> {
        self.look("length", &json!({}))
    }

    /// The entries after a position.
    ///
    /// # Errors
    /// It does not answer.
    pub(super) fn read(&self, after: u64) -> Result<Page, HostError> {
        self.look("read", &json!({"after": after, "limit": PAGE}))
    }

    /// A chunk of the image of this position, unless a newer one has taken its place.
    ///
    /// # Errors
    /// It does not answer.
    pub(super) fn chunk(&self, at: u64, number: u64) -> Result<Option<String>, HostError> {
        self.look("chunk", &json!({"at": at, "number": number}))
    }

    /// Appends an entry, if it is the one after this position. When the answer is lost, the same entry is sent again: it is taken once.
    ///
    /// # Errors
    /// Nobody knows whether the entry is taken, or it is refused.
    pub(super) fn append(&self, after: u64, by: &str, id: &str, entry: &str) -> Result<Appended, HostError> {
        let body = json!({"after": after, "by": by, "id": id, "entry": entry});
        let late: Option<Page> = self.insist("append", &format!("{id}-{after}"), &body)?;
        Ok(late.map_or(Appended::Yes, Appended::Late))
    }

    /// Says that a gateway whose entry has come late has none any more.
    ///
    /// # Errors
    /// Nobody knows whether the log has heard it.
    pub(super) fn leave(&self, by: &str) -> Result<(), HostError> {
        self.look::<bool>("leave", &json!({"by": by})).map(drop)
    }

    /// Sends a chunk of an image, which takes the place of the entries up to its position with the last one. Says whether another image
    /// is not preferred to it.
    ///
    /// # Errors
    /// Nobody knows whether the chunk is taken.
    pub(super) fn snapshot(
        &self,
        by: &str,
        (at, number, of): (u64, u64, u64),
        data: &str,
    ) -> Result<bool, HostError> {
        let body = json!({"at": at, "number": number, "of": of, "by": by, "data": data});
        self.insist("snapshot", &format!("{by}-{at}-{number}"), &body)
    }

    /// A call that changes nothing. It goes on another connection when the one that was there before is gone.
    fn look<T: for<'de> Deserialize<'de>>(&self, handler: &str, body: &Value) -> Result<T, HostError> {
        let begin = Instant::now();
        match self.call(handler, None, body) {
            Err(Silence::Unheard(_)) if begin.elapsed() < CONNECT => self.call(handler, None, body),
            answer => answer,
        }
        .map_err(Silence::into_error)
    }

    /// A call that changes something, until it is answered.
    fn insist<T: for<'de> Deserialize<'de>>(
        &self,
        handler: &str,
        key: &str,
        body: &Value,
    ) -> Result<T, HostError> {
        let begin = Instant::now();
        loop {
            match self.call(handler, Some(key), body) {
                Err(Silence::Unheard(_)) if begin.elapsed() < LOST => std::thread::sleep(AGAIN),
                answer => return answer.map_err(Silence::into_error),
            }
        }
    }

    fn call<T: for<'de> Deserialize<'de>>(
        &self,
        handler: &str,
        key: Option<&str>,
        body: &Value,
    ) -> Result<T, Silence> {
        let (server, name) = (self.address.server(), self.address.name());
        let url = format!("http://{server}/{OBJECT}/{name}/{handler}");
        let mut call = self.agent.post(&url).header("Content-Type", "application/json");
        if let Some(key) = key {
            call = call.header("Idempotency-Key", key);
        }
        let mut answer = call.send(body.to_string()).map_err(|cause| self.unheard(&cause))?;
        let status = answer.status().as_u16();
        let text = answer.body_mut().with_config().limit(LONGEST).read_to_string();
        let text = text.map_err(|cause| self.unheard(&cause))?;
        match status {
            200..=299 => serde_json::from_str(&text).map_err(|cause| {
                Silence::Unheard(format!("{server} answers something else than a log would: {cause}"))
            }),
            404 => Err(Silence::Unheard(format!(
                "the Restate server at {server} does not know the log: run `orange-fleet restate-log --admin http://HOST:9070` \
                 with the address of its admin API"
            ))),
            408 | 425 | 429 | 500..=599 => Err(Silence::Unheard(format!(
                "{server} answers {status}: {}; look at the log of the Restate server, and whether `orange-fleet restate-log` runs",
                cause_of(&text)
            ))),
            413 => Err(Silence::Refused(HostError::Unavailable(
                "what was sent is longer than the Restate server takes: send shorter texts".to_owned(),
            ))),
            _ => Err(Silence::Refused(HostError::Unavailable(format!(
                "{server} refuses ({status}): {}; look whether it is the ingress of a Restate server",
                cause_of(&text)
            )))),
        }
    }

    fn unheard(&self, cause: &ureq::Error) -> Silence {
        let server = self.address.server();
        let is_refused = matches!(cause, ureq::Error::Io(it) if it.kind() == ErrorKind::ConnectionRefused);
        let is_nobody = matches!(
            cause,
            ureq::Error::Timeout(ureq::Timeout::Connect)
                | ureq::Error::ConnectionFailed
                | ureq::Error::HostNotFound
        );
        Silence::Unheard(if is_refused || is_nobody {
            format!("no Restate server answers at {server} ({cause}): start it, or correct the address")
        } else if matches!(cause, ureq::Error::Timeout(_)) {
            format!(
                "the Restate server at {server} gives no answer in time: look whether `orange-fleet restate-log` runs where it is \
                 registered"
            )
        } else {
            format!("the Restate server at {server} is not heard: {cause}")
        })
    }
}

/// The message of a refusal of Restate, which a text without that form is itself.
fn cause_of(text: &str) -> String {
    let form: Option<Value> = serde_json::from_str(text).ok();
    let message = form.as_ref().and_then(|it| it["message"].as_str());
    message.unwrap_or(text).chars().take(200).collect()
}
