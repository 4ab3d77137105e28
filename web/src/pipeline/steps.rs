//! The pipeline's steps up to the handler, in the contract's order.

use std::net::IpAddr;
use std::sync::Arc;

use ads_engine::account_context::is_unknown_account;
use base::clock::wall_time;
use base::refusal::AuthenticationProblem;
use base::{Credential, Error, Refusal, Scope, Scopes, Vocabulary};
use http::header::{ACCEPT, HeaderValue, USER_AGENT};
use identity::apps::{AuthRequest, Caller, Permission};

use super::injected_faults::FaultableRequest;
use super::request_body::PendingBody;
use super::{IncomingRequest, RequestTrace, ServerState};
use crate::body::{self, BodyContentType};
use crate::endpoint::{Endpoint, ErrorFormat};
use crate::health::HealthChecks;
use crate::limits::{RateLimitStatus, RateLimitSubject, RateQuota, TOTAL_COUNT_BIT, TOTAL_COUNT_WINDOWS};
use crate::params::RequestParams;
use crate::reply::HttpReply;
use crate::request_context::{AppCharge, RequestContext, RequestHead, wrong_credential};
use crate::router::{RouteError, RouteMatch};
use crate::site_links::short_link_path;
use crate::vocabulary::VocabularyHints;

const DM_SCOPES: Scopes = Scopes::from_slice(&[Scope::DmRead, Scope::DmWrite]);

impl ServerState {
    pub(super) async fn process_request(
        &self,
        incoming: IncomingRequest,
        trace: &mut RequestTrace,
    ) -> Result<HttpReply, Error> {
        let peer = incoming.0.peer;
        let outcome = self.run_operation(incoming, trace).await;
        self.count_unverified_call(outcome, peer.and_then(|peer| peer.client), trace).await
    }

    async fn run_operation(&self, incoming: IncomingRequest, trace: &mut RequestTrace) -> Result<HttpReply, Error> {
        let (head, raw) = incoming;
        let RouteMatch { endpoint, facts, vocabulary: path_vocabulary, path } = match self.find_route(&head) {
            Ok(found) => found,
            Err(error) => return self.handle_unmatched(error, &head, trace).await,
        };
        trace.route = facts.template;
        trace.app_charge = AppCharge::for_operation(endpoint, facts.operation);
        self.begin_operation(endpoint, &head, trace)?;
        let content_type = BodyContentType::from_headers(&head.headers);
        let mut pending = PendingBody::new(content_type, raw);
        self.collect_signed_form(endpoint, &mut pending, &head).await?;
        trace.form.clone_from(&pending.bytes);
        let mut auth = head.auth_request(pending.bytes.as_ref());
        auth.allows_repeated_parameters = endpoint.error_format == ErrorFormat::Ads;
        let caller = self.authenticate_caller(endpoint, facts.operation, &auth, trace).await?;
        let own = self.count_call(endpoint, facts.operation, caller.as_ref(), &head, trace).await?;
        let account = ads_account_subject(endpoint, &path);
        self.check_account_limit(account, endpoint, facts.operation, trace)?;
        let handler = endpoint
            .handler
            .ok_or_else(|| Refusal::NotImplemented { operation: format!("{} {}", endpoint.method, facts.template) })?;
        let is_for_program = may_answer_a_program(endpoint, &head);
        let params = parse_params(endpoint, path, &head).inspect_err(|_| trace.answer_program(is_for_program));
        let params = self.verify_signature_first(endpoint, &auth, params).await?;
        if pending.is_unread(endpoint) {
            self.collect_body(endpoint, &mut pending, &head, usize::MAX).await?;
        }
        trace.body.clone_from(&pending.bytes);
        let bytes = pending.bytes.unwrap_or_default();
        let request = FaultableRequest { endpoint, caller: caller.as_ref(), params: &params, bytes: &bytes };
        if let Some(reply) = self.inject_fault(&request, &auth, &head, trace).await? {
            return Ok(reply);
        }
        let body = body::parse_body(endpoint, content_type, &bytes, path_vocabulary.unwrap_or(Vocabulary::Post));
        let body = self.verify_signature_first(endpoint, &auth, body).await?;
        let vocabulary_hints = find_vocabulary_hints(endpoint, &head, path_vocabulary, &params, &body);
        let call = RequestContext {
            endpoint,
            caller,
            app_charge: trace.app_charge.clone(),
            params,
            body,
            raw_body: pending.raw.into(),
            bytes,
            content_type,
            vocabulary_hints,
            emulated_site: self.app_state.emulated_sites.find_site(head.public_origin()),
            head,
            auth,
            state: Arc::clone(&self.app_state),
        };
        panic_where_a_test_asks(facts.template);
        let outcome = handler.answer(call).await.inspect_err(|_| trace.answer_program(is_for_program));
        let is_foreign = matches!(&outcome, Err(Error::Refused(refusal)) if is_unknown_account(refusal));
        self.count_account_call((account, own), is_foreign, endpoint, facts.operation, trace).await;
        outcome
    }

