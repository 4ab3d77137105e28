//! The challenge by which a receiver shows that it knows the secret of its app.

use std::time::Duration;

use base::secret::constant_time_eq;
use base::{Error, Fault, Rng, Secret, Time};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::Value;
use store::deliveries::{self, DeliveryAttempt};
use store::{Tx, webhooks};

use super::courier::{Courier, Heard, Unheard};
use super::{Place, sign, upkeep};

/// How a challenge ended.
#[derive(Clone, Debug)]
pub struct Challenged {
    /// Why it was not answered rightly, if it was not.
    pub failure: Option<Failure>,
    attempt: DeliveryAttempt,
}

/// Why a challenge was not answered rightly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The sentence that is told.
    pub message: String,
    /// Whether it is about the receiver itself, rather than something that may pass.
    pub for_good: bool,
    /// Whether the address leads to where nothing is sent.
    pub not_allowed: bool,
}

impl Failure {
    fn passing(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            for_good: false,
            not_allowed: false,
        }
    }

    fn lasting(message: impl Into<String>) -> Self {
        Self {
            for_good: true,
            ..Self::passing(message)
        }
    }
}

impl Courier {
    /// Challenges a receiver; `now` is what its note is dated with.
    pub async fn challenge(
        &self,
        place: &Place,
        secret: &Secret,
        chance: &Rng,
        now: Time,
    ) -> Result<Challenged, Fault> {
        let (token, nonce) = (chance.random_token(48)?, chance.random_token(24)?);
        let expected = sign(secret, token.as_bytes());
        let uri = place
            .challenged(&token, &nonce)
            .ok_or_else(|| Fault::new("a challenge that is no address"))?;
        let request = Request::get(uri)
            .header("accept", "application/json")
            .header("user-agent", super::sender::AGENT)
            .body(Full::new(Bytes::new()))
            .map_err(Fault::context("a challenge"))?;
        let heard = self.ask(request).await;
        let failure = judge(&heard, &expected, self.patience());
        let problem = failure.as_ref().map(|failure| failure.message.clone());
        let attempt = DeliveryAttempt {
            webhook_id: 0,
            delivery_seq: 0,
            at: now,
            status: heard.status.into(),
            problem: problem.unwrap_or_default(),
            duration_ms: i64::try_from(heard.took.as_millis()).unwrap_or(i64::MAX),
            signature_or_token: token,
            expected,
            answer: heard.start,
        };
        Ok(Challenged { failure, attempt })
    }
}

impl Challenged {
    /// Takes note of the challenge of a webhook: one that answered rightly is valid until the
    /// next, and gets all that waits for it.
    pub fn settle(&self, tx: &mut Tx<'_>, webhook_id: i64, every: Duration) -> Result<(), Error> {
        match webhooks::find_by_id(tx, webhook_id)? {
            Some(webhook) => upkeep::settle(tx, &webhook, self, every, true),
            None => Ok(()),
        }
    }

    /// Notes the challenge as one of a webhook.
    pub fn note(&self, tx: &mut Tx<'_>, webhook_id: i64) -> Result<(), Error> {
        let attempt = DeliveryAttempt {
            webhook_id,
            ..self.attempt.clone()
        };
        Ok(deliveries::insert_attempt(tx, &attempt)?)
    }
}

fn judge(heard: &Heard, expected: &str, patience: u64) -> Option<Failure> {
    match &heard.problem {
        None => {}
        Some(Unheard::TimedOut) => {
            return Some(Failure::passing(format!(
                "High latency on CRC GET request. Your webhook should respond in less than \
                 {patience} seconds."
            )));
        }
        Some(Unheard::NotAllowed) => {
            return Some(Failure {
                not_allowed: true,
                ..Failure::lasting("The URL's host is not publicly reachable.")
            });
        }
        Some(Unheard::Untrusted(why)) => {
            return Some(Failure::lasting(format!(
                "TLS error during CRC GET request: {why}"
            )));
        }
        Some(Unheard::Broken(why)) => {
            return Some(Failure::passing(format!(
                "The CRC GET request failed: {why}"
            )));
        }
    }
    match heard.status {
        200 => judge_answer(heard, expected),
        300..400 => Some(Failure::lasting(
            "Redirect during CRC GET request: redirects are not followed.",
        )),
        _ => Some(Failure::passing(
            "Non-200 response code during CRC GET request (i.e. 404, 500, etc).",
        )),
    }
}

fn judge_answer(heard: &Heard, expected: &str) -> Option<Failure> {
    let Some(body) = &heard.body else {
        return Some(Failure::lasting(
            "The answer to the CRC GET request is too long.",
        ));
    };
    let Ok(answer) = serde_json::from_slice::<Value>(body) else {
        return Some(Failure::lasting(
            "The answer to the CRC GET request is not JSON.",
        ));
    };
    let Some(token) = answer.get("response_token").and_then(Value::as_str) else {
        return Some(Failure::lasting(
            "The answer to the CRC GET request has no response_token.",
        ));
    };
    (!constant_time_eq(token.as_bytes(), expected.as_bytes()))
        .then(|| Failure::lasting("The response_token is not the one that was expected."))
}
