//! Frames of HTTP/2 over TLS, written and read one by one, for callers that do not behave.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use orange_fleet::client::roots;
use orange_fleet::serve::GatewaySettings;
use orange_fleet::serve::settings::TlsFiles;
use tempfile::TempDir;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::stops::certificates;
use crate::world::{PATIENCE, TokenClient, World};

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RESET: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GO_AWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// The entry of HPACK's table that says `:status: 200`.
pub const OK: u8 = 0x88;

/// A world whose gateway has TLS.
pub struct Secure {
    pub world: World,
    certificates: TempDir,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http2Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// A connection, below HTTP.
pub type Tls = StreamOwned<ClientConnection, TcpStream>;

/// A connection of HTTP/2.
pub struct Wire {
    pub tls: Tls,
    /// By then, what its test waits for has come.
    until: Instant,
    authority: String,
    token: String,
}

impl Secure {
    pub fn new() -> Secure {
        Secure::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut GatewaySettings)) -> Secure {
        let folder = tempfile::tempdir().unwrap();
        certificates(folder.path());
        let files =
            TlsFiles { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
        let world = World::with(|settings| {
            settings.tls = Some(files);
            change(settings);
        });
        Secure { world, certificates: folder }
    }

    /// A connection on which TLS agrees on one of these protocols.
    pub fn tls(&self, protocols: &[&str]) -> Tls {
        let mut config = ClientConfig::clone(&trusting(self.certificates.path()));
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        StreamOwned::new(connection, self.world.admin.raw())
    }

    /// Configuration of TLS for a crab's WebSocket.
    pub fn trusting(&self) -> Arc<ClientConfig> {
        trusting(self.certificates.path())
    }

    /// A connection of HTTP/2 on which the gateway sends as much as it wants.
    pub fn wire(&self) -> Wire {
        self.wire_with_window(0x7fff_ffff)
    }

    /// A connection of HTTP/2 that takes so many bytes of each answer.
    pub fn wire_with_window(&self, window: u32) -> Wire {
        let mut wire = self.unopened();
        let setting = [&[0, 4], &window.to_be_bytes()[..]].concat();
        let window = (0x7fff_ffff_u32 - 65_535).to_be_bytes();
        let settings = [frame(SETTINGS, 0, 0, &setting), frame(WINDOW_UPDATE, 0, 0, &window)].concat();
        // Where a limit is short, the gateway may have cut the connection off.
        drop(wire.tls.write_all(&[PREFACE, &settings].concat()));
        wire
    }

    /// A connection on which a request has come in time, and its answer has begun on stream 1.
    pub fn begun(&self, path: &str) -> Wire {
        loop {
            let mut wire = self.wire();
            let head = wire.head("GET", path, &[("accept", "text/event-stream")]);
            drop(wire.try_send(HEADERS, END_STREAM | END_HEADERS, 1, &head));
            while let Some(frame) = wire.next() {
                if frame.kind == HEADERS {
                    return wire;
                }
            }
        }
    }

    /// A connection that agrees on HTTP/2, and has sent nothing.
    pub fn unopened(&self) -> Wire {
        let TokenClient { address, token, .. } = &self.world.admin;
        let tls = self.tls(&["h2"]);
        let (authority, token) = (address.to_string(), token.clone().unwrap());
        Wire { tls, until: Instant::now() + PATIENCE, authority, token }
    }
}

fn trusting(folder: &Path) -> Arc<ClientConfig> {
    let pem = std::fs::read(folder.join("cert.pem")).unwrap();
    Arc::new(roots::tls(Some(roots::read(&pem).unwrap())).unwrap())
}

impl Wire {
    pub fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.try_send(kind, flags, stream, payload).unwrap();
    }

    pub fn try_send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> std::io::Result<()> {
        self.tls.write_all(&frame(kind, flags, stream, payload))?;
        self.tls.flush()
    }

    /// Begins a request without a body.
    pub fn get(&mut self, stream: u32, path: &str) {
        let head = self.head("GET", path, &[]);
        self.send(HEADERS, END_STREAM | END_HEADERS, stream, &head);
    }

