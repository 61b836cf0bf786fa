//! Settings of a gateway: its address, its limits, and the lengths of its waits.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The port of a gateway that names none.
pub const PORT: u16 = 8800;

/// Settings of a gateway.
#[derive(Clone, Debug)]
pub struct GatewaySettings {
    /// The folder of the gateway: its tokens, and by default its store.
    pub folder: PathBuf,
    /// Address at which it listens.
    pub listen: SocketAddr,
    /// The certificate and the key of TLS.
    pub tls: Option<TlsFiles>,
    /// Answers on an address that other machines reach even without TLS.
    pub is_plain_allowed: bool,
    /// The names under which it is reached, beside `localhost` and addresses.
    pub host_names: Vec<String>,
    /// Time that a lease stands without a heartbeat, about: three sweeps of half of it.
    pub lease: Duration,
    /// Time that finished missions are kept; for ever without it.
    pub keep: Option<Duration>,
    /// No other gateway has the same store: what was parked before this one started is parked no longer.
    pub is_alone: bool,
    pub limits: Limits,
    /// The collector of OpenTelemetry that takes traces.
    pub traces: Option<String>,
    /// Time that a stop waits for answers that are under way.
    pub stop_within: Duration,
    /// After how long crabs connect again when the gateway stops.
    pub retry_after: Duration,
}

/// The files of TLS, both PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those that lead to its authority.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Limits of what callers may send, and of the time that they may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of a body.
    pub body: usize,
    /// The most bytes of a prompt, of a summary and of a reason.
    pub text: usize,
    /// The most bytes of a message on a WebSocket.
    pub message: usize,
    /// The most connections at a time; others wait.
    pub connections: usize,
    /// Time that the head of a request may take, and that a connection may be idle.
    pub head: Duration,
    /// Time that a body may take.
    pub body_within: Duration,
    /// Time that a caller may leave an answer unread.
    pub write_within: Duration,
    /// The longest wait of a long poll.
    pub poll: Duration,
    /// Interval at which a WebSocket or a connection of HTTP/2 is asked whether it is alive; it has three times this to say so.
    pub ping: Duration,
    /// The most requests at a time on a connection of HTTP/2.
    pub streams: u32,
    /// The most requests of a connection of HTTP/2 that their caller has taken back before the gateway begins with them; one more
    /// ends the connection.
    pub resets: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body: 1 << 20,
            text: 256 << 10,
            message: 64 << 10,
            connections: 4096,
            head: Duration::from_secs(10),
            body_within: Duration::from_secs(30),
            write_within: Duration::from_secs(30),
            poll: Duration::from_secs(60),
            ping: Duration::from_secs(20),
            streams: 100,
            resets: 50,
        }
    }
}

impl GatewaySettings {
    /// Usual settings, for a gateway in this folder: it answers this machine alone.
    pub fn new(folder: impl Into<PathBuf>) -> GatewaySettings {
        GatewaySettings {
            folder: folder.into(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            tls: None,
            is_plain_allowed: false,
            host_names: Vec::new(),
            lease: Duration::from_secs(30),
            keep: Some(Duration::from_secs(90 * 24 * 60 * 60)),
            is_alone: true,
            limits: Limits::default(),
            traces: None,
            stop_within: Duration::from_secs(20),
            retry_after: Duration::from_secs(1),
        }
    }

    /// Interval between sweeps of leases.
    pub fn sweep_every(&self) -> Duration {
        self.lease / 2
    }

    /// Interval at which crabs are asked to send heartbeats.
    pub fn heartbeat_every(&self) -> Duration {
        self.lease / 3
    }

    /// Interval at which the heartbeats that have come in are passed to the store.
    pub fn flush_every(&self) -> Duration {
        self.lease / 6
    }
}
