//! The state of one connection, shared by its socket, its requests and its driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::admission::AddressPermit;
use crate::limits::ListenerLimits;

/// How long a client may take to read the last response before the socket is dropped.
pub(crate) const LINGER_TIME: Duration = Duration::from_secs(2);

/// How long after accepting a connection its first request is awaited during a shutdown.
pub(crate) const FIRST_REQUEST_TIME: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloseReason {
    Header,
    Idle,
    Write,
    Linger,
}

/// Milliseconds since accept plus one, or zero for never.
#[derive(Debug, Default)]
struct AtomicMoment(AtomicU64);

/// What one connection is doing. Moments are milliseconds since it was accepted.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    accepted: Instant,
    active: AtomicUsize,
    request_count: AtomicU64,
    contradictory_request: AtomicU64,
    http2: AtomicBool,
    /// Whether the socket is closed with a reset.
    must_reset: AtomicBool,
    idle_since: AtomicMoment,
    head_since: AtomicMoment,
    write_blocked_since: AtomicMoment,
    linger_since: AtomicMoment,
}

impl ConnectionState {
    pub(crate) fn start(accepted: Instant) -> Arc<Self> {
        Arc::new(Self {
            accepted,
            active: AtomicUsize::new(0),
            request_count: AtomicU64::new(0),
            contradictory_request: AtomicU64::new(0),
            http2: AtomicBool::new(false),
            must_reset: AtomicBool::new(false),
            idle_since: AtomicMoment::default(),
            head_since: AtomicMoment::default(),
            write_blocked_since: AtomicMoment::default(),
            linger_since: AtomicMoment::default(),
        })
    }

    /// Holds the permit of the address that the request was forwarded for until its response is sent or it is
    /// released. The
    /// flag is false when the request's head contradicts itself.
    pub(crate) fn start_request(self: &Arc<Self>, address: Option<AddressPermit>) -> (InFlightRequest, bool) {
        self.active.fetch_add(1, Ordering::AcqRel);
        let number = self.request_count.fetch_add(1, Ordering::AcqRel) + 1;
        let is_consistent = self.contradictory_request.load(Ordering::Acquire) != number;
        (InFlightRequest { state: Arc::clone(self), address }, is_consistent)
    }

    pub(crate) fn mark_contradictory(&self, number: u64) {
        self.contradictory_request.store(number, Ordering::Release);
    }

    pub(crate) fn set_http2(&self) {
        self.http2.store(true, Ordering::Release);
    }

    pub(crate) fn is_http2(&self) -> bool {
        self.http2.load(Ordering::Acquire)
    }

    /// Closes the socket with a reset when the connection ends. Requests on HTTP/2 share their connection, whose stream
    /// alone is reset.
    pub(crate) fn reset_at_end(&self) {
        self.must_reset.store(!self.is_http2(), Ordering::Release);
    }

    pub(crate) fn must_reset(&self) -> bool {
        self.must_reset.load(Ordering::Acquire)
    }

    pub(crate) fn set_inside_head(&self, inside: bool) {
        self.set_moment(&self.head_since, inside);
    }

    pub(crate) fn set_write_blocked(&self, blocked: bool) {
        self.set_moment(&self.write_blocked_since, blocked);
    }

    pub(crate) fn start_linger(&self) {
        self.set_moment(&self.linger_since, true);
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.active.load(Ordering::Acquire) == 0
    }

    pub(crate) fn can_close(&self) -> bool {
        self.is_idle() && self.write_blocked_since.get().is_none() && self.linger_since.get().is_none()
    }

    pub(crate) fn awaits_first_request(&self) -> bool {
        self.request_count.load(Ordering::Acquire) == 0 && !self.is_http2()
    }

    /// Until when a shutdown awaits the first request; `None` once there is one.
    pub(crate) fn first_request_deadline(&self) -> Option<Instant> {
        self.awaits_first_request().then(|| self.accepted + FIRST_REQUEST_TIME)
    }

    /// When the connection times out unless its state changes.
    pub(crate) fn next_deadline(&self, limits: &ListenerLimits) -> Option<(Instant, CloseReason)> {
        let at = |since: u64, wait| self.accepted + Duration::from_millis(since) + wait;
        let rest = self.idle_since.get().unwrap_or(0);
        if let Some(since) = self.linger_since.get().filter(|_| self.is_idle()) {
            return Some((at(since.max(rest), LINGER_TIME), CloseReason::Linger));
        }
        let blocked = self.write_blocked_since.get();
        let write = blocked.map(|since| (at(since, limits.write_timeout), CloseReason::Write));
        if !self.is_idle() {
            return write;
        }
        let read = match self.head_since.get() {
            _ if self.awaits_first_request() => (at(0, limits.header_timeout), CloseReason::Header),
            Some(head) => (at(head.max(rest), limits.header_timeout), CloseReason::Header),
            None => (at(rest, limits.idle_timeout), CloseReason::Idle),
        };
        Some(write.filter(|write| write.0 < read.0).unwrap_or(read))
    }

    fn set_moment(&self, moment: &AtomicMoment, is_set: bool) {
        let was_set = moment.0.load(Ordering::Relaxed) != 0;
        if is_set && !was_set {
            self.mark_moment(moment);
        } else if !is_set && was_set {
            moment.0.store(0, Ordering::Relaxed);
        }
    }

    fn mark_moment(&self, moment: &AtomicMoment) {
        let now = u64::try_from(self.accepted.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        moment.0.store(now + 1, Ordering::Release);
    }
}

impl AtomicMoment {
    fn get(&self) -> Option<u64> {
        self.0.load(Ordering::Acquire).checked_sub(1)
    }
}

#[derive(Debug)]
pub(crate) struct InFlightRequest {
    state: Arc<ConnectionState>,
    address: Option<AddressPermit>,
}

impl InFlightRequest {
    pub(crate) fn release_address(&mut self) {
        self.address = None;
    }

    pub(crate) fn reset_at_end(&self) {
        self.state.reset_at_end();
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        let state = &self.state;
        // Before it counts as idle, whichever request is the last of those that end at the same time.
        state.mark_moment(&state.idle_since);
        state.active.fetch_sub(1, Ordering::AcqRel);
    }
}
