//! What is known of a request while it is processed.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Instant;

use base::{AppId, Credential, UserId};
use bytes::Bytes;
use emulator::faults::InjectedFault;
use store::apps::App;

use super::ServerState;
use crate::access_log::AccessLogEntry;
use crate::endpoint::ErrorFormat;
use crate::limits::RateLimitStatus;
use crate::metrics::ABANDONED_STATUS;
use crate::request_context::{AppCharge, RequestHead};

/// Collected while a request is processed, for the response headers and the access log.
pub(super) struct RequestTrace {
    pub(super) started: Instant,
    pub(super) route: &'static str,
    pub(super) error_format: ErrorFormat,
    pub(super) is_deprecated: bool,
    pub(super) app: Option<AppId>,
    pub(super) user: Option<UserId>,
    pub(super) access_level: Option<&'static str>,
    pub(super) rate_limit: Option<RateLimitStatus>,
    pub(super) account_rate_limit: Option<RateLimitStatus>,
    pub(super) app_charge: Option<Arc<AppCharge>>,
    pub(super) fault: bool,
    /// The body, if it is a form.
    pub(super) form: Option<Bytes>,
    /// Where a development server explains why it refused the credentials.
    pub(super) explanation_url: Option<String>,
    /// Health responses have no API headers.
    pub(super) is_health: bool,
    /// Of the matched endpoint.
    pub(super) operation: &'static str,
    pub(super) credential: Option<Credential>,
    pub(super) caller_app: Option<Arc<App>>,
    /// The body, if it was read as a whole.
    pub(super) body: Option<Bytes>,
    /// The id of the rule by which a tester ordered a fault, and the name of its effect.
    pub(super) injected_fault: Option<(Arc<str>, &'static str)>,
    /// That fault, until it is applied to the response.
    pub(super) pending_fault: Option<Box<InjectedFault>>,
}

impl RequestTrace {
    pub(super) const fn new(started: Instant) -> Self {
        Self {
            started,
            route: "",
            error_format: ErrorFormat::V2,
            is_deprecated: false,
            app: None,
            user: None,
            access_level: None,
            rate_limit: None,
            account_rate_limit: None,
            app_charge: None,
            fault: false,
            form: None,
            explanation_url: None,
            is_health: false,
            operation: "",
            credential: None,
            caller_app: None,
            body: None,
            injected_fault: None,
            pending_fault: None,
        }
    }

    /// Renders an error for a program although the path is a page's, if a program asks.
    pub(super) const fn answer_program(&mut self, is_for_program: bool) {
        if is_for_program {
            self.error_format = ErrorFormat::V2;
        }
    }
}

/// Logs and counts a request that is dropped before it is finished: its client, or the balancer before it, has left.
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
