//! One open connection: what waits to be read, how much may, and the end of it.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use base::clock::monotonic_now;
use base::{AppId, Time};
use bytes::Bytes;
use futures_util::Stream;
use parking_lot::Mutex;
use tokio::time::{Instant, Sleep, sleep_until};

use super::Endpoint;
use super::hub::Shared;

/// What is sent when there is nothing to send.
const KEEP_ALIVE: Bytes = Bytes::from_static(b"\r\n");

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The client went away.
    Client,
    /// By an operation of the connections, or of an operator.
    Killed,
    /// The client did not read what it was sent.
    Slow,
    /// The server goes away.
    Shutdown,
    /// The app or its token may not be used any more.
    Revoked,
    /// Everything that was asked for was sent.
    Finished,
    /// Something of ours failed.
    Failed,
}

impl Why {
    /// Every one of them.
    pub const ALL: [Self; 7] = [
        Self::Client,
        Self::Killed,
        Self::Slow,
        Self::Shutdown,
        Self::Revoked,
        Self::Finished,
        Self::Failed,
    ];

    /// The reason as it is kept and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client_disconnect",
            Self::Killed => "killed",
            Self::Slow => "slow_reader",
            Self::Shutdown => "server_shutdown",
            Self::Revoked => "credentials_revoked",
            Self::Finished => "finished",
            Self::Failed => "internal_error",
        }
    }

    /// The type of disconnect that the client is told of, if it is told.
    const fn disconnect_type(self) -> Option<&'static str> {
        match self {
            Self::Killed => Some("ForceDisconnect"),
            Self::Slow => Some("SlowReader"),
            Self::Shutdown => Some("OperationalDisconnect"),
            Self::Revoked => Some("ClientApplicationStateDegraded"),
            Self::Failed => Some("InternalError"),
            Self::Client | Self::Finished => None,
        }
    }

    /// The last line of the stream (contract §9.1).
    fn farewell(self, problem_base: &str) -> Option<Bytes> {
        let kind = self.disconnect_type()?;
        let line = serde_json::json!({ "errors": [{
            "title": "operational-disconnect",
            "disconnect_type": kind,
            "detail": "This stream has been disconnected upstream for operational reasons.",
            "type": format!("{problem_base}/2/problems/operational-disconnect"),
        }] });
        Some(Bytes::from(format!("{line}\r\n")))
    }
}

/// An open connection. A clone is the same connection.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    uuid: String,
    id: i64,
    app: AppId,
    endpoint: Endpoint,
    partition: u8,
    replay: bool,
    client: String,
    since: Time,
    /// Bytes that may wait.
    room: usize,
    /// Messages that may be sent in a second.
    pace: Option<u32>,
    keep_alive: Duration,
    hub: Weak<Shared>,
    begun: Mutex<Option<Begun>>,
    queue: Mutex<Queue>,
}

/// What a session began with.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    /// Where the log ended.
    pub(super) at: i64,
    /// By what its token is known again.
    pub(super) token: [u8; 32],
}

#[derive(Default)]
struct Queue {
    chunks: VecDeque<Bytes>,
    bytes: usize,
    ended: Option<Why>,
    waker: Option<Waker>,
    /// The second, and what was sent in it.
    second: (u64, u32),
    sent: u64,
    dropped: u64,
}

/// What a session is made of.
pub(super) struct Making {
    pub(super) uuid: String,
    pub(super) id: i64,
    pub(super) app: AppId,
    pub(super) endpoint: Endpoint,
    pub(super) partition: u8,
    pub(super) replay: bool,
    pub(super) client: String,
    pub(super) since: Time,
    pub(super) room: usize,
    pub(super) pace: Option<u32>,
    pub(super) keep_alive: Duration,
    pub(super) hub: Weak<Shared>,
}

impl Session {
    pub(super) fn new(making: Making) -> Self {
        let Making {
            uuid,
            id,
            app,
            endpoint,
            partition,
            replay,
            client,
            since,
            room,
            pace,
            keep_alive,
            hub,
        } = making;
        Self(Arc::new(Inner {
            uuid,
            id,
            app,
            endpoint,
            partition,
            replay,
            client,
            since,
            room,
            pace,
            keep_alive,
            hub,
            begun: Mutex::default(),
            queue: Mutex::default(),
        }))
    }

    /// Its name.
    pub fn uuid(&self) -> &str {
        &self.0.uuid
    }

    /// Its row's id.
    pub fn id(&self) -> i64 {
        self.0.id
    }

    /// Whose connection it is.
    pub fn app(&self) -> AppId {
        self.0.app
    }

    /// What it is connected to.
    pub fn endpoint(&self) -> Endpoint {
        self.0.endpoint
    }

    /// Which part of it, from 1.
    pub fn partition(&self) -> u8 {
        self.0.partition
    }

    /// Whether only the past is asked for.
    pub fn is_replay(&self) -> bool {
        self.0.replay
    }

    /// The client's address.
    pub fn client(&self) -> &str {
        &self.0.client
    }

    /// When it began.
    pub fn since(&self) -> Time {
        self.0.since
    }

    /// What it began with; none while its slot is only reserved.
    pub(super) fn begun(&self) -> Option<Begun> {
        *self.0.begun.lock()
    }

    pub(super) fn begin(&self, at: i64, token: [u8; 32]) {
        *self.0.begun.lock() = Some(Begun { at, token });
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.0.queue.lock().ended.is_some()
    }

