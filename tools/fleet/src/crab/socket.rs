//! The WebSocket on which a crab waits for work. What it cannot do here, a long poll does.

use std::fmt::Debug;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use orange_api::gateway::{CrabMessage, MessageToCrab};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, StreamOwned};
use tungstenite::client::IntoClientRequest;
use tungstenite::error::Error as Trouble;
use tungstenite::http::Uri;
use tungstenite::{HandshakeError, Message as Frame, WebSocket};

use crate::client::{GatewayFailure, json, refusal};

/// Time limit for connecting, and for each read.
const PATIENCE: Duration = Duration::from_secs(10);

/// After this time without a word, also a ping, the gateway is gone.
const SILENCE: Duration = Duration::from_secs(90);

/// The gateway closes with this code when the crab is not registered any more.
const NOT_REGISTERED: u16 = 4404;

/// Stream that carries the bytes, with or without TLS.
trait ByteStream: Read + Write + Send + Debug {}

impl<T: Read + Write + Send + Debug> ByteStream for T {}

/// A connection.
#[derive(Debug)]
pub struct GatewaySocket {
    socket: WebSocket<Box<dyn ByteStream>>,
    heard: Instant,
}

impl GatewaySocket {
    /// Connects to the gateway at this address, such as `https://fleet.example.org`.
    ///
    /// # Errors
    /// It does not answer, or refuses.
    pub fn connect(
        address: &str,
        path: &str,
        token: &str,
        tls: &Arc<ClientConfig>,
    ) -> Result<GatewaySocket, GatewayFailure> {
        let url = address.replacen("http", "ws", 1) + path;
        let unheard = |what: String| GatewayFailure::Unheard(what);
        let mut request = url.into_client_request().map_err(|error| unheard(error.to_string()))?;
        let bearer =
            format!("Bearer {token}").parse().map_err(|_| unheard("the token is not a text".to_owned()))?;
        request.headers_mut().insert("Authorization", bearer);
        let stream = stream(request.uri(), tls).map_err(|error| unheard(error.to_string()))?;
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(GatewaySocket { socket, heard: Instant::now() }),
            Err(HandshakeError::Failure(Trouble::Http(answer))) => {
                let body = answer.body().clone().unwrap_or_default();
                Err(refusal(answer.status().as_u16(), &String::from_utf8_lossy(&body)))
            }
            Err(error) => Err(unheard(error.to_string())),
        }
    }

    /// Says that the crab waits for work.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn park(&mut self) -> Result<(), GatewayFailure> {
        self.socket.send(Frame::text(json(&CrabMessage::Park).to_string())).map_err(|error| gone(&error))
    }

    /// The next message; `None` if there is none for a while.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn hear(&mut self) -> Result<Option<MessageToCrab>, GatewayFailure> {
        match self.socket.read() {
            Ok(Frame::Text(text)) => {
                self.heard = Instant::now();
                // A message that this version does not understand is passed over.
                Ok(Some(serde_json::from_str(text.as_str()).unwrap_or(MessageToCrab::Unknown)))
            }
            Ok(Frame::Close(Some(close))) if u16::from(close.code) == NOT_REGISTERED => {
                Err(GatewayFailure::Refused {
                    status: 404,
                    message: close.reason.as_str().to_owned(),
                    help: String::new(),
                })
            }
            Ok(Frame::Close(_)) => {
                Err(GatewayFailure::Unheard("the gateway has closed the connection".to_owned()))
            }
            Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Binary(_) | Frame::Frame(_)) => {
                self.heard = Instant::now();
                // The answer to a ping is sent.
                self.socket.flush().map_err(|error| gone(&error)).map(|()| None)
            }
            Err(Trouble::Io(cause)) if is_later(&cause) && self.heard.elapsed() < SILENCE => Ok(None),
            Err(error) => Err(gone(&error)),
        }
    }
}

fn gone(error: &Trouble) -> GatewayFailure {
    GatewayFailure::Unheard(error.to_string())
}

fn is_later(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn stream(url: &Uri, tls: &Arc<ClientConfig>) -> io::Result<Box<dyn ByteStream>> {
    let is_secret = url.scheme_str() == Some("wss");
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = url.port_u16().unwrap_or(if is_secret { 443 } else { 80 });
    let mut last = io::Error::new(ErrorKind::NotFound, format!("{host} has no address"));
    for address in (host.as_str(), port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                if !is_secret {
                    return Ok(Box::new(stream));
                }
                let name = ServerName::try_from(host).map_err(io::Error::other)?;
                let connection = ClientConnection::new(Arc::clone(tls), name).map_err(io::Error::other)?;
                return Ok(Box::new(StreamOwned::new(connection, stream)));
            }
            Err(cause) => last = cause,
        }
    }
    Err(last)
}
