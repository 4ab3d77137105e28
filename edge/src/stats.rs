//! Counts of what happened at the door, for whoever exports them.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that many tasks move.
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

/// The live counts of one listener; [`Stats::view`] reads them.
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

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListenerStatsSnapshot {
    /// Connections open now.
    pub open: u64,
    /// Connections taken up so far.
    pub accepted: u64,
    /// Connections turned away because too many were open.
    pub refused: u64,
    /// Connections turned away because one address had too many.
    pub refused_by_address: u64,
    /// Failed accepts, such as for want of file descriptors.
    pub accept_errors: u64,
    /// Requests whose head was read.
    pub requests: u64,
    /// Requests that the edge itself turned away.
    pub bad_requests: u64,
    /// Connections closed waiting for a head.
    pub header_timeouts: u64,
    /// Request bodies given up on.
    pub body_timeouts: u64,
    /// Connections closed at rest.
    pub idle_timeouts: u64,
    /// Connections closed because the client took nothing.
    pub write_timeouts: u64,
    /// Handlers that panicked.
    pub panics: u64,
    /// Connections cut off at the end of the shutdown grace.
    pub aborted: u64,
}

impl ListenerStats {
    /// Reads every count.
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
