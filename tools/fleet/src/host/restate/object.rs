//! The log itself: a virtual object of Restate, and the service that has its handlers.
//!
//! Its state is `head`, the entries `e/<number>`, and the chunks of images `s/<position>/<number>`. Entries go up to a position when the
//! last chunk of an image of that position comes. Handlers load only the keys that they name, and each answers in milliseconds.
//!
//! All callers wait for their answers. A call that a handler cannot read is refused at once, as one that fails holds the key of the object for as
//! long as it is repeated.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use restate_sdk::prelude::{
    ContextReadState, ContextWriteState, Endpoint, HandlerResult, HttpServer, Json, ObjectContext,
    SharedObjectContext, TerminalError,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};

use crate::fault;

/// The key of the state of the log.
const HEAD: &str = "head";

/// The most bytes of entries in the answer to one that comes late, about.
const LATE: u64 = 1 << 20;

/// Number of refusals of others, for each that stands in the line, until its first loses its place.
const REFUSALS: u64 = 30;

/// Number of connections that may wait to be accepted.
const BACKLOG: u32 = 1024;

/// Time limit for an answer of the admin API of a server. It asks the service meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

/// The state of a log.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Head {
    /// Number of entries that it has had.
    length: u64,
    /// Number of its entries that are gone.
    gone: u64,
    /// The id of its first entry.
    born: Option<String>,
    /// The image in whose place the entries are gone.
    image: Option<Image>,
    /// The image that is being sent.
    next: Option<Image>,
    /// The gateways that have come late, in their order.
    line: Vec<String>,
    /// Number of refusals of others since the first of the line is there.
    refused: u64,
}

impl Head {
    /// True if an entry of this gateway is taken.
    fn has_turn(&self, by: &str) -> bool {
        self.line.first().is_none_or(|it| it == by)
    }

    /// Has a gateway stand in the line. One that is gone does not stay the first.
    fn refuse(&mut self, by: String) {
        if !self.has_turn(&by) {
            self.refused += 1;
            if self.refused > REFUSALS * self.line.len() as u64 {
                self.line.remove(0);
                self.refused = 0;
            }
        }
        if !self.line.contains(&by) {
            self.line.push(by);
        }
    }
}

/// An image of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Image {
    /// The number of the last entry that is in it.
    at: u64,
    /// Number of chunks that have come.
    chunks: u64,
    /// The gateway that sends it.
    by: String,
}

/// An entry with what makes it different from others.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    id: String,
    entry: String,
}

#[derive(Deserialize)]
struct Append {
    after: u64,
    by: String,
    id: String,
    entry: String,
}

#[derive(Deserialize)]
struct Leave {
    by: String,
}

#[derive(Deserialize)]
struct Read {
    after: u64,
    limit: u64,
}

#[derive(Deserialize)]
struct Chunk {
    at: u64,
    number: u64,
}

#[derive(Deserialize)]
struct Snapshot {
    at: u64,
    number: u64,
    of: u64,
    by: String,
    data: String,
}

/// The entries after a position, about so many bytes of them, or the image that one has to begin with. A function could not borrow the keys
/// for as long as a context of any kind.
macro_rules! page {
    ($ctx:ident, $head:ident, $after:ident, $limit:expr) => {{
        let mut entries = Vec::new();
        let mut size = 0;
        let mut next = $after.saturating_add(1);
        while $after >= $head.gone && next <= $head.length && size < $limit {
            // The SDK waits for ever for keys that are asked for at once.
            let key = entry_key(next);
            let Some(Json(Stored { entry, .. })) = $ctx.get(&key).await? else {
                // The log was shortened since its head was read.
                break;
            };
            size += entry.len() as u64;
            entries.push(entry);
            next += 1;
        }
        let image = $head.image.filter(|_| $after < $head.gone).map(|it| (it.at, it.chunks));
        // The time changes nothing in the log, and need not be in the journal.
        let now = fault::now();
        json!({"length": $head.length, "now": now, "born": $head.born, "image": image, "entries": entries})
    }};
}

struct OrangeLog;

