//! Challenge-response checks, by which a receiver proves that it knows its app's secret.

use std::time::Duration;

use base::secret::constant_time_eq;
use base::{AppId, Error, Fault, Rng, Secret, Time};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::Request;
use http_body_util::Full;
use serde_json::Value;
use store::deliveries::{self, DeliveryAttempt};
use store::{Tx, webhooks};

use super::client::{RequestFailure, WebhookClient, WebhookResponse};
use super::{SIGNATURE_HEADER, TargetUrl, periodic_challenges, sign};

#[derive(Clone, Debug)]
pub struct ChallengeResult {
    /// `None` if the challenge was passed.
    pub failure: Option<ChallengeFailure>,
    attempt: DeliveryAttempt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeFailure {
    /// Shown to the client.
    pub message: String,
    /// Whether the receiver itself is at fault, rather than a temporary condition.
    pub is_permanent: bool,
    /// Whether the URL resolves to a forbidden address.
    pub is_target_forbidden: bool,
}

impl ChallengeFailure {
    fn transient(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_permanent: false, is_target_forbidden: false }
    }

    fn permanent(message: impl Into<String>) -> Self {
        Self { is_permanent: true, ..Self::transient(message) }
    }
}

/// Whom a challenge is for.
#[derive(Clone, Copy, Debug)]
pub struct ChallengeSubject {
    pub app: AppId,
    /// `None` while it is being registered.
    pub webhook: Option<i64>,
}

impl WebhookClient {
    /// Challenges a receiver; `now` is the time recorded.
    pub fn send_challenge<'a>(
        &'a self,
        subject: ChallengeSubject,
        target: &'a TargetUrl,
        secret: &'a Secret,
        rng: &'a Rng,
        now: Time,
    ) -> BoxFuture<'a, Result<ChallengeResult, Fault>> {
        Box::pin(async move {
            let (token, nonce) = (rng.random_token(48)?, rng.random_token(24)?);
            let expected = sign(secret, token.as_bytes());
            let uri = target
                .challenge_uri(&token, &nonce)
                .ok_or_else(|| Fault::new("the challenge URL is not a valid URI"))?;
            let signature = sign(secret, uri.query().unwrap_or_default().as_bytes());
            let request = Request::get(uri)
                .header(SIGNATURE_HEADER, signature)
                .header("accept", "application/json")
                .header("user-agent", super::sender::AGENT)
                .body(Full::new(Bytes::new()))
                .map_err(Fault::context("building a challenge request"))?;
            let response = self.send_request(request).await;
            let sent = SentChallenge { token: &token, expected: &expected };
            let failure = match self.find_challenge_fault(subject, now) {
                Some(rule) => {
                    Some(ChallengeFailure::permanent(format!("The injected fault {rule} made the challenge fail.")))
                }
                None => check_response(&response, &sent, self.timeout_secs()),
            };
            let problem = failure.as_ref().map(|failure| failure.message.clone());
            let attempt = DeliveryAttempt {
                webhook_id: 0,
                delivery_seq: 0,
                at: now,
                status: response.status.into(),
                problem: problem.unwrap_or_default(),
                duration_ms: i64::try_from(response.elapsed.as_millis()).unwrap_or(i64::MAX),
                signature_or_token: token,
                expected,
                answer: response.body_start,
            };
            Ok(ChallengeResult { failure, attempt })
        })
    }
}

impl ChallengeResult {
    /// Records the challenge of a webhook. One that passed is valid until the next, and its waiting deliveries
    /// become due.
    pub fn record_for_webhook(&self, tx: &mut Tx<'_>, webhook_id: i64, every: Duration) -> Result<(), Error> {
        match webhooks::find_by_id(tx, webhook_id)? {
            Some(webhook) => periodic_challenges::apply_result(tx, &webhook, self, every, true),
            None => Ok(()),
        }
    }

    /// Records the challenge as an attempt of a webhook.
    pub fn record_attempt(&self, tx: &mut Tx<'_>, webhook_id: i64) -> Result<(), Error> {
        let attempt = DeliveryAttempt { webhook_id, ..self.attempt.clone() };
        Ok(deliveries::insert_attempt(tx, &attempt)?)
    }
}

struct SentChallenge<'a> {
    token: &'a str,
    expected: &'a str,
}

/// Of what a receiver answered, in messages.
const MAX_SHOWN_CHARS: usize = 100;

fn check_response(heard: &WebhookResponse, sent: &SentChallenge<'_>, patience: u64) -> Option<ChallengeFailure> {
    match &heard.problem {
        None => {}
        Some(RequestFailure::TimedOut) => {
            return Some(ChallengeFailure::transient(format!(
                "High latency on CRC GET request. Your webhook should respond in less than \
                 {patience} seconds."
            )));
        }
        Some(RequestFailure::NotAllowed) => {
            return Some(ChallengeFailure {
                is_target_forbidden: true,
                ..ChallengeFailure::permanent("The URL's host is not publicly reachable.")
            });
        }
        Some(RequestFailure::Untrusted(why)) => {
            return Some(ChallengeFailure::permanent(format!("TLS error during CRC GET request: {why}")));
        }
        Some(RequestFailure::Broken(why)) => {
            return Some(ChallengeFailure::transient(format!("The CRC GET request failed: {why}")));
        }
    }
    match heard.status {
        200 => check_response_token(heard, sent),
        300..400 => Some(ChallengeFailure::permanent("Redirect during CRC GET request: redirects are not followed.")),
        status => Some(ChallengeFailure::transient(format!(
            "Non-200 response code during CRC GET request (i.e. 404, 500, etc). It was {status}."
        ))),
    }
}

fn check_response_token(response: &WebhookResponse, sent: &SentChallenge<'_>) -> Option<ChallengeFailure> {
    let Some(body) = &response.body else {
        return Some(ChallengeFailure::permanent("The answer to the CRC GET request is too long."));
    };
    let Ok(body_json) = serde_json::from_slice::<Value>(body) else {
        return Some(ChallengeFailure::permanent("The answer to the CRC GET request is not JSON."));
    };
    let Some(token) = body_json.get("response_token").and_then(Value::as_str) else {
        return Some(ChallengeFailure::permanent("The answer to the CRC GET request has no response_token."));
    };
    let SentChallenge { token: crc_token, expected } = sent;
    (!constant_time_eq(token.as_bytes(), expected.as_bytes())).then(|| {
        let received: String = token.chars().take(MAX_SHOWN_CHARS).collect();
        ChallengeFailure::permanent(format!(
            "The response_token is not the one that was expected: for crc_token={crc_token} it is {expected}, the HMAC \
             with the consumer secret (API key secret), and {received} was received."
        ))
    })
}
