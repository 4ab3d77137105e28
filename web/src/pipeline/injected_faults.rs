//! Faults that a tester has ordered for requests.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base::clock::wall_time;
use base::oauth1::parse_oauth1_header;
use base::refusal::{AdsProblem, AdsRefusal, AuthenticationProblem};
use base::{Error, Refusal, Vocabulary};
use bytes::Bytes;
use edge::{Body, BodyError, ResetConnection};
use emulator::faults::{FaultEffect, FaultOccasion, FaultRules, FaultSubject, InjectedFault};
use futures_util::stream;
use http::Response;
use http::header::{CONTENT_LENGTH, HeaderValue};
use identity::apps::{AuthRequest, Caller};
use identity::authenticator::parse_bearer_header;
use serde_json::{Map, Value, json};
use store::Tx;

use super::{RequestTrace, ServerState};
use crate::basic_auth::{BasicCredentials, parse_basic_credentials};
use crate::endpoint::{Endpoint, ErrorFormat};
use crate::error_formats::{self, ErrorContext};
use crate::limits::{RateLimitStatus, WindowStatus};
use crate::params::RequestParams;
use crate::reply::HttpReply;
use crate::request_context::RequestHead;
use crate::router::spell_path;

/// What remains of a long body when nothing says how much.
const STREAMED_BYTES: usize = 512;
/// So that what was sent arrives before the connection breaks.
const BREAK_DELAY: Duration = Duration::from_millis(50);
const TOKEN_PATH: &str = "/2/oauth2/token";
/// Nobody could remove a rule that makes these fail.
const SPARED_PATHS: [&str; 2] = ["/console", "/assets"];

/// A request that would be carried out.
pub(super) struct FaultableRequest<'r> {
    pub(super) endpoint: &'static Endpoint,
    pub(super) caller: Option<&'r Caller>,
    pub(super) params: &'r RequestParams,
    pub(super) bytes: &'r Bytes,
}

impl ServerState {
    /// Applies the fault ordered for the request, if there is one: returns a response or a refusal instead of what the
    /// operation would do, or leaves the fault for the response.
    pub(super) async fn inject_fault(
        &self,
        request: &FaultableRequest<'_>,
        auth: &AuthRequest,
        head: &RequestHead,
        trace: &mut RequestTrace,
    ) -> Result<Option<HttpReply>, Error> {
        let emulator = self.app_state.emulator.as_deref();
        let Some(emulator) = emulator.filter(|emulator| !emulator.faults.is_empty()) else {
            return Ok(None);
        };
        // Boxed, since moving a future of this size would cost all requests.
        Box::pin(self.apply_fault(&emulator.faults, request, auth, head, trace)).await
    }

    async fn apply_fault(
        &self,
        rules: &FaultRules,
        request: &FaultableRequest<'_>,
        auth: &AuthRequest,
        head: &RequestHead,
        trace: &mut RequestTrace,
    ) -> Result<Option<HttpReply>, Error> {
        let path = head.route_path();
        if head.is_control || SPARED_PATHS.iter().any(|spared| path.starts_with(spared)) {
            return Ok(None);
        }
        let Some(fault) = self.find_fault(rules, request, head).await? else {
            return Ok(None);
        };
        trace.injected_fault = Some((Arc::clone(&fault.rule_id), fault.effect_name()));
        match &fault.effect {
            FaultEffect::Delay(time) => tokio::time::sleep(time.sample(fault.chance)).await,
            FaultEffect::Status(status) => {
                let context = ErrorContext { problem_base: &self.config.problem_base, app: trace.app };
                return Ok(Some(error_formats::render_status(request.endpoint.error_format, *status, context)));
            }
            FaultEffect::RateLimit { reset_seconds } => {
                trace.rate_limit = Some(exhausted_rate_limit(trace.rate_limit, *reset_seconds));
                return Err(Refusal::RateLimited.into());
            }
            FaultEffect::DatabaseBusy => return Err(Refusal::Unavailable.into()),
            FaultEffect::ExpireToken | FaultEffect::RevokeToken => {
                let revokes = fault.effect == FaultEffect::RevokeToken;
                self.end_token(auth.authorization.as_deref().and_then(sent_token), revokes).await;
                return Err(Refusal::Unauthenticated(AuthenticationProblem::Token).into());
            }
            FaultEffect::BatchPartial => return Err(fail_half_batch(request.bytes).into()),
            FaultEffect::ResetBeforeHeaders => {
                trace.pending_fault = Some(Box::new(fault));
                return Ok(Some(HttpReply::empty(503)));
            }
            _ => trace.pending_fault = Some(Box::new(fault)),
        }
        Ok(None)
    }