    /// Why it ended, if it has.
    pub fn why(&self) -> Option<Why> {
        self.0.queue.lock().ended
    }

    /// Messages that were sent, and those that were too many in their second.
    pub fn sent(&self) -> (u64, u64) {
        let queue = self.0.queue.lock();
        (queue.sent, queue.dropped)
    }

    /// Sends a message, its line end included; false when it was not taken. Never waits: a reader
    /// that has left too much unread is let go.
    pub fn send(&self, message: Bytes) -> bool {
        let mut queue = self.0.queue.lock();
        if queue.ended.is_some() {
            return false;
        }
        if self.0.pace.is_some_and(|pace| !queue.is_due(pace)) {
            queue.dropped = queue.dropped.saturating_add(1);
            drop(queue);
            self.count(false);
            return false;
        }
        let bytes = queue.bytes.saturating_add(message.len());
        if bytes > self.0.room && !queue.chunks.is_empty() {
            drop(queue);
            self.end(Why::Slow);
            return false;
        }
        queue.bytes = bytes;
        queue.sent = queue.sent.saturating_add(1);
        queue.chunks.push_back(message);
        let waker = queue.waker.take();
        drop(queue);
        self.count(true);
        wake(waker);
        true
    }

    fn count(&self, sent: bool) {
        if let Some(hub) = self.0.hub.upgrade() {
            hub.count(sent);
        }
    }

    /// Ends it: what waits is still read, then the farewell. The slot is free at once. Only the
    /// first reason counts.
    pub fn end(&self, why: Why) {
        let hub = self.0.hub.upgrade();
        let base = hub.as_ref().map_or("", |hub| hub.problem_base());
        let mut queue = self.0.queue.lock();
        if queue.ended.is_some() {
            return;
        }
        queue.ended = Some(why);
        queue.chunks.extend(why.farewell(base));
        let waker = queue.waker.take();
        drop(queue);
        if let Some(hub) = hub {
            hub.gone(self, why);
        }
        wake(waker);
    }

    /// Ends it because everything was sent that was asked for.
    pub(super) fn finish(&self) {
        self.end(Why::Finished);
    }

    /// What the client reads.
    pub fn feed(&self) -> Feed {
        let last = monotonic_now();
        let due = Instant::from_std(last + self.0.keep_alive);
        Feed {
            session: self.clone(),
            past: None,
            timer: Box::pin(sleep_until(due)),
            last,
        }
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Queue {
    /// Whether one more message may be sent in this second.
    fn is_due(&mut self, pace: u32) -> bool {
        let second = base::clock::wall_time()
            .ms()
            .div_euclid(1000)
            .unsigned_abs();
        if self.second.0 != second {
            self.second = (second, 0);
        }
        self.second.1 = self.second.1.saturating_add(1);
        self.second.1 <= pace
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("uuid", &self.0.uuid)
            .field("app", &self.0.app)
            .field("endpoint", &self.0.endpoint)
            .finish_non_exhaustive()
    }
}

/// What is read before what is sent.
type Past = Pin<Box<dyn Stream<Item = Bytes> + Send>>;

/// What the client of a session reads; without end as long as nobody ends the session.
pub struct Feed {
    session: Session,
    past: Option<Past>,
    timer: Pin<Box<Sleep>>,
    last: std::time::Instant,
}

impl Feed {
    /// This feed behind a stream of the past: what is sent meanwhile waits until that ends.
    #[must_use]
    pub fn after(mut self, past: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        self.past = Some(Box::pin(past));
        self
    }

    /// The session that it feeds from.
    pub const fn session(&self) -> &Session {
        &self.session
    }

    fn poll_next_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(past) = &mut self.past {
            // What came before an end that was asked for is still read.
            let over = self.session.why().filter(|why| *why != Why::Finished);
            match past.as_mut().poll_next(cx) {
                Poll::Ready(Some(bytes)) if over.is_none() => return Poll::Ready(Some(bytes)),
                Poll::Ready(_) => self.past = None,
                Poll::Pending if over.is_some() => self.past = None,
                Poll::Pending => {
                    self.session.0.queue.lock().waker = Some(cx.waker().clone());
                    return Poll::Pending;
                }
            }
        }
        let mut queue = self.session.0.queue.lock();
        if let Some(chunk) = queue.chunks.pop_front() {
            queue.bytes = queue.bytes.saturating_sub(chunk.len());
            return Poll::Ready(Some(chunk));
        }
        if queue.ended.is_some() {
            return Poll::Ready(None);
        }
        // A burst must not leave its memory behind in a connection that rests.
        if queue.chunks.capacity() > 64 {
            queue.chunks = VecDeque::new();
        }
        queue.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The timer is not moved with each message, only when it rings too early.
    fn poll_keep_alive(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let now = monotonic_now();
            let due = self.last + self.session.0.keep_alive;
            let rang = now >= due;
            let next = if rang {
                now + self.session.0.keep_alive
            } else {
                due
            };
            self.timer.as_mut().reset(Instant::from_std(next));
            if rang {
                return Poll::Ready(());
            }
        }
    }
}

impl Stream for Feed {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = &mut *self;
        let next = match this.poll_next_message(cx) {
            Poll::Ready(next) => next,
            Poll::Pending => match this.poll_keep_alive(cx) {
                Poll::Ready(()) => Some(KEEP_ALIVE),
                Poll::Pending => return Poll::Pending,
            },
        };
        this.last = monotonic_now();
        Poll::Ready(next)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.session.end(Why::Client);
    }
}
