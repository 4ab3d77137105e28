//! One open connection: its buffer, limits and end.

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

use super::StreamEndpoint;
use super::hub::HubInner;
use super::injected_faults::{MessageFault, StreamFaults};
use super::status::{StreamStatus, WrittenOutput};

const KEEP_ALIVE: Bytes = Bytes::from_static(b"\r\n");

base::named_enum! {
    /// The names are as stored and rendered.
    pub enum DisconnectReason {
        Client = "client_disconnect",
        /// Ended through the connections API or by an operator.
        Killed = "killed",
        /// The client read too slowly.
        Slow = "slow_reader",
        Shutdown = "server_shutdown",
        /// The app or its token was revoked.
        Revoked = "credentials_revoked",
        /// Everything requested was sent.
        Finished = "finished",
        /// An internal error.
        Failed = "internal_error",
    }
}

impl DisconnectReason {
    /// The disconnect type sent to the client, if any.
    pub const fn disconnect_type(self) -> Option<&'static str> {
        match self {
            Self::Killed => Some("ForceDisconnect"),
            Self::Slow => Some("SlowReader"),
            Self::Shutdown => Some("OperationalDisconnect"),
            Self::Revoked => Some("ClientApplicationStateDegraded"),
            Self::Failed => Some("InternalError"),
            Self::Client | Self::Finished => None,
        }
    }

    /// The last line of the stream (contract core §9.1).
    fn disconnect_line(self, problem_base: &str) -> Option<Bytes> {
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

/// An open connection. Clones share it.
#[derive(Clone)]
pub struct StreamSession(Arc<SessionInner>);

struct SessionInner {
    details: NewStreamSession,
    start: Mutex<Option<SessionStart>>,
    queue: Mutex<SessionQueue>,
}

#[derive(Clone, Copy)]
pub(super) struct SessionStart {
    /// The end of the log.
    pub(super) log_end: i64,
    /// Identifies the token.
    pub(super) token_digest: [u8; 32],
}

#[derive(Default)]
struct SessionQueue {
    chunks: VecDeque<QueuedMessage>,
    /// A message to be sent after the next one.
    postponed: Option<QueuedMessage>,
    bytes: usize,
    end_reason: Option<DisconnectReason>,
    waker: Option<Waker>,
    /// The second, and the number of messages sent in it.
    second: (u64, u32),
    sent: u64,
    dropped: u64,
    written: WrittenOutput,
}

/// The pause before it is sent is what a tester ordered.
struct QueuedMessage {
    bytes: Bytes,
    pause: Option<Duration>,
}

impl From<Bytes> for QueuedMessage {
    fn from(bytes: Bytes) -> Self {
        Self { bytes, pause: None }
    }
}

pub(super) struct NewStreamSession {
    pub(super) uuid: String,
    pub(super) id: i64,
    pub(super) app: AppId,
    pub(super) endpoint: StreamEndpoint,
    pub(super) partition: u8,
    pub(super) replay: bool,
    pub(super) client: String,
    pub(super) connected_at: Time,
    /// The maximum number of buffered bytes.
    pub(super) buffer_bytes: usize,
    /// The maximum number of messages per second.
    pub(super) max_per_second: Option<u32>,
    pub(super) keep_alive: Duration,
    pub(super) hub: Weak<HubInner>,
    pub(super) faults: StreamFaults,
}

impl StreamSession {
    pub(super) fn new(details: NewStreamSession) -> Self {
        Self(Arc::new(SessionInner { details, start: Mutex::default(), queue: Mutex::default() }))
    }

    pub fn uuid(&self) -> &str {
        &self.0.details.uuid
    }

    /// The id of the stored row.
    pub fn id(&self) -> i64 {
        self.0.details.id
    }

    pub fn app(&self) -> AppId {
        self.0.details.app
    }

    pub fn endpoint(&self) -> StreamEndpoint {
        self.0.details.endpoint
    }

    /// From 1.
    pub fn partition(&self) -> u8 {
        self.0.details.partition
    }

    pub fn is_replay(&self) -> bool {
        self.0.details.replay
    }

    pub(super) fn faults(&self) -> &StreamFaults {
        &self.0.details.faults
    }

    pub fn client(&self) -> &str {
        &self.0.details.client
    }

    pub fn connected_at(&self) -> Time {
        self.0.details.connected_at
    }

    /// Where the event log ended when the connection was recorded.
    pub(crate) fn log_end(&self) -> Option<i64> {
        self.start_info().map(|started| started.log_end)
    }

    /// `None` while the slot is only reserved.
    pub(super) fn start_info(&self) -> Option<SessionStart> {
        *self.0.start.lock()
    }

    pub(super) fn mark_started(&self, at: i64, token: [u8; 32]) {
        *self.0.start.lock() = Some(SessionStart { log_end: at, token_digest: token });
    }

    pub fn has_ended(&self) -> bool {
        self.0.queue.lock().end_reason.is_some()
    }

    pub fn end_reason(&self) -> Option<DisconnectReason> {
        self.0.queue.lock().end_reason
    }

    /// The number of messages sent, and of those dropped by the rate limit.
    pub fn message_counts(&self) -> (u64, u64) {
        let queue = self.0.queue.lock();
        (queue.sent, queue.dropped)
    }

    pub fn status(&self) -> StreamStatus {
        let (details, queue) = (&self.0.details, self.0.queue.lock());
        StreamStatus {
            uuid: details.uuid.clone(),
            app: details.app,
            endpoint: details.endpoint,
            partition: details.partition,
            is_replay: details.replay,
            client: details.client.clone(),
            connected_at: details.connected_at,
            sent: queue.sent,
            dropped: queue.dropped,
            keep_alives: queue.written.keep_alives(),
            buffered_bytes: queue.bytes,
            idle: queue.written.idle_time(),
        }
    }

    /// Sends a message, line end included; returns false if it was not accepted. Never waits: a client whose
    /// buffer is full is disconnected.
    pub fn send(&self, message: Bytes) -> bool {
        match self.faults().find_message_fault() {
            None => self.queue_message(message.into(), false),
            Some(MessageFault::Drop) => !self.has_ended(),
            Some(MessageFault::Duplicate) => {
                self.queue_message(message.clone().into(), false) && self.queue_message(message.into(), false)
            }
            Some(MessageFault::Postpone) => self.queue_message(message.into(), true),
            Some(MessageFault::Disconnect) => {
                self.end(DisconnectReason::Shutdown);
                false
            }
            Some(MessageFault::Pause(pause)) => {
                self.queue_message(QueuedMessage { bytes: message, pause: Some(pause) }, false)
            }
        }
    }

    fn queue_message(&self, message: QueuedMessage, is_postponed: bool) -> bool {
        let mut queue = self.0.queue.lock();
        if queue.end_reason.is_some() {
            return false;
        }
        if self.0.details.max_per_second.is_some_and(|pace| !queue.admits_message(pace)) {
            queue.dropped = queue.dropped.saturating_add(1);
            drop(queue);
            self.count_message(false);
            return false;
        }
        let bytes = queue.bytes.saturating_add(message.bytes.len());
        if bytes > self.0.details.buffer_bytes && !queue.chunks.is_empty() {
            drop(queue);
            self.end(DisconnectReason::Slow);
            return false;
        }
        queue.bytes = bytes;
        queue.sent = queue.sent.saturating_add(1);
        if is_postponed && queue.postponed.is_none() {
            queue.postponed = Some(message);
        } else {
            queue.chunks.push_back(message);
            let postponed = queue.postponed.take();
            queue.chunks.extend(postponed);
        }
        let waker = queue.waker.take();
        drop(queue);
        self.count_message(true);
        wake_reader(waker);
        true
    }

    fn count_message(&self, sent: bool) {
        if let Some(hub) = self.0.details.hub.upgrade() {
            hub.count_message(sent);
        }
    }

    /// Ends the session: the buffer is still read, then the disconnect message. Frees the slot at once. Only
    /// the first reason counts.
    pub fn end(&self, reason: DisconnectReason) {
        let hub = self.0.details.hub.upgrade();
        let base = hub.as_ref().map_or("", |hub| hub.problem_base());
        let mut queue = self.0.queue.lock();
        if queue.end_reason.is_some() {
            return;
        }
        queue.end_reason = Some(reason);
        let postponed = queue.postponed.take();
        queue.chunks.extend(postponed);
        queue.chunks.extend(reason.disconnect_line(base).map(QueuedMessage::from));
        let waker = queue.waker.take();
        drop(queue);
        if let Some(hub) = hub {
            hub.remove_session(self, reason);
        }
        wake_reader(waker);
    }

    pub(super) fn finish(&self) {
        self.end(DisconnectReason::Finished);
    }

    /// The response body.
    pub fn feed(&self) -> SessionFeed {
        let last = monotonic_now();
        let due = Instant::from_std(last + self.0.details.keep_alive);
        SessionFeed {
            session: self.clone(),
            backfill: None,
            timer: Box::pin(sleep_until(due)),
            last_write: last,
            paused: None,
        }
    }
}

fn wake_reader(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl SessionQueue {
    /// Whether one more message may be sent in this second.
    fn admits_message(&mut self, pace: u32) -> bool {
        let second = base::clock::wall_time().ms().div_euclid(1000).unsigned_abs();
        if self.second.0 != second {
            self.second = (second, 0);
        }
        self.second.1 = self.second.1.saturating_add(1);
        self.second.1 <= pace
    }
}

impl fmt::Debug for StreamSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("uuid", &self.0.details.uuid)
            .field("app", &self.0.details.app)
            .field("endpoint", &self.0.details.endpoint)
            .finish_non_exhaustive()
    }
}

