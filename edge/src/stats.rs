//! Counts of what happened at the door, for whoever exports them.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that many tasks move.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn down(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The live counts of one listener; [`Stats::view`] reads them.
#[derive(Debug, Default)]
pub struct Stats {
    pub(crate) open: Count,
    pub(crate) accepted: Count,
    pub(crate) refused: Count,
    pub(crate) refused_by_address: Count,
    pub(crate) accept_errors: Count,
    pub(crate) requests: Count,
    pub(crate) bad_requests: Count,
    pub(crate) header_timeouts: Count,
    pub(crate) body_timeouts: Count,
    pub(crate) idle_timeouts: Count,
    pub(crate) write_timeouts: Count,
    pub(crate) panics: Count,
    pub(crate) aborted: Count,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatsView {
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

impl Stats {
    /// Reads every count.
    pub fn view(&self) -> StatsView {
        StatsView {
            open: self.open.read(),
            accepted: self.accepted.read(),
            refused: self.refused.read(),
            refused_by_address: self.refused_by_address.read(),
            accept_errors: self.accept_errors.read(),
            requests: self.requests.read(),
            bad_requests: self.bad_requests.read(),
            header_timeouts: self.header_timeouts.read(),
            body_timeouts: self.body_timeouts.read(),
            idle_timeouts: self.idle_timeouts.read(),
            write_timeouts: self.write_timeouts.read(),
            panics: self.panics.read(),
            aborted: self.aborted.read(),
        }
    }
}