    fn begin_operation(
        &self,
        endpoint: &'static Endpoint,
        head: &RequestHead,
        trace: &mut RequestTrace,
    ) -> Result<(), Error> {
        trace.operation = endpoint.id;
        trace.error_format = endpoint.error_format;
        trace.is_deprecated = endpoint.is_deprecated;
        trace.rate_limit = Some(self.anonymous_rate_limit(endpoint));
        self.refuse_foreign_host(endpoint, head)?;
        if !self.config.roles.contains(endpoint.role) {
            return Err(Refusal::Unavailable.into());
        }
        if self.app_state.emulator.is_some() {
            self.reserve_id(head)?;
        }
        Ok(())
    }

    /// Refuses a call if the ads account has exhausted a window.
    fn check_account_limit(
        &self,
        account: Option<RateLimitSubject>,
        endpoint: &Endpoint,
        operation: usize,
        trace: &mut RequestTrace,
    ) -> Result<(), Refusal> {
        let Some(subject) = account else {
            return Ok(());
        };
        let windows = endpoint.limits.user;
        let status = self.limiter.peek(subject, operation, windows, wall_time());
        if status.allowed {
            return Ok(());
        }
        trace.account_rate_limit = Some(status);
        if is_limited_by_account(endpoint) {
            trace.rate_limit = Some(status);
        }
        self.metrics.limited.inc();
        Err(Refusal::RateLimited)
    }

    /// Counts the call for its ads account if the caller has access to it, else for the caller.
    async fn count_account_call(
        &self,
        (account, own): (Option<RateLimitSubject>, Option<RateLimitSubject>),
        is_foreign: bool,
        endpoint: &Endpoint,
        operation: usize,
        trace: &mut RequestTrace,
    ) {
        let Some(account) = account else {
            return;
        };
        let is_of_account = is_limited_by_account(endpoint);
        let windows = endpoint.limits.user;
        let subject = if is_foreign { own.filter(|_| is_of_account) } else { Some(account) };
        let status = match subject {
            Some(subject) => Some(self.limiter.charge(subject, operation, windows, wall_time()).await),
            None => None,
        };
        if !is_foreign {
            trace.account_rate_limit = status;
        }
        if is_of_account {
            trace.rate_limit = status;
        }
    }

    fn find_route(&self, head: &RequestHead) -> Result<RouteMatch, RouteError> {
        let (method, path) = (head.method.as_str(), head.route_path());
        if head.is_control {
            return self.routers.control.find(method, path);
        }
        let host = self.config.short_link_host.as_deref();
        match host.and_then(|host| short_link_path(host, head.public_origin(), path)) {
            Some(path) => self.routers.public.find(method, &path),
            None => self.routers.public.find(method, path),
        }
    }

