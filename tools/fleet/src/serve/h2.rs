//! HTTP/2 on one connection: how much its caller may hold open, and for how long.
//!
//! hyper's HTTP/2 has no timer for the first request, for idle connections and for answers that nobody takes, so they are here.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use hyper::body::{Body as _, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{HOST, HeaderValue};
use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::watch;
use tokio::time::Sleep;

use super::listen::{Answering, HEAD, stopped};
use super::settings::Limits;
use super::stream::PlacedStream;

/// The most bytes of a body that come before its reader has taken any.
const STREAM_WINDOW: u32 = 64 << 10;

/// The most bytes of all bodies of a connection that come before their readers have taken any.
const CONNECTION_WINDOW: u32 = 256 << 10;

/// The most bytes of an answer that wait for the caller's window.
const SEND_BUFFER: usize = 64 << 10;

/// The most bytes of an answer that are handed over at a time, so that a slow caller is seen to take something.
const PIECE: usize = 16 << 10;

/// Serves a connection until it ends, is idle for too long, or the gateway stops and its requests are answered.
pub async fn serve(
    stream: PlacedStream,
    answering: Answering,
    limits: Limits,
    mut stopping: watch::Receiver<bool>,
) -> hyper::Result<()> {
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = answering.call(with_host(request));
        async move { answer.await.map(|response| response.map(ResponseBody::new)) }
    });
    let requests = Requests { open: watch::Sender::new(0), patience: limits.write_within };
    let mut open = requests.open.subscribe();
    let connection = http(requests, limits).serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        served = connection.as_mut() => return served,
        () = stopped(&mut stopping) => {}
        is_used = idle(&mut open, limits.head) => if !is_used {
            return Ok(());
        },
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        served = connection.as_mut() => served,
        // Its caller does not let it end.
        _ = idle(&mut open, limits.head) => Ok(()),
    }
}

fn http(requests: Requests, limits: Limits) -> http2::Builder<Requests> {
    let mut http = http2::Builder::new(requests);
    http.timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_pending_accept_reset_streams(limits.resets)
        .max_header_list_size(HEAD as u32)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(limits.ping)
        .keep_alive_timeout(limits.ping * 2);
    http
}

/// Waits until no request has been open for this long; whether there has ever been one.
async fn idle(open: &mut watch::Receiver<usize>, within: Duration) -> bool {
    let mut is_used = false;
    loop {
        is_used |= open.has_changed().unwrap_or(true);
        // The sender lives as long as the connection.
        if open.wait_for(|it| *it == 0).await.is_err() {
            return is_used;
        }
        match tokio::time::timeout(within, open.changed()).await {
            Ok(_) => is_used = true,
            Err(_) => return is_used,
        }
    }
}

/// The request with the name of the host where HTTP/1 has it. With another name in its head it keeps both, and is refused for that.
fn with_host(mut request: Request<Incoming>) -> Request<Incoming> {
    let authority = request.uri().authority().and_then(|it| HeaderValue::from_str(it.as_str()).ok());
    if let Some(host) = authority.filter(|it| request.headers().get(HOST) != Some(it)) {
        request.headers_mut().append(HOST, host);
    }
    request
}

tokio::task_local! {
    /// Offer for which the answer of this task waits.
    static OFFER: Arc<OfferedPiece>;
}

/// The number of the piece that waits for the caller to take it; zero when the caller waits.
#[derive(Debug, Default)]
struct OfferedPiece(AtomicU64);

/// Runs the requests of a connection, and counts those that are open.
#[derive(Clone, Debug)]
struct Requests {
    open: watch::Sender<usize>,
    patience: Duration,
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Requests {
    fn execute(&self, answered: F) {
        let offer = Arc::new(OfferedPiece::default());
        let answered = Box::pin(OFFER.scope(Arc::clone(&offer), answered));
        self.open.send_modify(|it| *it += 1);
        let open = OpenRequest(self.open.clone());
        let taken =
            TimedRequest { answered, offer, seen: 0, patience: self.patience, stalled: None, _open: open };
        tokio::spawn(taken);
    }
}

/// A request that is open for as long as this lives.
struct OpenRequest(watch::Sender<usize>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.send_modify(|it| *it = it.saturating_sub(1));
    }
}

/// A request, which ends when its caller leaves a piece of its answer untaken for too long: the connection sees no write that
/// fails, since the caller's window is closed.
struct TimedRequest<F> {
    answered: Pin<Box<F>>,
    offer: Arc<OfferedPiece>,
    seen: u64,
    patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    _open: OpenRequest,
}

impl<F: Future<Output = ()>> Future for TimedRequest<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.answered.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let offered = this.offer.0.load(Ordering::Relaxed);
        if offered != this.seen {
            this.seen = offered;
            this.stalled = (offered > 0).then(|| Box::pin(tokio::time::sleep(this.patience)));
        }
        match &mut this.stalled {
            // Dropping the request resets its stream.
            Some(timer) => timer.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }
}

/// The body of an answer, in pieces. hyper asks for one, and keeps it until the caller has room.
struct ResponseBody {
    body: Body,
    rest: Bytes,
    pieces: u64,
}

impl ResponseBody {
    fn new(body: Body) -> ResponseBody {
        ResponseBody { body, rest: Bytes::new(), pieces: 0 }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                other => return Poll::Ready(other),
            }
        }
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

impl hyper::body::Body for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let polled = this.poll_piece(cx);
        let offered = match &polled {
            Poll::Ready(Some(Ok(_))) => {
                this.pieces += 1;
                this.pieces
            }
            Poll::Ready(_) | Poll::Pending => 0,
        };
        // A body that is polled outside of a request has nobody who watches it.
        OFFER.try_with(|it| it.0.store(offered, Ordering::Relaxed)).unwrap_or_default();
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
