//! Hands each request to the journal of a development server.

use base::clock::wall_time;
use bytes::Bytes;
use edge::Body;
use emulator::journal::{ObservedBody, ObservedRequest, StreamStart};
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response};
use store::AppendedEvent;

use super::{RequestTrace, ServerState};
use crate::reply::HttpReply;
use crate::request_context::RequestHead;

/// Of the tools that show the journal, of assets and of our own deliveries.
const LEFT_OUT: [&str; 5] = ["/console", "/mailbox", "/assets/", "/favicon.ico", "/webhook-sink/"];

pub(super) enum ReplyBody {
    Full(Bytes),
    Stream(StreamStart),
    Unknown,
}

impl ServerState {
    /// Whether the request is of interest to a tester, as far as its head tells.
    pub(super) fn is_recorded(&self, head: &RequestHead) -> bool {
        let Some(emulator) = &self.app_state.emulator else {
            return false;
        };
        emulator.journal.is_enabled()
            && !head.is_control
            && !LEFT_OUT.iter().any(|prefix| head.uri.path().starts_with(prefix))
    }

    /// What the journal will store of the body; a body without an end is copied while it is sent. None if the request is
    /// not recorded.
    pub(super) fn observe_reply(
        &self,
        reply: &mut HttpReply,
        head: &RequestHead,
        trace: &RequestTrace,
    ) -> Option<ReplyBody> {
        if trace.is_health || !self.is_recorded(head) {
            return None;
        }
        if let Some(bytes) = reply.body.to_bytes() {
            return Some(ReplyBody::Full(bytes));
        }
        if !is_text(&reply.headers) {
            return Some(ReplyBody::Unknown);
        }
        let start = StreamStart::default();
        reply.body = copy_start(std::mem::take(&mut reply.body), start.clone());
        Some(ReplyBody::Stream(start))
    }

    pub(super) fn record_request(
        &self,
        head: &RequestHead,
        trace: &RequestTrace,
        events: Vec<AppendedEvent>,
        body: ReplyBody,
        response: &Response<Body>,
    ) {
        let Some(emulator) = &self.app_state.emulator else {
            return;
        };
        let app = trace.caller_app.as_deref();
        let origin = head.public_origin();
        emulator.record_request(ObservedRequest {
            id: head.id.as_str(),
            at: self.app_state.store.context().clock.now(),
            received_at: wall_time(),
            duration: trace.started.elapsed(),
            operation: trace.operation,
            route: trace.route,
            method: head.method.as_str(),
            scheme: origin.scheme,
            host: origin.host.unwrap_or("localhost"),
            path: head.uri.path(),
            query: head.uri.query().unwrap_or_default(),
            client: head.peer.and_then(|peer| peer.client),
            app: trace.app,
            app_name: app.map_or("", |app| &app.name),
            user: trace.user,
            credential: trace.credential,
            is_app_owner: app.is_some_and(|app| trace.user == Some(app.owner_id)),
            request_headers: &head.headers,
            request_body: trace.body.as_deref().or(trace.form.as_deref()),
            status: response.status().as_u16(),
            response_headers: response.headers(),
            response_body: match &body {
                ReplyBody::Full(bytes) => ObservedBody::Full(bytes),
                ReplyBody::Stream(start) => ObservedBody::Stream(start.clone()),
                ReplyBody::Unknown => ObservedBody::Unknown,
            },
            injected_fault: trace.injected_fault.as_ref().map(|(rule, _)| &**rule),
            has_explanation: trace.explanation_url.is_some(),
            events,
        });
    }
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.starts_with("text/") || kind.contains("json")
}

fn copy_start(body: Body, start: StreamStart) -> Body {
    let is_exempt = body.is_exempt_from_address_limit();
    let copied = stream::unfold(Some((body, start)), |state| async move {
        let (mut body, start) = state?;
        match body.next_chunk().await {
            Ok(Some(bytes)) => {
                start.push(&bytes);
                Some((Ok(bytes), Some((body, start))))
            }
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    });
    let copied = Body::stream(copied);
    if is_exempt { copied.without_address_limit() } else { copied }
}
