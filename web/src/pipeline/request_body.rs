//! When the body of a request is read, and how much of it.

use std::time::Duration;

use base::oauth1::is_oauth_scheme;
use base::{Error, Refusal};
use bytes::Bytes;
use edge::BodyError;
use http::header::{AUTHORIZATION, CONTENT_ENCODING};

use super::ServerState;
use crate::body::{self, BodyContentType};
use crate::endpoint::{BodySpec, Endpoint};
use crate::request_context::RequestHead;

pub(super) struct PendingBody {
    content_type: BodyContentType,
    pub(super) raw: edge::Body,
    pub(super) bytes: Option<Bytes>,
}

impl PendingBody {
    pub(super) const fn new(content_type: BodyContentType, raw: edge::Body) -> Self {
        Self { content_type, raw, bytes: None }
    }

    /// Whether the operation needs the body as bytes and it has not been read.
    pub(super) fn is_unread(&self, endpoint: &Endpoint) -> bool {
        let needs_no_bytes = match endpoint.body {
            BodySpec::None => true,
            BodySpec::Multipart(_) => self.content_type == BodyContentType::Other,
            BodySpec::Json(_) | BodySpec::Form(_) | BodySpec::Raw => false,
        };
        self.bytes.is_none() && !needs_no_bytes
    }
}

impl ServerState {
    /// Reads a form that can be part of an OAuth 1.0a signature, so that the caller is known only after it. Other bodies
    /// are read once the caller has been authenticated and the call counted.
    pub(super) async fn collect_signed_form(
        &self,
        endpoint: &Endpoint,
        pending: &mut PendingBody,
        head: &RequestHead,
    ) -> Result<(), Error> {
        let authorization = head.headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
        let is_signed = authorization.is_none_or(is_oauth_scheme);
        if pending.content_type != BodyContentType::Form || !is_signed {
            return Ok(());
        }
        let (limit, _) = self.body_limits(endpoint);
        let is_large = limit > self.config.body_limit;
        let max = if is_large && !self.authenticator.is_signer_known(&head.auth_request(None)).await? {
            self.config.body_limit
        } else {
            limit
        };
        Ok(self.collect_body(endpoint, pending, head, max).await?)
    }

    /// In bytes, and the time in which the body must arrive.
    fn body_limits(&self, endpoint: &Endpoint) -> (usize, Duration) {
        let batch_limit = endpoint.ads.and_then(ads_engine::AdsOperation::body_limit);
        match (endpoint.body, batch_limit) {
            (BodySpec::Multipart(_), _) => (self.config.parts_limit, self.config.upload_timeout),
            (_, Some(limit)) => (limit, self.config.upload_timeout),
            (_, None) => (self.config.body_limit, self.config.body_timeout),
        }
    }

    /// Fails above `max` bytes, and above the limit of the operation.
    pub(super) async fn collect_body(
        &self,
        endpoint: &Endpoint,
        pending: &mut PendingBody,
        head: &RequestHead,
        max: usize,
    ) -> Result<(), Refusal> {
        let encoding = head.headers.get(CONTENT_ENCODING);
        if encoding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
            let expected = "without a Content-Encoding";
            return Err(Refusal::UnsupportedMediaType { expected });
        }
        let (limit, timeout) = self.body_limits(endpoint);
        let limit = limit.min(max);
        let raw = std::mem::take(&mut pending.raw);
        let read = raw.collect_bytes(limit, timeout).await;
        let bytes = read.map_err(|error| match error {
            BodyError::TooLarge => Refusal::BodyTooLarge { limit },
            BodyError::TimedOut => Refusal::BodyTimeout,
            BodyError::NoRoom => Refusal::Unavailable,
            BodyError::Broken => body::invalid_body("The request body broke off."),
        })?;
        pending.bytes = Some(bytes);
        Ok(())
    }
}