    async fn find_fault(
        &self,
        rules: &FaultRules,
        request: &FaultableRequest<'_>,
        head: &RequestHead,
    ) -> Result<Option<InjectedFault>, Error> {
        let FaultableRequest { endpoint, caller, params, bytes } = request;
        let app = match caller {
            Some(caller) => Some(caller.app_id.get()),
            None => self.find_client_app(head, bytes).await?,
        };
        let is_refresh = endpoint.path == TOKEN_PATH
            && form_value(bytes, "grant_type").is_some_and(|grant_type| grant_type == "refresh_token");
        let account = params.get("account_id").and_then(|account| i64::from_str_radix(&account.raw, 36).ok());
        let paths = std::iter::once(&endpoint.path).chain(endpoint.aliases);
        let templates: Vec<String> = paths
            .flat_map(|path| [Vocabulary::Post, Vocabulary::Tweet].map(|vocabulary| spell_path(path, vocabulary)))
            .collect();
        let occasion = if is_refresh { FaultOccasion::TokenRefresh } else { FaultOccasion::Request };
        let subject = FaultSubject {
            method: endpoint.method,
            path: head.route_path(),
            templates: &templates,
            is_page: endpoint.error_format == ErrorFormat::Page,
            app,
            user: caller.and_then(|caller| caller.user).map(base::Id::get),
            account,
            ..FaultSubject::new(occasion)
        };
        Ok(rules.find_fault(&subject, self.app_state.store.context().clock.now()))
    }

    /// The app that authenticates itself to the operation, as at the token endpoint.
    async fn find_client_app(&self, head: &RequestHead, bytes: &[u8]) -> Result<Option<i64>, Error> {
        let client_id = match parse_basic_credentials(&head.headers) {
            BasicCredentials::Pair(client_id, _) => Some(client_id),
            BasicCredentials::Absent | BasicCredentials::Malformed => form_value(bytes, "client_id"),
        };
        let Some(client_id) = client_id else {
            return Ok(None);
        };
        let read = move |tx: &mut Tx<'_>| {
            let app = match store::apps::find_by_client_id(tx, &client_id)? {
                Some(app) => Some(app),
                None => store::apps::find_by_api_key(tx, &client_id)?,
            };
            Ok::<_, Error>(app.map(|app| app.id.get()))
        };
        self.app_state.store.read(read).await
    }

    /// Tokens that cannot expire are left as they are.
    async fn end_token(&self, token: Option<String>, revokes: bool) {
        let Some(token) = token else {
            return;
        };
        let write = move |tx: &mut Tx<'_>| {
            if revokes { identity::tokens::revoke(tx, &token) } else { identity::tokens::expire(tx, &token) }
        };
        match self.app_state.store.write(write).await {
            Ok(()) | Err(Error::Refused(_)) => {}
            Err(Error::Failed(error)) => tracing::warn!(%error, "failed to end a token by an injected fault"),
        }
    }
}

/// Of a form, or of a JSON object.
fn form_value(bytes: &[u8], name: &str) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    if text.trim_start().starts_with('{') {
        let object: Value = serde_json::from_str(text).ok()?;
        return object.get(name)?.as_str().map(str::to_owned);
    }
    let pairs = base::percent::parse_form(text).ok()?;
    pairs.into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// The access token of an `Authorization` header.
fn sent_token(header: &str) -> Option<String> {
    if let Some(token) = parse_bearer_header(header) {
        return Some(token.to_owned());
    }
    let parameters = parse_oauth1_header(header).ok()??;
    parameters.into_iter().find_map(|(name, value)| (name == "oauth_token").then_some(value))
}

fn exhausted_rate_limit(status: Option<RateLimitStatus>, reset_seconds: u32) -> RateLimitStatus {
    let limit = status.and_then(|status| status.common).map_or(15, |window| window.limit);
    let reset = wall_time().ms().div_euclid(1000) + i64::from(reset_seconds);
    RateLimitStatus {
        allowed: false,
        common: Some(WindowStatus { limit, remaining: 0, reset }),
        day: None,
        is_user_limit: status.is_some_and(|status| status.is_user_limit),
        app_day: None,
    }
}

/// Each second item is wrong, or the only one.
fn fail_half_batch(bytes: &[u8]) -> Refusal {
    let batch: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let count = batch.as_array().map_or(1, Vec::len).max(1);
    let problem = || AdsProblem::new("INTERNAL_ERROR", "An injected fault made this item fail");
    let items = (0..count).map(|index| if index % 2 == 1 || count == 1 { vec![problem()] } else { Vec::new() });
    Refusal::Ads(Box::new(AdsRefusal { items: items.collect(), ..AdsRefusal::default() }))
}

/// Changes what the operation answered.
pub(super) fn damage_reply(reply: HttpReply, fault: &InjectedFault) -> HttpReply {
    let Some(bytes) = reply.body.as_bytes() else {
        return reply;
    };
    let changed = match fault.effect {
        FaultEffect::BadJson => Some(break_json(bytes)),
        FaultEffect::AsyncJobStuck => change_records(bytes, show_job_processing),
        FaultEffect::CountMismatch => change_records(bytes, lower_success_count),
        FaultEffect::ServableFalse => change_records(bytes, show_not_servable),
        _ => None,
    };
    match changed {
        Some(body) => HttpReply { body, ..reply },
        None => reply,
    }
}

