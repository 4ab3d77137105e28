//! One attempt, from the request to its outcome.

use std::future::Future;
use std::pin::Pin;

use base::Time;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use http::{Request, Uri};
use http_body_util::Full;
use store::deliveries::{Delivery, DeliveryAttempt, DeliveryState};
use tokio::sync::oneshot;

use super::super::client::WebhookResponse;
use super::super::delivery_queue::DeliveryOutcome;
use super::super::injected_faults::DeliveryFault;
use super::super::outcomes::{AttemptOutcome, FailureChange};
use super::super::retry_schedule::{FailedTry, RetrySchedule};
use super::super::{ATTEMPT_HEADER, EVENT_ID_HEADER, REPLAY_HEADER, SIGNATURE_HEADER, WebhookClient};
use super::{AGENT, ActiveWebhook, SenderState};

const EVENT_ID: HeaderName = HeaderName::from_static(EVENT_ID_HEADER);
const ATTEMPT: HeaderName = HeaderName::from_static(ATTEMPT_HEADER);
const REPLAY: HeaderName = HeaderName::from_static(REPLAY_HEADER);
const SIGNATURE: HeaderName = HeaderName::from_static(SIGNATURE_HEADER);

/// A finished attempt; without a response, it was aborted.
pub(super) struct CompletedAttempt {
    delivery: Delivery,
    signature: String,
    response: Option<WebhookResponse>,
}

pub(super) struct SignedDelivery {
    pub(super) delivery: Delivery,
    pub(super) signature: String,
    pub(super) fault: Option<DeliveryFault>,
    /// The handle that would stop the attempt, if nothing else has it.
    pub(super) keeps_running: Option<oneshot::Sender<()>>,
}

/// The minimum failure time before a success counts as a return.
const MIN_AWAY_MS: i64 = 60_000;

pub(super) fn run_attempt(
    client: &WebhookClient,
    uri: &Uri,
    attempt: SignedDelivery,
    stopped: oneshot::Receiver<()>,
) -> Pin<Box<dyn Future<Output = CompletedAttempt> + Send>> {
    let client = client.clone();
    let SignedDelivery { mut delivery, signature, fault, keeps_running } = attempt;
    // Not needed afterwards.
    let body = Bytes::from(std::mem::take(&mut delivery.body));
    let request = build_request(uri, &signature, &delivery, body);
    Box::pin(async move {
        let heard = match request {
            Ok(request) => tokio::select! {
                heard = client.send_with_fault(request, fault) => Some(heard),
                _ = stopped => None,
            },
            Err(error) => Some(WebhookResponse::invalid_request(&error)),
        };
        drop(keeps_running);
        CompletedAttempt { delivery, signature, response: heard }
    })
}

