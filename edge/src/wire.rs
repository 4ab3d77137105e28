//! A client's socket, watched as the bytes pass.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use crate::head::{Heads, TooLong};
use crate::life::Life;
use crate::limits::Limits;
use crate::plain;
use crate::stats::Stats;

/// How much is read and thrown away so that a client sees the last answer.
const DISCARDED: usize = 4 * 1024 * 1024;

/// A connected socket of either kind.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A socket with what is known about the requests on it.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: Stream,
    heads: Heads,
    life: Arc<Life>,
    stats: Arc<Stats>,
    refused: bool,
    shut: bool,
    discarded: usize,
}

impl Wire {
    pub(crate) fn new(stream: Stream, life: Arc<Life>, stats: Arc<Stats>, limits: &Limits) -> Self {
        Self {
            stream,
            heads: Heads::new(limits.max_uri, limits.max_header_bytes),
            life,
            stats,
            refused: false,
            shut: false,
            discarded: 0,
        }
    }

    fn note(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.heads.follow(bytes)?;
        self.life.within_head(self.heads.within_head());
        if self.heads.is_http2() {
            self.life.speaks_http2();
        } else if let Some(number) = self.heads.contradictory() {
            self.life.doubt(number);
        }
        Ok(())
    }

    /// Answers a head that is too long; without waiting, since it fits an empty send buffer.
    fn refuse(&mut self, cx: &mut Context<'_>, too_long: TooLong) {
        self.refused = true;
        self.stats.bad_requests.up();
        self.life.farewell();
        if self.life.rests() {
            let status = match too_long {
                TooLong::Target => StatusCode::URI_TOO_LONG,
                TooLong::Head => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            };
            let _sent = Pin::new(&mut self.stream).poll_write(cx, &plain::raw(status));
        }
        let _shut = Pin::new(&mut self.stream).poll_shutdown(cx);
    }

    /// Reads on without keeping anything, until the client ends, errs or sends too much.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut space = [0_u8; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut space);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            let count = buffer.filled().len();
            self.discarded = self.discarded.saturating_add(count);
            if read.is_err() || count == 0 || self.discarded > DISCARDED {
                return Poll::Ready(());
            }
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.refused {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
            match this.note(buffer.filled().get(before..).unwrap_or_default()) {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(too_long) => {
                    buffer.set_filled(before);
                    this.refuse(cx, too_long);
                }
            }
        }
        ready!(this.poll_discard(cx));
        Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.life.blocked(written.is_pending());
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.life.blocked(written.is_pending());
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    /// Ends our side; bytes still on their way in are let in, lest the kernel reset the answer.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.shut {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.shut = true;
        }
        if !this.heads.between_requests() {
            this.life.farewell();
            ready!(this.poll_discard(cx));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