    /// Handles a path or method without an operation: health check, CORS preflight or refusal.
    async fn handle_unmatched(
        &self,
        error: RouteError,
        head: &RequestHead,
        trace: &mut RequestTrace,
    ) -> Result<HttpReply, Error> {
        trace.error_format = if error.error_format == ErrorFormat::V2 && prefers_html(head) {
            ErrorFormat::Page
        } else {
            error.error_format
        };
        if let Some(reply) = self.health.respond(head.method.as_str(), &head.uri).await {
            trace.route = HealthChecks::match_route(head.uri.path()).unwrap_or_default();
            trace.is_health = true;
            return Ok(reply);
        }
        if let Refusal::MethodNotAllowed { allowed } = &error.refusal
            && head.method == http::Method::OPTIONS
            && let Some(reply) = self.cors.preflight(error.error_format, &head.headers, allowed)
        {
            return Ok(reply);
        }
        Err(error.refusal.into())
    }

    /// Returns none if the operation needs no credential.
    async fn authenticate_caller(
        &self,
        endpoint: &Endpoint,
        operation: usize,
        auth: &AuthRequest,
        trace: &mut RequestTrace,
    ) -> Result<Option<Caller>, Error> {
        if endpoint.permit.open {
            return Ok(None);
        }
        let caller = self.authenticator.authenticate(auth).await?;
        let caller = caller.ok_or(Refusal::Unauthenticated(AuthenticationProblem::Missing))?;
        trace.app = Some(caller.app_id);
        trace.user = caller.user;
        trace.credential = Some(caller.credential);
        trace.caller_app = Some(Arc::clone(&caller.app));
        if let Some(user) = caller.user {
            store::assign_queries_to_user(user.get());
        }
        if caller.credential == Credential::OAuth1 {
            trace.access_level = Some(access_level_name(caller.permission));
        }
        if let Err(refusal) = check_permission(endpoint, &caller) {
            // The call is not counted.
            trace.rate_limit = self.app_state.caller_rate_limit(&caller, operation).or(trace.rate_limit);
            return Err(refusal.into());
        }
        Ok(Some(caller))
    }

    /// Refuses invalid parameters. An operation that checks credentials itself has not verified the signature yet, whose
    /// refusal takes precedence (contract core §2.2).
    async fn verify_signature_first<T>(
        &self,
        endpoint: &Endpoint,
        auth: &AuthRequest,
        parsed: Result<T, Refusal>,
    ) -> Result<T, Error> {
        if parsed.is_err() && endpoint.permit.open && endpoint.error_format == ErrorFormat::Legacy {
            self.authenticator.verify_signed_request(auth).await?;
        }
        Ok(parsed?)
    }

    /// Shows what the operation has counted for an app that it has verified. Without one, counts a refused call for its
    /// address.
    async fn count_unverified_call(
        &self,
        outcome: Result<HttpReply, Error>,
        address: Option<IpAddr>,
        trace: &mut RequestTrace,
    ) -> Result<HttpReply, Error> {
        let Some(charge) = trace.app_charge.take() else {
            return outcome;
        };
        if let Some(status) = charge.status.get() {
            trace.rate_limit = Some(*status);
            self.metrics.limited.inc_by(u64::from(!status.allowed));
            return outcome;
        }
        let is_counted = matches!(&outcome, Err(Error::Refused(refusal)) if *refusal != Refusal::RateLimited);
        let Some(address) = address.filter(|_| is_counted) else {
            return outcome;
        };
        let subject = RateLimitSubject::from_address(address);
        let status = self.limiter.charge(subject, charge.operation, charge.limits.app, wall_time()).await;
        trace.rate_limit = Some(status);
        if status.allowed {
            return outcome;
        }
        self.metrics.limited.inc();
        Err(Refusal::RateLimited.into())
    }

