//! Draining of unread request bodies. A short rest is read so that the connection stays usable;
//! before a long one the response closes the connection, or the client would still be sending when
//! it is cut off.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body::Body as _;
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::time::Sleep;

/// Receives a body whose reader dropped it before its end.
pub(crate) type UnreadBody = Arc<Mutex<Option<Incoming>>>;

const MAX_DRAIN_BYTES: u64 = 64 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) struct BodyDrain {
    incoming: Incoming,
    timer: Pin<Box<Sleep>>,
}

impl BodyDrain {
    /// Returns the body if its rest is too long, or of unknown length, to be drained.
    pub(crate) fn from_incoming(incoming: Incoming) -> Result<Self, Incoming> {
        let length = incoming.size_hint().upper();
        if length.is_none_or(|length| length > MAX_DRAIN_BYTES) {
            return Err(incoming);
        }
        Ok(Self { incoming, timer: Box::pin(tokio::time::sleep(DRAIN_TIMEOUT)) })
    }

    /// True at the end of the body, false if it fails or does not arrive in time.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        loop {
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(None) => return Poll::Ready(true),
                Poll::Ready(Some(Err(_))) => return Poll::Ready(false),
                Poll::Pending => {
                    ready!(self.timer.as_mut().poll(cx));
                    return Poll::Ready(false);
                }
            }
        }
    }
}