/// None if the body is not JSON.
fn change_records(bytes: &[u8], change: impl Fn(&mut Map<String, Value>)) -> Option<Body> {
    let mut answer: Value = serde_json::from_slice(bytes).ok()?;
    let records: Vec<&mut Value> = match answer.get_mut("data") {
        Some(Value::Array(records)) => records.iter_mut().collect(),
        Some(record) => vec![record],
        None => Vec::new(),
    };
    records.into_iter().filter_map(Value::as_object_mut).for_each(change);
    Some(Body::full(answer.to_string()))
}

/// Without its second half, which leaves no whole object, array or text.
fn break_json(bytes: &[u8]) -> Body {
    let start = bytes.get(..bytes.len() / 2).unwrap_or_default();
    if start.is_empty() { Body::full("{") } else { Body::full(start.to_vec()) }
}

fn show_job_processing(job: &mut Map<String, Value>) {
    job.insert("status".to_owned(), "PROCESSING".into());
    for finished in ["url", "expires_at"] {
        if let Some(value) = job.get_mut(finished) {
            *value = Value::Null;
        }
    }
}

fn lower_success_count(counts: &mut Map<String, Value>) {
    let count = counts.get("success_count").and_then(Value::as_u64);
    if let Some(lowered) = count.and_then(|count| count.checked_sub(1)) {
        counts.insert("success_count".to_owned(), lowered.into());
    }
}

/// As when the campaign can no longer be paid for.
fn show_not_servable(record: &mut Map<String, Value>) {
    let is_running = record.get("effective_status").is_some_and(|status| status == "RUNNING");
    let shown = [
        ("servable", json!(false)),
        ("reasons_not_servable", json!(["FUNDING_PROBLEM"])),
        ("effective_status", if is_running { json!("PAUSED") } else { Value::Null }),
    ];
    for (name, value) in shown {
        if !value.is_null()
            && let Some(member) = record.get_mut(name)
        {
            *member = value;
        }
    }
}

/// Changes how the response is sent.
pub(super) fn damage_response(mut response: Response<Body>, fault: &InjectedFault) -> Response<Body> {
    match fault.effect {
        FaultEffect::RefreshLost if !response.status().is_success() => {}
        FaultEffect::ResetBeforeHeaders | FaultEffect::LoseResponse | FaultEffect::RefreshLost => {
            response.extensions_mut().insert(ResetConnection);
        }
        FaultEffect::ResetMidBody { bytes } => {
            return replace_body(response, |body, length| break_body(body, kept_bytes(bytes, length)).reset_on_error());
        }
        FaultEffect::Truncate { bytes } => {
            return replace_body(response, |body, length| break_body(body, kept_bytes(bytes, length)));
        }
        FaultEffect::Drip { chunk_bytes, interval } => {
            let chunk_bytes = usize::try_from(chunk_bytes).unwrap_or(usize::MAX).max(1);
            return replace_body(response, |body, _| drip_body(body, chunk_bytes, interval));
        }
        _ => {}
    }
    response
}

fn kept_bytes(bytes: Option<u32>, length: Option<usize>) -> usize {
    let asked = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    asked.unwrap_or_else(|| length.map_or(STREAMED_BYTES, |length| length / 2))
}

/// Keeps the announced length, if the body has one.
fn replace_body(response: Response<Body>, change: impl FnOnce(Body, Option<usize>) -> Body) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let length = body.as_bytes().map(<[u8]>::len);
    if let Some(length) = length {
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(parts, change(body, length))
}

/// Sends this many bytes, then fails.
fn break_body(body: Body, kept: usize) -> Body {
    Body::stream(stream::unfold((body, kept), |(mut body, kept)| async move {
        let broken = Err(BodyError::Broken);
        if kept == 0 {
            tokio::time::sleep(BREAK_DELAY).await;
            return Some((broken, (Body::empty(), 0)));
        }
        match body.next_chunk().await {
            Ok(Some(mut bytes)) => {
                bytes.truncate(kept);
                let rest = kept - bytes.len();
                Some((Ok(bytes), (body, rest)))
            }
            // Shorter than what was to be kept.
            Ok(None) => Some((broken, (Body::empty(), 0))),
            Err(error) => Some((Err(error), (Body::empty(), 0))),
        }
    }))
}

struct DrippingBody {
    body: Body,
    pieces: VecDeque<Bytes>,
    is_first: bool,
}

fn drip_body(body: Body, chunk_bytes: usize, interval: Duration) -> Body {
    let start = DrippingBody { body, pieces: VecDeque::new(), is_first: true };
    Body::stream(stream::unfold(start, move |mut dripping| async move {
        while dripping.pieces.is_empty() {
            match dripping.body.next_chunk().await {
                Ok(Some(mut bytes)) => {
                    while !bytes.is_empty() {
                        dripping.pieces.push_back(bytes.split_to(chunk_bytes.min(bytes.len())));
                    }
                }
                Ok(None) => return None,
                Err(error) => return Some((Err(error), dripping)),
            }
        }
        if !std::mem::take(&mut dripping.is_first) {
            tokio::time::sleep(interval).await;
        }
        let piece = dripping.pieces.pop_front().unwrap_or_default();
        Some((Ok(piece), dripping))
    }))
}
