//! Requests whose client, or the balancer before it, left before there was a response.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::{RequestHead, RequestTrace, ServerState};
use crate::access_log::AccessLogEntry;
use crate::metrics::ABANDONED_STATUS;

/// Logs and counts a request that is dropped before it is finished.
pub(super) struct PendingRequest<'s> {
    shared: &'s ServerState,
    head: Arc<RequestHead>,
    trace: RequestTrace,
    is_finished: bool,
}

impl<'s> PendingRequest<'s> {
    pub(super) const fn new(shared: &'s ServerState, head: Arc<RequestHead>, trace: RequestTrace) -> Self {
        Self { shared, head, trace, is_finished: false }
    }

    pub(super) const fn finish(&mut self) {
        self.is_finished = true;
    }
}

impl Deref for PendingRequest<'_> {
    type Target = RequestTrace;

    fn deref(&self) -> &RequestTrace {
        &self.trace
    }
}

impl DerefMut for PendingRequest<'_> {
    fn deref_mut(&mut self) -> &mut RequestTrace {
        &mut self.trace
    }
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        let (trace, duration) = (&self.trace, self.trace.started.elapsed());
        let entry = AccessLogEntry {
            method: self.head.method.as_str(),
            route: trace.route,
            status: ABANDONED_STATUS,
            bytes: 0,
            duration,
            app: trace.app,
            user: trace.user,
            id: &self.head.id,
            fault: false,
            explanation_url: None,
        };
        entry.write();
        self.shared.metrics.record_response(trace.route, entry.method, ABANDONED_STATUS, duration);
    }
}