    /// Counts the call, whatever its outcome, and returns its subject. A call that only an ads account limits is
    /// counted after the handler, by [`Self::count_account_call`], and one that verifies an app by
    /// [`RequestContext::charge_app`] or [`Self::count_unverified_call`].
    async fn count_call(
        &self,
        endpoint: &Endpoint,
        operation: usize,
        caller: Option<&Caller>,
        head: &RequestHead,
        trace: &mut RequestTrace,
    ) -> Result<Option<RateLimitSubject>, Refusal> {
        let subject = match caller {
            Some(caller) => RateLimitSubject::from_caller(caller),
            None => match head.peer.and_then(|peer| peer.client) {
                Some(address) if !endpoint.verifies_app => RateLimitSubject::from_address(address),
                _ => return Ok(None),
            },
        };
        if let Some(caller) = caller {
            let (app, used) = (caller.app_id, caller.credential);
            self.app_state.usage.record_call(app, used, caller.user, endpoint.id);
        }
        let query = head.uri.query().unwrap_or_default();
        let (operation, quota) = match endpoint.ads {
            Some(ads_operation) if ads_operation.supports_totals() && requests_total_count(query) => {
                (operation | TOTAL_COUNT_BIT, TOTAL_COUNT_WINDOWS.into())
            }
            _ => (operation, endpoint.quota(subject)),
        };
        let is_exempt = !self.limiter.limits_reference_lists() && is_reference_list(endpoint);
        let status = if is_exempt || is_limited_by_account(endpoint) {
            self.limiter.peek(subject, operation, quota, wall_time())
        } else {
            let status = self.limiter.charge(subject, operation, quota, wall_time()).await;
            self.count_for_app(endpoint, operation, subject, status).await
        };
        trace.rate_limit = Some(status);
        if status.allowed {
            return Ok(Some(subject));
        }
        self.metrics.limited.inc();
        Err(Refusal::RateLimited)
    }

    /// Counts a user's call for the app too, if the app has a limit over all its users. A refused call is not counted, but
    /// shows the app's window.
    async fn count_for_app(
        &self,
        endpoint: &Endpoint,
        operation: usize,
        subject: RateLimitSubject,
        status: RateLimitStatus,
    ) -> RateLimitStatus {
        let windows = endpoint.windows_over_users();
        let (RateLimitSubject::User(app, _), false) = (subject, windows.is_empty()) else {
            return status;
        };
        let app = RateLimitSubject::App(app);
        status.with_app(if status.allowed {
            self.limiter.charge(app, operation, windows, wall_time()).await
        } else {
            self.limiter.peek(app, operation, windows, wall_time())
        })
    }

    /// The limits shown before the caller is known.
    fn anonymous_rate_limit(&self, endpoint: &Endpoint) -> RateLimitStatus {
        let is_user_limit = !endpoint.limits.user.is_empty() && !endpoint.permit.open;
        let windows = if is_user_limit { endpoint.limits.user } else { endpoint.limits.app };
        let quota = RateQuota { windows, shared: endpoint.limits.shared.filter(|_| !endpoint.permit.open) };
        RateLimitStatus { is_user_limit, ..self.limiter.unused_status(quota, wall_time()) }
    }
}

/// In debug builds, panics for the path template in `LOCUM_TEST_PANIC_ROUTE`.
fn panic_where_a_test_asks(route: &str) {
    if cfg!(debug_assertions) {
        assert!(std::env::var("LOCUM_TEST_PANIC_ROUTE").as_deref() != Ok(route), "a test asked for it");
    }
}

fn find_vocabulary_hints(
    endpoint: &Endpoint,
    head: &RequestHead,
    path_vocabulary: Option<Vocabulary>,
    params: &RequestParams,
    body: &body::ParsedBody,
) -> VocabularyHints {
    // Clients of version 11 of the Ads API are older than the newer vocabulary.
    let is_older = endpoint.ads.is_some() && head.route_path().starts_with("/11/");
    let path_hint = path_vocabulary.or(is_older.then_some(Vocabulary::Tweet));
    let mut vocabulary_hints = VocabularyHints::from_path(path_hint);
    vocabulary_hints.newer_models = is_official_sdk(head);
    vocabulary_hints.observe_name(params.vocabulary_hint());
    vocabulary_hints.observe_body_key(body.vocabulary_hint);
    vocabulary_hints
}