fn build_request(
    uri: &Uri,
    signature: &str,
    delivery: &Delivery,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, http::Error> {
    let mut request = Request::post(uri.clone())
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .header(USER_AGENT, HeaderValue::from_static(AGENT))
        .header(SIGNATURE, signature)
        .header(EVENT_ID, delivery.event_id.as_str())
        .header(ATTEMPT, delivery.tries.saturating_add(1));
    if delivery.job_id != 0 {
        request = request.header(REPLAY, delivery.job_id);
    }
    request.body(Full::new(body))
}

impl SenderState {
    /// Applies the result of an attempt.
    pub(super) fn complete_attempt(&mut self, completed: CompletedAttempt) {
        let now = self.now();
        let id = completed.delivery.webhook_id;
        let (key, seq) = (completed.delivery.order_key, completed.delivery.seq);
        let Some(response) = completed.response else {
            return self.abort_attempt(id, key, seq);
        };
        let good = response.problem.is_none() && (200..300).contains(&response.status);
        let problem = match &response.problem {
            Some(problem) => problem.to_string(),
            None if good => String::new(),
            None => format!("the receiver answered {}", response.status),
        };
        let attempt = DeliveryAttempt {
            webhook_id: id,
            delivery_seq: seq,
            at: now,
            status: response.status.into(),
            problem,
            duration_ms: i64::try_from(response.elapsed.as_millis()).unwrap_or(i64::MAX),
            signature_or_token: completed.signature,
            expected: String::new(),
            answer: response.body_start,
        };
        let again = if good { None } else { self.next_retry(&completed.delivery, now, response.retry_after_ms) };
        let mut outcome = AttemptOutcome {
            seq,
            event_at: completed.delivery.at,
            key,
            state: match again {
                _ if good => DeliveryState::Delivered,
                Some(_) => DeliveryState::Waiting,
                None => DeliveryState::GivenUp,
            },
            retry_at: again.unwrap_or(now),
            attempt,
            failure_change: FailureChange::Unchanged,
            is_back: false,
            disable_reason: None,
        };
        let disable_after_ms = i64::try_from(self.settings.disable_after.as_millis()).unwrap_or(i64::MAX);
        if let Some(active) = self.active.get_mut(&id) {
            let tries = completed.delivery.tries.saturating_add(1);
            let done = again.map_or(DeliveryOutcome::Done, |due| DeliveryOutcome::Retry { due, tries });
            active.queue.complete(key, seq, done);
            active.update_health(good, now, disable_after_ms, &mut outcome);
            if outcome.disable_reason.is_some() {
                active.queue.abort_in_flight();
            }
            self.ready.insert(id);
        }
        self.outcomes.push(outcome);
        self.notify_stop_waiters();
    }

    /// Completes a delivery that was aborted.
    fn abort_attempt(&mut self, webhook: i64, key: i64, seq: i64) {
        if let Some(active) = self.active.get_mut(&webhook) {
            active.queue.complete(key, seq, DeliveryOutcome::Done);
            if !active.queue.has_in_flight() {
                self.active.remove(&webhook);
            }
        }
        self.notify_stop_waiters();
    }

    fn next_retry(&self, delivery: &Delivery, now: Time, asked_ms: Option<i64>) -> Option<Time> {
        let brief;
        let schedule = if delivery.job_id == 0 {
            &self.settings.retry
        } else {
            brief = RetrySchedule::replay_schedule();
            &brief
        };
        let failed = FailedTry {
            tries: delivery.tries.saturating_add(1),
            first_at: delivery.tried_at.unwrap_or(now),
            now,
            retry_after_ms: asked_ms,
        };
        let retry_at = schedule.next_retry(&failed, &self.store.context().rng);
        // Without random numbers, retry without jitter.
        retry_at.unwrap_or_else(|_| Some(now.plus_ms(60_000)))
    }

    /// Notifies callers waiting for webhooks that have nothing in flight any more.
    pub(super) fn notify_stop_waiters(&mut self) {
        let hooks = &mut self.active;
        let waiting = std::mem::take(&mut self.stop_waiters);
        for (id, until, reply) in waiting {
            if hooks.get(&id).is_some_and(|active| active.queue.has_in_flight()) {
                self.stop_waiters.push((id, until, reply));
            } else {
                hooks.remove(&id);
                let _gone = reply.send(());
            }
        }
    }
}

impl ActiveWebhook {
    /// Updates the failure state of the webhook.
    fn update_health(&mut self, good: bool, now: Time, disable_after_ms: i64, outcome: &mut AttemptOutcome) {
        let since = self.webhook.failing_since;
        if good {
            self.queue.raise_concurrency();
            if let Some(since) = since {
                self.webhook.failing_since = None;
                outcome.failure_change = FailureChange::Recovered;
                if now.ms().saturating_sub(since.ms()) >= MIN_AWAY_MS {
                    self.queue.make_all_due();
                    outcome.is_back = true;
                }
            }
            return;
        }
        self.queue.reduce_concurrency();
        match since.filter(|_| self.has_failed) {
            None => {
                self.has_failed = true;
                self.webhook.failing_since = Some(now);
                outcome.failure_change = FailureChange::Since(now);
            }
            Some(since) if now.ms().saturating_sub(since.ms()) >= disable_after_ms => {
                self.webhook.valid = false;
                let why = "Nothing could be delivered for too long.";
                outcome.disable_reason = Some(why.to_owned());
            }
            Some(_) => {}
        }
    }
}