type BackfillStream = Pin<Box<dyn Stream<Item = Bytes> + Send>>;

/// The response body of a session; it does not end before the session does.
pub struct SessionFeed {
    session: StreamSession,
    backfill: Option<BackfillStream>,
    timer: Pin<Box<Sleep>>,
    last_write: std::time::Instant,
    /// A message whose pause is not over.
    paused: Option<(Pin<Box<Sleep>>, Bytes)>,
}

impl SessionFeed {
    /// Reads `past` first; messages sent meanwhile are buffered.
    #[must_use]
    pub fn after_backfill(mut self, backfill: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        self.backfill = Some(Box::pin(backfill));
        self
    }

    fn poll_next_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(backfill) = &mut self.backfill {
            // Messages before a requested end are still read.
            let is_over = self.session.end_reason().filter(|why| *why != DisconnectReason::Finished);
            match backfill.as_mut().poll_next(cx) {
                Poll::Ready(Some(bytes)) if is_over.is_none() => return Poll::Ready(Some(bytes)),
                Poll::Ready(_) => self.backfill = None,
                Poll::Pending if is_over.is_some() => self.backfill = None,
                Poll::Pending => {
                    self.session.0.queue.lock().waker = Some(cx.waker().clone());
                    return Poll::Pending;
                }
            }
        }
        if self.paused.is_some() {
            return self.poll_paused(cx);
        }
        let mut queue = self.session.0.queue.lock();
        if let Some(QueuedMessage { bytes, pause }) = queue.chunks.pop_front() {
            queue.bytes = queue.bytes.saturating_sub(bytes.len());
            let Some(pause) = pause else {
                return Poll::Ready(Some(bytes));
            };
            drop(queue);
            self.paused = Some((Box::pin(sleep_until(Instant::now() + pause)), bytes));
            return self.poll_paused(cx);
        }
        if queue.end_reason.is_some() {
            return Poll::Ready(None);
        }
        // A burst must not keep its memory on an idle connection.
        if queue.chunks.capacity() > 64 {
            queue.chunks = VecDeque::new();
        }
        queue.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn poll_paused(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let is_over = self.paused.as_mut().is_none_or(|(sleep, _)| sleep.as_mut().poll(cx).is_ready());
        if is_over { Poll::Ready(self.paused.take().map(|(_, bytes)| bytes)) } else { Poll::Pending }
    }

