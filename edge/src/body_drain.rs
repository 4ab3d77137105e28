//! What of a request's body is left unread when its answer is there. A little is read to its end, so
//! that the connection serves on; of more, the answer says that the connection ends with it, or the
//! client would still be sending when it is cut off.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body::Body as _;
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::time::Sleep;

/// Where a body goes that its reader drops before its end.
pub(crate) type UnreadBody = Arc<Mutex<Option<Incoming>>>;

/// So much is read for the connection's sake.
const MAX_DRAIN_BYTES: u64 = 64 * 1024;
/// So long it is waited for.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The rest of a body on its way to its end.
pub(crate) struct BodyDrain {
    incoming: Incoming,
    timer: Pin<Box<Sleep>>,
}

impl BodyDrain {
    /// Reads what is left, if it is a little.
    pub(crate) fn from_incoming(incoming: Incoming) -> Result<Self, Incoming> {
        let length = incoming.size_hint().upper();
        if length.is_none_or(|length| length > MAX_DRAIN_BYTES) {
            return Err(incoming);
        }
        Ok(Self {
            incoming,
            timer: Box::pin(tokio::time::sleep(DRAIN_TIMEOUT)),
        })
    }

    /// Reads on; true at the end, false where it does not come.
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
