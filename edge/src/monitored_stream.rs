//! A client's socket that tracks the bytes passing through it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection_state::ConnectionState;
use crate::error_response;
use crate::http1_framing::{FramingTracker, HeadTooLong};
use crate::limits::ListenerLimits;
use crate::socket_stream::SocketStream;
use crate::stats::ListenerStats;

/// How much is read and discarded so that a client sees the last response.
const MAX_DISCARDED_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct MonitoredStream {
    stream: SocketStream,
    framing: FramingTracker,
    state: Arc<ConnectionState>,
    stats: Arc<ListenerStats>,
    rejected: bool,
    write_shutdown: bool,
    discarded: usize,
}

impl MonitoredStream {
    pub(crate) fn new(
        mut stream: SocketStream,
        state: Arc<ConnectionState>,
        stats: Arc<ListenerStats>,
        limits: &ListenerLimits,
    ) -> Self {
        stream.track_writes(&state);
        Self {
            stream,
            framing: FramingTracker::new(limits.max_uri, limits.max_header_bytes),
            state,
            stats,
            rejected: false,
            write_shutdown: false,
            discarded: 0,
        }
    }

    fn track_incoming(&mut self, bytes: &[u8]) -> Result<(), HeadTooLong> {
        self.framing.track_bytes(bytes)?;
        self.state.set_inside_head(self.framing.is_inside_head());
        if self.framing.is_http2() {
            self.state.set_http2();
        } else if let Some(number) = self.framing.contradictory_request() {
            self.state.mark_contradictory(number);
        }
        Ok(())
    }

    fn track_write<T>(&self, written: Poll<T>) -> Poll<T> {
        if !self.stream.is_tls() {
            self.state.set_write_blocked(written.is_pending());
        }
        written
    }

    /// Responds to a head that is too long, without waiting, as the response fits an empty send
    /// buffer.
    fn reject_head(&mut self, cx: &mut Context<'_>, too_long: HeadTooLong) {
        self.rejected = true;
        self.stats.bad_requests.increment();
        self.state.start_linger();
        if self.state.is_idle() {
            let status = match too_long {
                HeadTooLong::Target => StatusCode::URI_TOO_LONG,
                HeadTooLong::Head => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            };
            let _sent = Pin::new(&mut self.stream).poll_write(cx, &error_response::raw_problem_response(status));
        }
        let _shut = Pin::new(&mut self.stream).poll_shutdown(cx);
    }

    /// Reads and discards until the client closes, fails or sends too much.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut space = [0_u8; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut space);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            let count = buffer.filled().len();
            self.discarded = self.discarded.saturating_add(count);
            if read.is_err() || count == 0 || self.discarded > MAX_DISCARDED_BYTES {
                return Poll::Ready(());
            }
        }
    }
}

impl Drop for MonitoredStream {
    fn drop(&mut self) {
        if self.state.must_reset() {
            self.stream.reset_on_close();
        }
    }
}

impl AsyncRead for MonitoredStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.rejected {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
            match this.track_incoming(buffer.filled().get(before..).unwrap_or_default()) {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(too_long) => {
                    buffer.set_filled(before);
                    this.reject_head(cx, too_long);
                }
            }
        }
        ready!(this.poll_discard(cx));
        Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
    }
}

impl AsyncWrite for MonitoredStream {
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
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    /// Shuts down our side and discards incoming bytes, as otherwise the kernel would reset the
    /// connection and the response with it.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.write_shutdown {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.write_shutdown = true;
        }
        if !this.framing.is_between_requests() {
            this.state.start_linger();
            ready!(this.poll_discard(cx));
        }
        Poll::Ready(Ok(()))
    }
}
