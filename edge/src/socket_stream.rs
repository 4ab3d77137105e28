//! A client's socket, plain or with TLS.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

use crate::connection_state::ConnectionState;

#[derive(Debug)]
pub(crate) enum SocketStream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Replayed(Box<ReplayedStream>),
    Tls(Box<TlsStream<ReplayedStream>>),
}

/// A socket of which the first bytes were already read; they come first again.
#[derive(Debug)]
pub(crate) struct ReplayedStream {
    read_before: Bytes,
    stream: TcpStream,
    /// Below TLS, only this stream knows whether the client takes bytes.
    state: Option<Arc<ConnectionState>>,
}

impl ReplayedStream {
    pub(crate) fn new(stream: TcpStream, read_before: Bytes) -> Self {
        Self { read_before, stream, state: None }
    }

    /// The next byte, which stays unread; `None` at the end.
    pub(crate) async fn peek_byte(&self) -> io::Result<Option<u8>> {
        if let Some(byte) = self.read_before.first() {
            return Ok(Some(*byte));
        }
        let mut byte = [0];
        let count = self.stream.peek(&mut byte).await?;
        Ok(byte.first().copied().filter(|_| count > 0))
    }

    pub(crate) fn into_parts(self) -> (TcpStream, Bytes) {
        (self.stream, self.read_before)
    }
}

impl From<ReplayedStream> for SocketStream {
    fn from(stream: ReplayedStream) -> Self {
        if stream.read_before.is_empty() { Self::Tcp(stream.stream) } else { Self::Replayed(Box::new(stream)) }
    }
}

impl SocketStream {
    pub(crate) const fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Sends a reset instead of the end of the stream when it is closed.
    pub(crate) fn reset_on_close(&self) {
        let stream = match self {
            Self::Tcp(stream) => stream,
            Self::Unix(_) => return,
            Self::Replayed(replayed) => &replayed.stream,
            Self::Tls(stream) => &stream.get_ref().0.stream,
        };
        let _closed_already = stream.set_zero_linger();
    }

    /// Lets the state know when the client takes no bytes, if this stream has to tell it.
    pub(crate) fn track_writes(&mut self, state: &Arc<ConnectionState>) {
        if let Self::Tls(stream) = self {
            stream.get_mut().0.state = Some(Arc::clone(state));
        }
    }
}

impl AsyncRead for ReplayedStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.read_before.is_empty() {
            return Pin::new(&mut this.stream).poll_read(cx, buffer);
        }
        let count = this.read_before.len().min(buffer.remaining());
        buffer.put_slice(this.read_before.get(..count).unwrap_or_default());
        this.read_before.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl ReplayedStream {
    fn track_write<T>(&self, written: Poll<T>) -> Poll<T> {
        if let Some(state) = &self.state {
            state.set_write_blocked(written.is_pending());
        }
        written
    }
}

impl AsyncWrite for ReplayedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.track_write(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.track_write(written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

/// Calls a method of the stream inside.
macro_rules! delegate {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket.get_mut() {
            Self::Tcp($stream) => $call,
            Self::Unix($stream) => $call,
            Self::Replayed($stream) => $call,
            Self::Tls($stream) => $call,
        }
    };
}

impl AsyncRead for SocketStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        delegate!(self, stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl AsyncWrite for SocketStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        delegate!(self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        delegate!(self, stream => Pin::new(stream).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Only TLS keeps bytes.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
            _ => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}
