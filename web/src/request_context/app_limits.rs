//! Limits of callers, and counting of calls whose operation verifies the app itself.

use std::sync::{Arc, OnceLock};

use base::clock::wall_time;
use base::{AppId, Refusal};
use identity::apps::Caller;

use super::{AppState, RequestContext};
use crate::endpoint::{Endpoint, EndpointLimits};
use crate::limits::{RateLimitStatus, RateLimitSubject, RateQuota};

/// What the handler has counted for an app, for the response's headers.
pub(crate) struct AppCharge {
    pub(crate) operation: usize,
    pub(crate) limits: EndpointLimits,
    pub(crate) status: OnceLock<RateLimitStatus>,
}

impl AppCharge {
    /// None unless the operation, by its number, verifies an app.
    pub(crate) fn for_operation(endpoint: &Endpoint, operation: usize) -> Option<Arc<Self>> {
        let charge = || Arc::new(Self { operation, limits: endpoint.limits, status: OnceLock::new() });
        endpoint.verifies_app.then(charge)
    }
}

impl AppState {
    /// The status of a call of an operation, by its number, that is not counted, as far as this node knows. None if such
    /// calls have no limits.
    pub fn caller_rate_limit(&self, caller: &Caller, operation: usize) -> Option<RateLimitStatus> {
        let endpoint = self.endpoints.get(operation)?;
        let (subject, over_users) = (RateLimitSubject::from_caller(caller), endpoint.windows_over_users());
        let (is_user, quota) = (caller.user.is_some(), endpoint.quota(subject));
        if quota.is_empty() || !is_user && !endpoint.permit.app {
            return None;
        }
        let status = self.limiter.peek(subject, operation, quota, wall_time());
        if over_users.is_empty() {
            return Some(status);
        }
        let app = RateLimitSubject::App(caller.app_id.get());
        Some(status.with_app(self.limiter.peek(app, operation, over_users, wall_time())))
    }
}

impl RequestContext {
    /// Counts the call for an app that the operation has verified; refuses it if a window is exhausted.
    pub async fn charge_app(&self, app: AppId) -> Result<(), Refusal> {
        self.charge_client(RateLimitSubject::App(app.get())).await
    }

    /// As [`Self::charge_app`], for an app without a secret: at the client's address, since anyone can pretend to be it.
    pub async fn charge_public_client(&self, app: AppId) -> Result<(), Refusal> {
        let Some(address) = self.head.peer.and_then(|peer| peer.client) else {
            return Ok(());
        };
        self.require_unexhausted(app)?;
        self.charge_client(RateLimitSubject::from_public_client(app.get(), address)).await
    }

    /// A tester may have exhausted the window of the app.
    fn require_unexhausted(&self, app: AppId) -> Result<(), Refusal> {
        let Some(charge) = &self.app_charge else {
            return Ok(());
        };
        let subject = RateLimitSubject::App(app.get());
        let status = self.state.limiter.peek(subject, charge.operation, charge.limits.app, wall_time());
        if status.allowed {
            return Ok(());
        }
        charge.status.get_or_init(|| status);
        Err(Refusal::RateLimited)
    }

    async fn charge_client(&self, subject: RateLimitSubject) -> Result<(), Refusal> {
        let Some(charge) = &self.app_charge else {
            return Ok(());
        };
        let quota = RateQuota { windows: charge.limits.app, shared: charge.limits.shared };
        let status = self.state.limiter.charge(subject, charge.operation, quota, wall_time()).await;
        let status = charge.status.get_or_init(|| status);
        if status.allowed { Ok(()) } else { Err(Refusal::RateLimited) }
    }
}
