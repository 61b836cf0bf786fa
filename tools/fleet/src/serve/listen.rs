//! The socket: who may connect, over TLS or not, and how slow callers are cut off.
//!
//! `axum::serve` has no timer for the head of a request and no limit of connections, so hyper is driven here: with HTTP/1, and with
//! HTTP/2 (`h2`) where TLS has agreed on it.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::{TowerToHyperService, TowerToHyperServiceFuture};
use orange_api::{Error, ErrorKind, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::auth::private;
use super::h2;
use super::settings::{GatewaySettings, Limits, TlsFiles};
use super::stream::{Carrier, PlacedStream};

/// The most bytes of the head of a request.
pub const HEAD: usize = 32 << 10;

/// The name of HTTP/2 in TLS.
const H2: &[u8] = b"h2";

/// Pause when the system has no more files to give.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// A socket that is open and not served yet.
pub struct OpenSocket {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    /// Address at which it listens; the port is the one that the system has given.
    pub address: SocketAddr,
}

/// Address of the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

impl OpenSocket {
    /// Opens the socket.
    ///
    /// # Errors
    /// The address would be reached by other machines without TLS, the files of TLS cannot be used, or the address is not to be had.
    pub async fn open(settings: &GatewaySettings) -> Result<OpenSocket> {
        let tls = check(settings)?;
        let failed = |cause: io::Error| {
            Error::new(ErrorKind::Environment, format!("cannot listen on {}: {cause}", settings.listen))
                .help("another gateway may run there; `--listen` names another address")
        };
        let listener = TcpListener::bind(settings.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(OpenSocket { listener, tls, address })
    }
}

/// Checks that the address may be served, and returns what serves TLS on it.
///
/// # Errors
/// The address would be reached by other machines without TLS, or the files of TLS cannot be used.
pub fn check(settings: &GatewaySettings) -> Result<Option<TlsAcceptor>> {
    let is_private = settings.listen.ip().is_loopback();
    if settings.tls.is_none() && !is_private && !settings.is_plain_allowed {
        let message =
            format!("other machines reach {}, and tokens would travel in the clear", settings.listen);
        return Err(Error::new(ErrorKind::Usage, message).help(
            "give --tls-cert and --tls-key, listen on 127.0.0.1 behind a proxy that has TLS, or say --insecure-plain-http",
        ));
    }
    settings.tls.as_ref().map(acceptor).transpose()
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let unusable = |path: &Path, cause: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Usage, format!("{} is of no use for TLS: {cause}", path.display()))
            .help("both files are PEM: the certificate with those that lead to its authority, and its key")
    };
    let read = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
    let chain = read.map_err(|cause| unusable(&files.certificate, &cause))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|cause| unusable(&files.key, &cause))?;
    private::file(&files.key, "the key")?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|it| it.with_no_client_auth().with_single_cert(chain, key));
    let mut config = config.map_err(|cause| unusable(&files.certificate, &cause))?;
    config.alpn_protocols = vec![H2.to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves the socket until `stopping` turns true, and then until every connection has ended or `within` is over.
pub async fn serve(
    socket: OpenSocket,
    router: Router,
    limits: Limits,
    mut stopping: watch::Receiver<bool>,
    within: Duration,
) {
    let OpenSocket { listener, tls, address: _ } = socket;
    let places = Arc::new(Semaphore::new(limits.connections));
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let http = http(limits);
    loop {
        let (stream, peer, place) = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            () = stopped(&mut stopping) => break,
        };
        let (http, tls, router, stopping) = (http.clone(), tls.clone(), router.clone(), stopping.clone());
        tokio::spawn(async move {
            let Some(carrier) = carrier(stream, tls, limits.head).await else { return };
            let is_h2 = is_h2(&carrier);
            let stream = PlacedStream::new(carrier, limits.write_within, place);
            let answering = Answering { router: TowerToHyperService::new(router), peer };
            let served = match is_h2 {
                true => h2::serve(stream, answering, limits, stopping).await,
                false => one(&http, stream, answering, stopping).await,
            };
            if let Err(cause) = served {
                log::debug!(cause = cause.to_string().as_str(); "a connection has ended early");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(within, places.acquire_many(all)).await.is_err() {
        log::warn!(seconds = within.as_secs(); "connections are still open after the time of a stop");
    }
}

fn http(limits: Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(HEAD);
    http
}

/// A connection and its place. While all places are taken, callers wait in the queue of the system.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    loop {
        let Ok(place) = Arc::clone(places).acquire_owned().await else { return std::future::pending().await };
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, place),
            Err(cause) => {
                log::warn!(cause = cause.to_string().as_str(); "a connection was not accepted");
                tokio::time::sleep(EXHAUSTED).await;
            }
        }
    }
}

async fn carrier(stream: TcpStream, tls: Option<TlsAcceptor>, within: Duration) -> Option<Carrier> {
    stream.set_nodelay(true).ok()?;
    let Some(tls) = tls else { return Some(Carrier::Plain(stream)) };
    match tokio::time::timeout(within, tls.accept(stream)).await {
        Ok(Ok(stream)) => Some(Carrier::Tls(Box::new(stream))),
        Ok(Err(cause)) => {
            log::debug!(cause = cause.to_string().as_str(); "a connection does not speak TLS");
            None
        }
        Err(_) => None,
    }
}

/// True if TLS has agreed on HTTP/2. In the clear there is HTTP/1 alone.
fn is_h2(carrier: &Carrier) -> bool {
    match carrier {
        Carrier::Plain(_) => false,
        Carrier::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(H2),
    }
}

/// Service that answers the requests of one connection.
#[derive(Clone)]
pub struct Answering {
    router: TowerToHyperService<Router>,
    peer: SocketAddr,
}

impl Service<Request<Incoming>> for Answering {
    type Response = Response;
    type Error = Infallible;
    type Future = TowerToHyperServiceFuture<Router, Request<Incoming>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(Peer(self.peer));
        self.router.call(request)
    }
}

async fn one(
    http: &http1::Builder,
    stream: PlacedStream,
    answering: Answering,
    mut stopping: watch::Receiver<bool>,
) -> hyper::Result<()> {
    let connection = http.serve_connection(TokioIo::new(stream), answering).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        served = connection.as_mut() => served,
        () = stopped(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}

/// Waits until the gateway stops.
pub async fn stopped(stopping: &mut watch::Receiver<bool>) {
    drop(stopping.wait_for(|it| *it).await);
}
