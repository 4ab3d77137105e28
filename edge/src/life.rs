//! What one connection is doing, shared by its socket, its requests and its driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::limits::Limits;

/// How long a client is given to read the last answer before the socket is dropped.
const FAREWELL: Duration = Duration::from_secs(2);

/// Why a connection's time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Header,
    Idle,
    Write,
    Farewell,
}

/// A moment in a connection's life, or never.
#[derive(Debug, Default)]
struct Moment(AtomicU64);

/// What one connection is doing. Moments are milliseconds since it was accepted.
#[derive(Debug)]
pub(crate) struct Life {
    accepted: Instant,
    active: AtomicUsize,
    calls: AtomicU64,
    contradictory: AtomicU64,
    http2: AtomicBool,
    rest_since: Moment,
    head_since: Moment,
    blocked_since: Moment,
    farewell_since: Moment,
}

impl Life {
    pub(crate) fn begin() -> Arc<Self> {
        Arc::new(Self {
            accepted: Instant::now(),
            active: AtomicUsize::new(0),
            calls: AtomicU64::new(0),
            contradictory: AtomicU64::new(0),
            http2: AtomicBool::new(false),
            rest_since: Moment::default(),
            head_since: Moment::default(),
            blocked_since: Moment::default(),
            farewell_since: Moment::default(),
        })
    }

    /// Begins a request; says whether its head must not be believed.
    pub(crate) fn call(self: &Arc<Self>) -> (InFlight, bool) {
        self.active.fetch_add(1, Ordering::AcqRel);
        let number = self.calls.fetch_add(1, Ordering::AcqRel) + 1;
        let believed = self.contradictory.load(Ordering::Acquire) != number;
        (InFlight(Arc::clone(self)), believed)
    }

    pub(crate) fn doubt(&self, number: u64) {
        self.contradictory.store(number, Ordering::Release);
    }

    pub(crate) fn speaks_http2(&self) {
        self.http2.store(true, Ordering::Release);
    }

    pub(crate) fn is_http2(&self) -> bool {
        self.http2.load(Ordering::Acquire)
    }

    pub(crate) fn within_head(&self, within: bool) {
        self.keep(&self.head_since, within);
    }

    pub(crate) fn blocked(&self, blocked: bool) {
        self.keep(&self.blocked_since, blocked);
    }

    pub(crate) fn farewell(&self) {
        self.keep(&self.farewell_since, true);
    }

    /// Whether no request is in flight.
    pub(crate) fn rests(&self) -> bool {
        self.active.load(Ordering::Acquire) == 0
    }

    /// Whether nothing is in flight and nothing waits to be written.
    pub(crate) fn is_spare(&self) -> bool {
        self.rests() && self.blocked_since.get().is_none() && self.farewell_since.get().is_none()
    }

    /// When this connection's time is up, if it stays as it is.
    pub(crate) fn due(&self, limits: &Limits) -> Option<(Instant, Why)> {
        let at = |since: u64, wait| self.accepted + Duration::from_millis(since) + wait;
        let rest = self.rest_since.get().unwrap_or(0);
        if let Some(since) = self.farewell_since.get().filter(|_| self.rests()) {
            return Some((at(since.max(rest), FAREWELL), Why::Farewell));
        }
        let blocked = self.blocked_since.get();
        let write = blocked.map(|since| (at(since, limits.write_timeout), Why::Write));
        if !self.rests() {
            return write;
        }
        let first = self.calls.load(Ordering::Acquire) == 0 && !self.is_http2();
        let read = match self.head_since.get() {
            _ if first => (at(0, limits.header_timeout), Why::Header),
            Some(head) => (at(head.max(rest), limits.header_timeout), Why::Header),
            None => (at(rest, limits.idle_timeout), Why::Idle),
        };
        Some(write.filter(|write| write.0 < read.0).unwrap_or(read))
    }

    fn keep(&self, moment: &Moment, holds: bool) {
        let known = moment.0.load(Ordering::Relaxed) != 0;
        if holds && !known {
            self.mark(moment);
        } else if !holds && known {
            moment.0.store(0, Ordering::Relaxed);
        }
    }

    fn mark(&self, moment: &Moment) {
        let now = u64::try_from(self.accepted.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        moment.0.store(now + 1, Ordering::Release);
    }
}

impl Moment {
    fn get(&self) -> Option<u64> {
        self.0.load(Ordering::Acquire).checked_sub(1)
    }
}

/// One request from its head to the end of its answer.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Life>);

impl Drop for InFlight {
    fn drop(&mut self) {
        let life = &self.0;
        if life.active.load(Ordering::Acquire) == 1 {
            life.mark(&life.rest_since);
        }
        life.active.fetch_sub(1, Ordering::AcqRel);
    }
}