#[restate_sdk::object(
    name = "OrangeLog",
    lazy_state,
    journal_retention = "0s",
    idempotency_retention = "10m",
    invocation_retry_policy(
        initial_interval = "100ms",
        factor = 2.0,
        max_interval = "3s",
        max_attempts = 1000000,
        on_max_attempts = "pause"
    )
)]
impl OrangeLog {
    /// Appends an entry, if nobody has appended one since its gateway has read the log. Otherwise it answers what others have appended,
    /// and the gateway stands in a line: the first of the line is the only one whose next entry is taken. Without that, a gateway that
    /// has more to read than others would always come late.
    #[handler]
    async fn append(&self, ctx: ObjectContext<'_>, Json(raw): Json<Value>) -> HandlerResult<Json<Value>> {
        let Append { after, by, id, entry } = understood(raw)?;
        let mut head = ctx.get::<Json<Head>>(HEAD).await?.map(Json::into_inner).unwrap_or_default();
        if head.length != after {
            let key = entry_key(after.saturating_add(1));
            let there = ctx.get::<Json<Stored>>(&key).await?;
            if there.is_some_and(|it| it.into_inner().id == id) {
                return Ok(Json(Value::Null));
            }
        }
        if head.has_turn(&by) && head.length == after {
            head.line.retain(|it| *it != by);
            head.refused = 0;
            head.length += 1;
            head.born.get_or_insert_with(|| id.clone());
            ctx.set(&entry_key(head.length), Json(Stored { id, entry }));
            ctx.set(HEAD, Json(head));
            return Ok(Json(Value::Null));
        }
        head.refuse(by);
        ctx.set(HEAD, Json(head.clone()));
        Ok(Json(page!(ctx, head, after, LATE)))
    }

    /// Takes a gateway out of the line, which has nothing to append any more.
    #[handler]
    async fn leave(&self, ctx: ObjectContext<'_>, Json(raw): Json<Value>) -> HandlerResult<Json<bool>> {
        let Leave { by } = understood(raw)?;
        let mut head = ctx.get::<Json<Head>>(HEAD).await?.map(Json::into_inner).unwrap_or_default();
        let was_there = head.line.contains(&by);
        if was_there {
            head.line.retain(|it| *it != by);
            head.refused = 0;
            ctx.set(HEAD, Json(head));
        }
        Ok(Json(was_there))
    }

    /// The entries after a position, about so many bytes of them, or the image that one has to begin with.
    #[handler(idempotency_retention = "0s")]
    async fn read(&self, ctx: SharedObjectContext<'_>, Json(raw): Json<Value>) -> HandlerResult<Json<Value>> {
        let Read { after, limit } = understood(raw)?;
        let head = ctx.get::<Json<Head>>(HEAD).await?.map(Json::into_inner).unwrap_or_default();
        Ok(Json(page!(ctx, head, after, limit)))
    }

    /// Number of entries that the log has had.
    #[handler(idempotency_retention = "0s")]
    async fn length(&self, ctx: SharedObjectContext<'_>, Json(_): Json<Value>) -> HandlerResult<Json<u64>> {
        let head = ctx.get::<Json<Head>>(HEAD).await?.map(Json::into_inner).unwrap_or_default();
        Ok(Json(head.length))
    }

    /// A chunk of the image of this position.
    #[handler(idempotency_retention = "0s")]
    async fn chunk(
        &self,
        ctx: SharedObjectContext<'_>,
        Json(raw): Json<Value>,
    ) -> HandlerResult<Json<Option<String>>> {
        let Chunk { at, number } = understood(raw)?;
        let key = chunk_key(at, number);
        Ok(Json(ctx.get::<String>(&key).await?))
    }

