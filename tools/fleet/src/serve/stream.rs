//! A connection: it gives its place back when it is dropped, and it is cut off when its peer reads nothing.

use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;
use tokio_rustls::server::TlsStream;

/// Transport of the bytes.
#[derive(Debug)]
pub enum Carrier {
    Plain(TcpStream),
    /// TLS over TCP.
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection that holds one of the gateway's places for as long as it lives, under whichever protocol.
#[derive(Debug)]
pub struct PlacedStream {
    carrier: Carrier,
    patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    _place: OwnedSemaphorePermit,
}

impl PlacedStream {
    /// A connection whose peer has `patience` to take what it is sent.
    pub fn new(carrier: Carrier, patience: Duration, place: OwnedSemaphorePermit) -> PlacedStream {
        PlacedStream { carrier, patience, stalled: None, _place: place }
    }

    fn carrier(&mut self) -> Pin<&mut dyn Duplex> {
        match &mut self.carrier {
            Carrier::Plain(stream) => Pin::new(stream),
            Carrier::Tls(stream) => Pin::new(stream.as_mut()),
        }
    }

    /// The result of a write, or an error when writes have been pending for too long.
    fn timed<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.stalled = None;
            return result;
        }
        let patience = self.patience;
        let timer = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => {
                Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "the peer reads nothing")))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

trait Duplex: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Duplex for T {}

impl AsyncRead for PlacedStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.get_mut().carrier().poll_read(cx, to)
    }
}

impl AsyncWrite for PlacedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = this.carrier().poll_write(cx, bytes);
        this.timed(cx, result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = this.carrier().poll_write_vectored(cx, bytes);
        this.timed(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.carrier {
            Carrier::Plain(stream) => stream.is_write_vectored(),
            Carrier::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = this.carrier().poll_flush(cx);
        this.timed(cx, result)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = this.carrier().poll_shutdown(cx);
        this.timed(cx, result)
    }
}