    /// Begins to follow the events.
    pub fn follow(&mut self, stream: u32) {
        let head = self.head("GET", "/v1/events", &[("accept", "text/event-stream")]);
        self.send(HEADERS, END_STREAM | END_HEADERS, stream, &head);
    }

    /// Sends a request with a body.
    pub fn post(&mut self, stream: u32, path: &str, body: &serde_json::Value) {
        let head = self.head("POST", path, &[("content-type", "application/json")]);
        self.send(HEADERS, END_HEADERS, stream, &head);
        self.send(DATA, END_STREAM, stream, body.to_string().as_bytes());
    }

    /// The head of a request, with the token.
    pub fn head(&self, method: &str, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
        let authority = self.authority.clone();
        self.head_at(&authority, method, path, more)
    }

    /// The head of a request to a gateway of this name.
    pub fn head_at(&self, authority: &str, method: &str, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
        let bearer = format!("Bearer {}", self.token);
        let usual = [
            (":method", method),
            (":scheme", "https"),
            (":path", path),
            (":authority", authority),
            ("authorization", &bearer),
        ];
        usual.iter().chain(more).flat_map(|(name, value)| field(name, value)).collect()
    }

    /// The next frame that is not a business of the connection alone; pings are answered.
    pub fn next(&mut self) -> Option<Http2Frame> {
        loop {
            let frame = self.frame()?;
            match frame.kind {
                // An answer comes too late when the gateway has closed.
                PING if frame.flags & ACK == 0 => drop(self.try_send(PING, ACK, 0, &frame.payload)),
                SETTINGS if frame.flags & ACK == 0 => drop(self.try_send(SETTINGS, ACK, 0, &[])),
                SETTINGS | PING | WINDOW_UPDATE => {}
                _ => return Some(frame),
            }
        }
    }

    /// The next frame; `None` at the end of the connection.
    #[track_caller]
    pub fn frame(&mut self) -> Option<Http2Frame> {
        assert!(Instant::now() < self.until, "the gateway does not do what is waited for");
        let mut head = [0; 9];
        if let Err(cause) = self.tls.read_exact(&mut head) {
            // A read that takes all the patience of a test is not the end of the connection.
            assert_ne!(cause.kind(), std::io::ErrorKind::WouldBlock, "the gateway neither sends nor closes");
            return None;
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.tls.read_exact(&mut payload).ok()?;
        Some(Http2Frame { kind: head[3], flags: head[4], stream, payload })
    }

    /// The frame of this kind on this stream; others are passed over.
    #[track_caller]
    pub fn wait(&mut self, kind: u8, stream: u32) -> Http2Frame {
        loop {
            let frame = self.next().unwrap_or_else(|| panic!("no frame of kind {kind} on {stream}"));
            if (frame.kind, frame.stream) == (kind, stream) {
                return frame;
            }
        }
    }

    /// The head and the text of the answer on this stream, which has no other one under way.
    #[track_caller]
    pub fn answer(&mut self, stream: u32) -> (Vec<u8>, String) {
        let head = self.wait(HEADERS, stream);
        let (mut is_over, mut text) = (head.flags & END_STREAM != 0, Vec::new());
        while !is_over {
            let frame = self.wait(DATA, stream);
            is_over = frame.flags & END_STREAM != 0;
            text.extend(frame.payload);
        }
        (head.payload, String::from_utf8(text).unwrap())
    }

    /// The text of a good answer.
    #[track_caller]
    pub fn ok(&mut self, stream: u32) -> String {
        let (head, text) = self.answer(stream);
        assert_eq!(head.first(), Some(&OK), "{text}");
        text
    }

    /// Frames that come until the connection ends.
    pub fn rest(&mut self) -> Vec<Http2Frame> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

/// The bytes of a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A field of a head, which changes no table.
pub fn field(name: &str, value: &str) -> Vec<u8> {
    [&[0][..], &text(name), &text(value)].concat()
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    match u8::try_from(text.len()) {
        Ok(length) if length < 127 => bytes.push(length),
        _ => {
            bytes.push(127);
            let mut rest = text.len() - 127;
            while rest >= 128 {
                bytes.push((rest % 128) as u8 | 128);
                rest /= 128;
            }
            bytes.push(rest as u8);
        }
    }
    bytes.extend(text.as_bytes());
    bytes
}
