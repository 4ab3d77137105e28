//! Request and response bodies.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use futures_util::future::BoxFuture;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

use crate::body_drain::UnreadBody;
use crate::body_memory::BodyMemoryShare;
use crate::connection_state::InFlightRequest;
use crate::limits::ListenerLimits;
use crate::stats::ListenerStats;
use crate::stream_task::set_response_blocked;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("the body is too large")]
    TooLarge,
    #[error("the body did not arrive in time")]
    TimedOut,
    #[error("the body broke off")]
    Broken,
    #[error("too many bodies are being received")]
    NoRoom,
}

#[derive(Default)]
pub struct Body {
    kind: BodyKind,
    in_flight: Option<InFlightRequest>,
    exempt_from_address_limit: bool,
    resets_connection: bool,
}

#[derive(Default)]
enum BodyKind {
    #[default]
    Empty,
    Full(Bytes),
    Incoming(Box<IncomingBody>),
    Stream(BodyStream),
}

pub type BodyStream = Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>;

impl Body {
    pub fn empty() -> Self {
        Self::default()
    }

    pub fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::from_kind(if bytes.is_empty() { BodyKind::Empty } else { BodyKind::Full(bytes) })
    }

    /// An error breaks the connection off.
    pub fn stream(stream: impl Stream<Item = Result<Bytes, BodyError>> + Send + 'static) -> Self {
        Self::from_kind(BodyKind::Stream(Box::pin(stream)))
    }

    /// Changes nothing if the body is not a stream.
    #[must_use]
    pub fn map_stream<S>(self, change: impl FnOnce(BodyStream) -> S) -> Self
    where
        S: Stream<Item = Result<Bytes, BodyError>> + Send + 'static,
    {
        match self.kind {
            BodyKind::Stream(stream) => Self { kind: BodyKind::Stream(Box::pin(change(stream))), ..self },
            kind => Self { kind, ..self },
        }
    }

    /// An error resets the connection instead of ending it.
    #[must_use]
    pub fn reset_on_error(self) -> Self {
        Self { resets_connection: true, ..self }
    }

    /// While it is sent, the request does not count for the address that a proxy forwarded it for. For
    /// responses without an end, whose number is limited in another way.
    #[must_use]
    pub fn without_address_limit(self) -> Self {
        Self { exempt_from_address_limit: true, ..self }
    }

    pub fn is_exempt_from_address_limit(&self) -> bool {
        self.exempt_from_address_limit
    }

    /// `None` when the bytes are not all in memory.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.kind {
            BodyKind::Empty => Some(&[]),
            BodyKind::Full(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// As [`Body::as_bytes`], without copying them.
    pub fn to_bytes(&self) -> Option<Bytes> {
        match &self.kind {
            BodyKind::Empty => Some(Bytes::new()),
            BodyKind::Full(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }

    /// Reads the whole body. Fails before buffering more than `limit` bytes, or after `timeout`.
    pub fn collect_bytes(self, limit: usize, timeout: Duration) -> BoxFuture<'static, Result<Bytes, BodyError>> {
        Box::pin(async move {
            let min = usize::try_from(self.size_hint().lower()).unwrap_or(usize::MAX);
            if min > limit {
                return Err(BodyError::TooLarge);
            }
            if let BodyKind::Full(bytes) = self.kind {
                return Ok(bytes);
            }
            match tokio::time::timeout(timeout, self.gather_chunks(limit)).await {
                Ok(gathered) => gathered,
                Err(_) => Err(BodyError::TimedOut),
            }
        })
    }

    async fn gather_chunks(mut self, limit: usize) -> Result<Bytes, BodyError> {
        self.set_kept_in_memory(true);
        let Some(first) = self.next_chunk().await? else {
            return Ok(Bytes::new());
        };
        if first.len() > limit {
            return Err(BodyError::TooLarge);
        }
        let Some(second) = self.next_chunk().await? else {
            return Ok(first);
        };
        let mut all = BytesMut::from(first);
        let mut next = Some(second);
        while let Some(bytes) = next {
            if all.len().saturating_add(bytes.len()) > limit {
                return Err(BodyError::TooLarge);
            }
            all.extend_from_slice(&bytes);
            next = self.next_chunk().await?;
        }
        Ok(all.freeze())
    }

    /// Whether what is read from now on stays in memory, which is bounded for all bodies together.
    pub fn set_kept_in_memory(&mut self, is_kept: bool) {
        if let BodyKind::Incoming(body) = &mut self.kind {
            body.is_kept_in_memory = is_kept;
        }
    }

    /// `None` at the end. Trailers are skipped.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let frame = std::future::poll_fn(|cx| Pin::new(&mut *self).poll_frame(cx)).await;
            match frame {
                None => return Ok(None),
                Some(Err(error)) => return Err(error),
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    fn poll_next_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let next = match &mut self.kind {
            BodyKind::Empty => None,
            BodyKind::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                self.kind = BodyKind::Empty;
                Some(Ok(bytes))
            }
            BodyKind::Incoming(body) => return body.poll(cx),
            BodyKind::Stream(stream) => ready!(stream.as_mut().poll_next(cx)),
        };
        Poll::Ready(next.map(|bytes| bytes.map(Frame::data)))
    }

    fn from_kind(kind: BodyKind) -> Self {
        Self { kind, in_flight: None, exempt_from_address_limit: false, resets_connection: false }
    }

    pub(crate) fn from_incoming(
        incoming: Incoming,
        limits: &ListenerLimits,
        stats: &Arc<ListenerStats>,
        unread_body: &UnreadBody,
        memory: impl FnOnce() -> BodyMemoryShare,
    ) -> Self {
        if incoming.is_end_stream() {
            return Self::empty();
        }
        Self::from_kind(BodyKind::Incoming(Box::new(IncomingBody {
            incoming: Some(incoming),
            unread_body: UnreadBody::clone(unread_body),
            chunk_timeout: limits.body_timeout,
            total_timeout: limits.body_total_timeout,
            min_rate: limits.min_body_rate,
            received: 0,
            memory: memory(),
            is_kept_in_memory: false,
            deadline: None,
            is_read: false,
            stats: Arc::clone(stats),
        })))
    }

    pub(crate) fn track_in_flight(mut self, mut in_flight: InFlightRequest) -> Self {
        if self.exempt_from_address_limit {
            in_flight.release_address();
        }
        self.in_flight = Some(in_flight);
        set_response_blocked(true);
        self
    }
}