    /// Takes a chunk of an image, in the order of their numbers; entries are replaced by it with the last one. Says whether this image is
    /// the one that is taken.
    #[handler]
    async fn snapshot(&self, ctx: ObjectContext<'_>, Json(raw): Json<Value>) -> HandlerResult<Json<bool>> {
        let Snapshot { at, number, of, by, data } = understood(raw)?;
        let mut head = ctx.get::<Json<Head>>(HEAD).await?.map(Json::into_inner).unwrap_or_default();
        if at > head.length || at <= head.gone {
            return Ok(Json(false));
        }
        if number == 0 {
            if let Some(Image { at, chunks, .. }) = head.next.take() {
                (0..chunks).for_each(|it| ctx.clear(&chunk_key(at, it)));
            }
            head.next = Some(Image { at, chunks: 0, by: by.clone() });
        }
        let Some(mut next) = head.next.take().filter(|it| it.at == at && it.by == by && it.chunks == number)
        else {
            return Ok(Json(false));
        };
        ctx.set(&chunk_key(at, number), data);
        next.chunks += 1;
        if next.chunks < of {
            head.next = Some(next);
        } else {
            if let Some(Image { at, chunks, .. }) = head.image.replace(next) {
                (0..chunks).for_each(|it| ctx.clear(&chunk_key(at, it)));
            }
            (head.gone + 1..=at).for_each(|it| ctx.clear(&entry_key(it)));
            head.gone = at;
        }
        ctx.set(HEAD, Json(head));
        Ok(Json(true))
    }
}

fn understood<T: for<'de> Deserialize<'de>>(raw: Value) -> Result<T, TerminalError> {
    serde_json::from_value(raw).map_err(|cause| {
        let message =
            format!("the log does not understand the call ({cause}): upgrade `orange-fleet restate-log`");
        TerminalError::new_with_code(400, message)
    })
}

fn entry_key(number: u64) -> String {
    format!("e/{number}")
}

fn chunk_key(at: u64, number: u64) -> String {
    format!("s/{at}/{number}")
}

/// The service that has the handlers of the log. It keeps nothing: Restate does.
#[derive(Debug)]
pub struct Service {
    listener: TcpListener,
    address: SocketAddr,
}

impl Service {
    /// Binds the listener of the service to this address.
    ///
    /// # Errors
    /// The address cannot be used.
    pub fn bind(listen: SocketAddr) -> io::Result<Service> {
        let socket = if listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        // Accepted connections have it, too. Without it, each message waits 40 ms for an acknowledgement.
        socket.set_nodelay(true)?;
        socket.bind(listen)?;
        let listener = socket.listen(BACKLOG)?;
        let address = listener.local_addr()?;
        Ok(Service { listener, address })
    }

    /// Address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until this comes.
    pub async fn serve(self, end: impl Future<Output = ()>) {
        let endpoint = Endpoint::builder().bind(OrangeLog).build();
        HttpServer::new(endpoint).serve_with_cancel(self.listener, end).await;
    }
}

/// Registration of the service at a Restate server.
#[derive(Clone, Debug)]
pub struct Registration {
    /// The address of its admin API, such as `http://127.0.0.1:9070`.
    pub admin: String,
    /// The address at which it finds the service, such as `http://127.0.0.1:9180`.
    pub service: String,
}

impl Registration {
    /// Registers the service, or registers it again.
    ///
    /// # Errors
    /// The registration was not made.
    pub fn make(&self) -> Result<(), String> {
        let url = format!("{}/deployments", self.admin.trim_end_matches('/'));
        let body = json!({"uri": self.service, "force": true}).to_string();
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .proxy(None)
            .build()
            .new_agent();
        let answer = agent.post(&url).header("Content-Type", "application/json").send(body);
        let mut answer = answer.map_err(|cause| cause.to_string())?;
        match answer.status().as_u16() {
            200..=299 => Ok(()),
            status => {
                let text = answer.body_mut().read_to_string().unwrap_or_default();
                Err(format!("it answers {status}: {}", text.chars().take(300).collect::<String>()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_lets_everybody_come_to_a_turn() {
        let mut head = Head::default();
        assert!(head.has_turn("a") && head.has_turn("b"));
        for by in ["a", "b", "a", "c"] {
            head.refuse(by.to_owned());
        }
        assert_eq!(head.line, ["a", "b", "c"]);
        assert!(head.has_turn("a") && !head.has_turn("b") && !head.has_turn("d"));
        // The first is gone.
        let mut refused = 0;
        while head.line[0] == "a" {
            head.refuse("b".to_owned());
            refused += 1;
        }
        assert!(refused > REFUSALS && refused <= 3 * REFUSALS, "{refused}");
        assert_eq!(head.line, ["b", "c"]);
    }
}
