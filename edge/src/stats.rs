//! Counters of one listener.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct AtomicCounter(AtomicU64);

impl AtomicCounter {
    pub(crate) fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn decrement(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub struct ListenerStats {
    pub(crate) open: AtomicCounter,
    pub(crate) accepted: AtomicCounter,
    pub(crate) refused: AtomicCounter,
    pub(crate) refused_by_address: AtomicCounter,
    pub(crate) accept_errors: AtomicCounter,
    pub(crate) requests: AtomicCounter,
    pub(crate) bad_requests: AtomicCounter,
    pub(crate) header_timeouts: AtomicCounter,
    pub(crate) body_timeouts: AtomicCounter,
    pub(crate) idle_timeouts: AtomicCounter,
    pub(crate) write_timeouts: AtomicCounter,
    pub(crate) panics: AtomicCounter,
    pub(crate) aborted: AtomicCounter,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListenerStatsSnapshot {
    pub open: u64,
    pub accepted: u64,
    /// Too many connections in total.
    pub refused: u64,
    /// Too many connections from one address.
    pub refused_by_address: u64,
    /// Such as for want of file descriptors.
    pub accept_errors: u64,
    /// Requests whose head was read.
    pub requests: u64,
    /// Requests that the edge itself rejected.
    pub bad_requests: u64,
    pub header_timeouts: u64,
    pub body_timeouts: u64,
    pub idle_timeouts: u64,
    pub write_timeouts: u64,
    pub panics: u64,
    /// Connections aborted at the end of the shutdown grace period.
    pub aborted: u64,
}

impl ListenerStats {
    pub fn snapshot(&self) -> ListenerStatsSnapshot {
        ListenerStatsSnapshot {
            open: self.open.load(),
            accepted: self.accepted.load(),
            refused: self.refused.load(),
            refused_by_address: self.refused_by_address.load(),
            accept_errors: self.accept_errors.load(),
            requests: self.requests.load(),
            bad_requests: self.bad_requests.load(),
            header_timeouts: self.header_timeouts.load(),
            body_timeouts: self.body_timeouts.load(),
            idle_timeouts: self.idle_timeouts.load(),
            write_timeouts: self.write_timeouts.load(),
            panics: self.panics.load(),
            aborted: self.aborted.load(),
        }
    }
}