/// A request body; its timer is only created once bytes have to be waited for.
struct IncomingBody {
    /// `None` once dropped.
    incoming: Option<Incoming>,
    /// Takes `incoming` if it is dropped before its end.
    unread_body: UnreadBody,
    chunk_timeout: Duration,
    total_timeout: Duration,
    /// Bytes a second.
    min_rate: u32,
    /// In bytes.
    received: u64,
    memory: BodyMemoryShare,
    is_kept_in_memory: bool,
    deadline: Option<BodyDeadline>,
    /// Whether the end was read, which `incoming` does not tell of chunks.
    is_read: bool,
    stats: Arc<ListenerStats>,
}

struct BodyDeadline {
    timer: Pin<Box<Sleep>>,
    started_at: Instant,
    last_chunk_at: Instant,
}

impl IncomingBody {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(incoming) = &mut self.incoming else {
            return Poll::Ready(None);
        };
        match Pin::new(incoming).poll_frame(cx) {
            Poll::Ready(frame) => {
                self.is_read = frame.is_none();
                if let Some(Ok(frame)) = &frame {
                    let length = frame.data_ref().map_or(0, Bytes::len);
                    self.received = self.received.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
                    if self.is_kept_in_memory && !self.memory.count_bytes(length) {
                        return Poll::Ready(Some(Err(BodyError::NoRoom)));
                    }
                }
                if let Some(deadline) = &mut self.deadline {
                    deadline.last_chunk_at = Instant::now();
                }
                Poll::Ready(frame.map(|frame| frame.map_err(|_| BodyError::Broken)))
            }
            Poll::Pending => {
                ready!(self.poll_deadline(cx));
                self.stats.body_timeouts.increment();
                Poll::Ready(Some(Err(BodyError::TimedOut)))
            }
        }
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (chunk_timeout, total_timeout) = (self.chunk_timeout, self.total_timeout);
        // The time that what arrived may have taken at the least rate.
        let earned = Duration::from_secs(self.received / u64::from(self.min_rate.max(1)));
        let longest = total_timeout.min(chunk_timeout.saturating_add(earned));
        let deadline = self.deadline.get_or_insert_with(|| {
            let now = Instant::now();
            BodyDeadline {
                timer: Box::pin(tokio::time::sleep(chunk_timeout.min(total_timeout))),
                started_at: now,
                last_chunk_at: now,
            }
        });
        loop {
            ready!(deadline.timer.as_mut().poll(cx));
            let due = (deadline.started_at + longest).min(deadline.last_chunk_at + chunk_timeout);
            if Instant::now() >= due {
                return Poll::Ready(());
            }
            deadline.timer.as_mut().reset(due);
        }
    }

    fn is_at_end(&self) -> bool {
        self.is_read || self.incoming.as_ref().is_none_or(HttpBody::is_end_stream)
    }
}

impl Drop for IncomingBody {
    fn drop(&mut self) {
        if !self.is_at_end() {
            *self.unread_body.lock() = self.incoming.take();
        }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let next = this.poll_next_frame(cx);
        if let Some(request) = &this.in_flight {
            set_response_blocked(matches!(next, Poll::Ready(Some(Ok(_)))));
            if matches!(next, Poll::Ready(Some(Err(_)))) && this.resets_connection {
                request.reset_at_end();
            }
        }
        next
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            BodyKind::Empty => true,
            BodyKind::Incoming(body) => body.is_at_end(),
            _ => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            BodyKind::Empty => SizeHint::with_exact(0),
            BodyKind::Full(bytes) => SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            BodyKind::Incoming(body) => {
                let incoming = body.incoming.as_ref();
                incoming.map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
            }
            BodyKind::Stream(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            BodyKind::Empty => "empty",
            BodyKind::Full(_) => "full",
            BodyKind::Incoming(_) => "incoming",
            BodyKind::Stream(_) => "stream",
        };
        f.debug_tuple("Body").field(&kind).finish()
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::full(bytes)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::full(bytes)
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::full(text)
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self::full(text)
    }
}