    /// What is sent after a silence, unless a tester ordered that nothing is.
    fn next_keep_alive(&self) -> Option<Bytes> {
        let postponed = {
            let mut queue = self.session.0.queue.lock();
            let postponed = queue.postponed.take();
            queue.bytes = queue.bytes.saturating_sub(postponed.as_ref().map_or(0, |message| message.bytes.len()));
            postponed
        };
        match postponed {
            Some(message) => Some(message.bytes),
            None => (!self.session.faults().skips_keep_alive()).then_some(KEEP_ALIVE),
        }
    }

    /// The timer is not reset with each message, only when it fires too early.
    fn poll_keep_alive(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let now = monotonic_now();
            let due = self.last_write + self.session.0.details.keep_alive;
            let rang = now >= due;
            let next = if rang { now + self.session.0.details.keep_alive } else { due };
            self.timer.as_mut().reset(Instant::from_std(next));
            if rang {
                return Poll::Ready(());
            }
        }
    }
}

impl Stream for SessionFeed {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = &mut *self;
        let (next, is_keep_alive) = match this.poll_next_message(cx) {
            Poll::Ready(next) => (next, false),
            Poll::Pending => loop {
                if this.poll_keep_alive(cx).is_pending() {
                    return Poll::Pending;
                }
                if let Some(bytes) = this.next_keep_alive() {
                    break (Some(bytes), true);
                }
                this.last_write = monotonic_now();
            },
        };
        this.last_write = monotonic_now();
        this.session.0.queue.lock().written.record(this.last_write, is_keep_alive);
        Poll::Ready(next)
    }
}

impl Drop for SessionFeed {
    fn drop(&mut self) {
        self.session.end(DisconnectReason::Client);
    }
}