fn parse_params(
    endpoint: &'static Endpoint,
    path: Vec<(&'static str, String)>,
    head: &RequestHead,
) -> Result<RequestParams, Refusal> {
    match endpoint.ads {
        Some(_) => Ok(RequestParams::from_path(endpoint, path)),
        None => RequestParams::parse(endpoint, path, head.uri.query().unwrap_or_default()),
    }
}

/// The ads account that a call is counted for as well.
fn ads_account_subject(endpoint: &Endpoint, path: &[(&'static str, String)]) -> Option<RateLimitSubject> {
    endpoint.ads.filter(|ads_operation| ads_operation.is_limited_per_account())?;
    let (_, id) = path.iter().find(|(name, _)| *name == "account_id")?;
    i64::from_str_radix(id, 36).ok().map(RateLimitSubject::Account)
}

/// Whether only the ads account's limits apply.
fn is_limited_by_account(endpoint: &Endpoint) -> bool {
    let ads_operation = endpoint.ads;
    ads_operation.is_some_and(ads_engine::AdsOperation::is_limited_per_account_only)
}

/// A page whose path begins with a username is found for any unknown path, which programs ask for as well.
fn may_answer_a_program(endpoint: &Endpoint, head: &RequestHead) -> bool {
    endpoint.error_format == ErrorFormat::Page && endpoint.path.starts_with("/{") && !prefers_html(head)
}

fn is_reference_list(endpoint: &Endpoint) -> bool {
    endpoint.ads.is_some_and(ads_engine::AdsOperation::is_reference_list)
}

pub(super) fn requests_total_count(query: &str) -> bool {
    let pairs = base::percent::parse_form(query).unwrap_or_default();
    let mut flags = pairs.iter().filter(|(name, _)| name == "with_total_count");
    flags.any(|(_, value)| ["true", "t", "1"].contains(&value.to_lowercase().as_str()))
}

/// Whether a browser requests a page, outside of `/2/`.
fn prefers_html(head: &RequestHead) -> bool {
    let accept = head.headers.get(ACCEPT).map(HeaderValue::as_bytes);
    let accept = accept.unwrap_or_default();
    let wants_page = accept.windows(9).any(|part| part.eq_ignore_ascii_case(b"text/html"));
    wants_page && head.uri.path().split('/').nth(1) != Some("2")
}

/// Checks the kind and level of the credential and the app's entitlement.
fn check_permission(endpoint: &Endpoint, caller: &Caller) -> Result<(), Refusal> {
    let permit = endpoint.permit;
    if !permit.accepts(caller.credential) {
        return Err(wrong_credential(caller.credential, permit));
    }
    match caller.credential {
        Credential::OAuth1 if caller.permission < required_permission(endpoint) => {
            Err(Refusal::InsufficientAccessLevel)
        }
        Credential::OAuth2 if !caller.scopes.contains_all(permit.scopes) => Err(Refusal::ScopeMissing),
        _ => Ok(()),
    }?;
    match endpoint.required_entitlement {
        Some(needed) if !needed.is_listed_in(&caller.app.entitlements) => {
            Err(Refusal::NotEnrolled { required: needed.name() })
        }
        _ => Ok(()),
    }
}

/// The OAuth 1.0a access level that an operation requires.
fn required_permission(endpoint: &Endpoint) -> Permission {
    let direct = DM_SCOPES.iter().any(|scope| endpoint.permit.scopes.contains(scope));
    match endpoint.method {
        _ if direct => Permission::Messages,
        // Every token may revoke itself.
        _ if endpoint.error_format == ErrorFormat::Legacy && endpoint.path.contains("/oauth") => Permission::Read,
        "GET" => Permission::Read,
        _ => Permission::Write,
    }
}

/// As in the `x-access-level` header.
const fn access_level_name(permission: Permission) -> &'static str {
    match permission {
        Permission::Read => "read",
        Permission::Write => "read-write",
        Permission::Messages => "read-write-directmessages",
    }
}

/// The official SDKs of the v2 API name themselves `xdk-LANGUAGE/VERSION`.
fn is_official_sdk(head: &RequestHead) -> bool {
    head.headers.get(USER_AGENT).is_some_and(|agent| agent.as_bytes().starts_with(b"xdk-"))
}
