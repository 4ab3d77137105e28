//! The body of a request or an answer.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

use crate::life::InFlight;
use crate::limits::Limits;
use crate::rest::Left;
use crate::stats::Stats;

/// Why a body could not be read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// More bytes than allowed.
    #[error("the body is too large")]
    TooLarge,
    /// The bytes came too slowly.
    #[error("the body did not arrive in time")]
    TimedOut,
    /// The connection ended or the framing was wrong.
    #[error("the body broke off")]
    Broken,
}

/// A body: nothing, bytes at hand, or bytes to come.
#[derive(Default)]
pub struct Body {
    kind: Kind,
    in_flight: Option<InFlight>,
}

#[derive(Default)]
enum Kind {
    #[default]
    Empty,
    Full(Bytes),
    Arriving(Box<Arriving>),
    Channel(mpsc::Receiver<Result<Bytes, BodyError>>),
    Stream(Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>),
}

/// The sending end of [`Body::channel`].
#[derive(Clone, Debug)]
pub struct Sender(mpsc::Sender<Result<Bytes, BodyError>>);

impl Sender {
    /// Waits for room and sends; false when the reader has gone.
    pub async fn send(&self, bytes: impl Into<Bytes>) -> bool {
        self.0.send(Ok(bytes.into())).await.is_ok()
    }

    /// Sends without waiting; false when there is no room or no reader.
    pub fn try_send(&self, bytes: impl Into<Bytes>) -> bool {
        self.0.try_send(Ok(bytes.into())).is_ok()
    }

    /// Breaks the body off, so that the reader sees that it is incomplete.
    pub async fn abort(self) {
        let _gone = self.0.send(Err(BodyError::Broken)).await;
    }

    /// Whether the reader has gone.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Waits until the reader has gone.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

impl Body {
    /// No bytes.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Bytes at hand.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::of(if bytes.is_empty() {
            Kind::Empty
        } else {
            Kind::Full(bytes)
        })
    }

    /// Bytes from a stream; an error breaks the connection off.
    pub fn stream(stream: impl Stream<Item = Result<Bytes, BodyError>> + Send + 'static) -> Self {
        Self::of(Kind::Stream(Box::pin(stream)))
    }

    /// Bytes from a [`Sender`], at most `room` chunks ahead of the client (at least one).
    pub fn channel(room: usize) -> (Sender, Self) {
        let (sender, receiver) = mpsc::channel(room.max(1));
        (Sender(sender), Self::of(Kind::Channel(receiver)))
    }

    /// The bytes, if all of them are at hand.
    pub fn at_hand(&self) -> Option<&[u8]> {
        match &self.kind {
            Kind::Empty => Some(&[]),
            Kind::Full(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Reads everything, refusing more than `limit` bytes before they are kept.
    pub async fn collect(self, limit: usize, timeout: Duration) -> Result<Bytes, BodyError> {
        let least = usize::try_from(self.size_hint().lower()).unwrap_or(usize::MAX);
        if least > limit {
            return Err(BodyError::TooLarge);
        }
        if let Kind::Full(bytes) = self.kind {
            return Ok(bytes);
        }
        match tokio::time::timeout(timeout, self.gather(limit)).await {
            Ok(gathered) => gathered,
            Err(_) => Err(BodyError::TimedOut),
        }
    }

    async fn gather(mut self, limit: usize) -> Result<Bytes, BodyError> {
        let Some(first) = self.chunk().await? else {
            return Ok(Bytes::new());
        };
        if first.len() > limit {
            return Err(BodyError::TooLarge);
        }
        let Some(second) = self.chunk().await? else {
            return Ok(first);
        };
        let mut all = BytesMut::from(first);
        let mut next = Some(second);
        while let Some(bytes) = next {
            if all.len().saturating_add(bytes.len()) > limit {
                return Err(BodyError::TooLarge);
            }
            all.extend_from_slice(&bytes);
            next = self.chunk().await?;
        }
        Ok(all.freeze())
    }

    /// The next bytes, or nothing at the end; trailers are passed over.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
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

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            in_flight: None,
        }
    }

    pub(crate) fn arriving(
        incoming: Incoming,
        limits: &Limits,
        stats: &Arc<Stats>,
        left: &Left,
    ) -> Self {
        if incoming.is_end_stream() {
            return Self::empty();
        }
        Self::of(Kind::Arriving(Box::new(Arriving {
            incoming: Some(incoming),
            left: Left::clone(left),
            silence: limits.body_timeout,
            total: limits.body_total,
            watch: None,
            stats: Arc::clone(stats),
        })))
    }

    pub(crate) fn held(mut self, in_flight: InFlight) -> Self {
        self.in_flight = Some(in_flight);
        self
    }
}

/// A request body on its way in, with one timer that is set only if bytes are waited for.
struct Arriving {
    /// Until it is dropped.
    incoming: Option<Incoming>,
    /// Where it goes if it is dropped before its end.
    left: Left,
    silence: Duration,
    total: Duration,
    watch: Option<Watch>,
    stats: Arc<Stats>,
}

struct Watch {
    timer: Pin<Box<Sleep>>,
    until: Instant,
    last: Instant,
}

impl Arriving {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(incoming) = &mut self.incoming else {
            return Poll::Ready(None);
        };
        match Pin::new(incoming).poll_frame(cx) {
            Poll::Ready(frame) => {
                if let Some(watch) = &mut self.watch {
                    watch.last = Instant::now();
                }
                Poll::Ready(frame.map(|frame| frame.map_err(|_| BodyError::Broken)))
            }
            Poll::Pending => {
                ready!(self.poll_watch(cx));
                self.stats.body_timeouts.up();
                Poll::Ready(Some(Err(BodyError::TimedOut)))
            }
        }
    }

    fn poll_watch(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (silence, total) = (self.silence, self.total);
        let watch = self.watch.get_or_insert_with(|| {
            let now = Instant::now();
            Watch {
                timer: Box::pin(tokio::time::sleep(silence.min(total))),
                until: now + total,
                last: now,
            }
        });
        loop {
            ready!(watch.timer.as_mut().poll(cx));
            let due = watch.until.min(watch.last + silence);
            if Instant::now() >= due {
                return Poll::Ready(());
            }
            watch.timer.as_mut().reset(due);
        }
    }
}

impl Arriving {
    fn is_at_end(&self) -> bool {
        self.incoming.as_ref().is_none_or(HttpBody::is_end_stream)
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if !self.is_at_end() {
            *self.left.lock() = self.incoming.take();
        }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let next = match &mut this.kind {
            Kind::Empty => None,
            Kind::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                this.kind = Kind::Empty;
                Some(Ok(bytes))
            }
            Kind::Arriving(arriving) => return arriving.poll(cx),
            Kind::Channel(receiver) => ready!(receiver.poll_recv(cx)),
            Kind::Stream(stream) => ready!(stream.as_mut().poll_next(cx)),
        };
        Poll::Ready(next.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty => true,
            Kind::Arriving(arriving) => arriving.is_at_end(),
            _ => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Full(bytes) => {
                SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
            }
            Kind::Arriving(arriving) => {
                let incoming = arriving.incoming.as_ref();
                incoming.map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
            }
            Kind::Channel(_) | Kind::Stream(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Empty => "empty",
            Kind::Full(_) => "full",
            Kind::Arriving(_) => "arriving",
            Kind::Channel(_) => "channel",
            Kind::Stream(_) => "stream",
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
