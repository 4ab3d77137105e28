//! One try, from the request to what came of it.

use std::future::Future;
use std::pin::Pin;

use base::Time;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use http::{Request, Uri};
use http_body_util::Full;
use store::deliveries::{Delivery, DeliveryAttempt, DeliveryState};
use tokio::sync::oneshot;

use super::super::courier::Heard;
use super::super::lane::Fate;
use super::super::record::{Failing, Outcome};
use super::super::schedule::{Failed, Schedule};
use super::super::{Courier, SIGNATURE_HEADER};
use super::{AGENT, Hook, Work};

/// What the receiver knows the event by.
const EVENT_ID: HeaderName = HeaderName::from_static("webhook-id");
/// The how-manieth try it is.
const ATTEMPT: HeaderName = HeaderName::from_static("webhook-attempt");
/// The replay that it belongs to.
const REPLAY: HeaderName = HeaderName::from_static("webhook-replay-id");
const SIGNATURE: HeaderName = HeaderName::from_static(SIGNATURE_HEADER);

/// A try that has come to an end; without an answer, it was stopped.
pub(super) struct Landed {
    delivery: Delivery,
    signature: String,
    heard: Option<Heard>,
}

/// How long a receiver must have been away for its return to be taken for one.
const AWAY_MS: i64 = 60_000;

/// A try under way.
pub(super) fn fly(
    courier: &Courier,
    uri: &Uri,
    signature: String,
    mut delivery: Delivery,
    stopped: oneshot::Receiver<()>,
) -> Pin<Box<dyn Future<Output = Landed> + Send>> {
    let courier = courier.clone();
    // Nobody needs it afterwards.
    let body = Bytes::from(std::mem::take(&mut delivery.body));
    let request = request(uri, &signature, &delivery, body);
    Box::pin(async move {
        let heard = match request {
            Ok(request) => tokio::select! {
                heard = courier.ask(request) => Some(heard),
                _ = stopped => None,
            },
            Err(error) => Some(Heard::unsendable(&error)),
        };
        Landed {
            delivery,
            signature,
            heard,
        }
    })
}

fn request(
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

impl Work {
    /// Takes note of how a try ended.
    pub(super) fn landed(&mut self, landed: Landed) {
        let now = self.now();
        let id = landed.delivery.webhook_id;
        let (key, seq) = (landed.delivery.order_key, landed.delivery.seq);
        let Some(heard) = landed.heard else {
            return self.withdrawn(id, key, seq);
        };
        let good = heard.problem.is_none() && (200..300).contains(&heard.status);
        let problem = match &heard.problem {
            Some(problem) => problem.to_string(),
            None if good => String::new(),
            None => format!("the receiver answered {}", heard.status),
        };
        let attempt = DeliveryAttempt {
            webhook_id: id,
            delivery_seq: seq,
            at: now,
            status: heard.status.into(),
            problem,
            duration_ms: i64::try_from(heard.took.as_millis()).unwrap_or(i64::MAX),
            signature_or_token: landed.signature,
            expected: String::new(),
            answer: heard.start,
        };
        let again = if good {
            None
        } else {
            self.again(&landed.delivery, now, heard.retry_after_ms)
        };
        let mut outcome = Outcome {
            seq,
            key,
            state: match again {
                _ if good => DeliveryState::Delivered,
                Some(_) => DeliveryState::Waiting,
                None => DeliveryState::GivenUp,
            },
            again_at: again.unwrap_or(now),
            attempt,
            failing: Failing::AsBefore,
            is_back: false,
            disabled: None,
        };
        let most = i64::try_from(self.settings.disable_after.as_millis()).unwrap_or(i64::MAX);
        if let Some(hook) = self.hooks.get_mut(&id) {
            hook.lane
                .landed(key, seq, again.map_or(Fate::Gone, Fate::Again));
            hook.heard(good, now, most, &mut outcome);
            if outcome.disabled.is_some() {
                hook.lane.stop();
            }
            self.hot.insert(id);
        }
        self.outcomes.push(outcome);
        self.tell_those_who_wait();
    }

    /// A delivery that is not sent any more has landed.
    fn withdrawn(&mut self, webhook: i64, key: i64, seq: i64) {
        if let Some(hook) = self.hooks.get_mut(&webhook) {
            hook.lane.landed(key, seq, Fate::Gone);
            if !hook.lane.is_flying() {
                self.hooks.remove(&webhook);
            }
        }
        self.tell_those_who_wait();
    }

    fn again(&self, delivery: &Delivery, now: Time, asked_ms: Option<i64>) -> Option<Time> {
        let brief;
        let schedule = if delivery.job_id == 0 {
            &self.settings.retry
        } else {
            brief = Schedule::brief();
            &brief
        };
        let failed = Failed {
            tries: delivery.tries.saturating_add(1),
            first_at: delivery.tried_at.unwrap_or(now),
            now,
            asked_ms,
        };
        let again = schedule.again(&failed, &self.store.context().rng);
        // Without randomness there is no jitter, but a try all the same.
        again.unwrap_or_else(|_| Some(now.plus_ms(60_000)))
    }

    /// Tells those who wait for a webhook to fall silent that it has.
    pub(super) fn tell_those_who_wait(&mut self) {
        let hooks = &mut self.hooks;
        let waiting = std::mem::take(&mut self.waiting);
        for (id, until, reply) in waiting {
            if hooks.get(&id).is_some_and(|hook| hook.lane.is_flying()) {
                self.waiting.push((id, until, reply));
            } else {
                hooks.remove(&id);
                let _gone = reply.send(());
            }
        }
    }
}

impl Hook {
    /// What an answer, or none, says of the receiver.
    fn heard(&mut self, good: bool, now: Time, disable_after_ms: i64, outcome: &mut Outcome) {
        let since = self.webhook.failing_since;
        if good {
            self.lane.widen();
            if let Some(since) = since {
                self.webhook.failing_since = None;
                outcome.failing = Failing::Ended;
                if now.ms().saturating_sub(since.ms()) >= AWAY_MS {
                    self.lane.release(now);
                    outcome.is_back = true;
                }
            }
            return;
        }
        self.lane.narrow();
        match since {
            None => {
                self.webhook.failing_since = Some(now);
                outcome.failing = Failing::Since(now);
            }
            Some(since) if now.ms().saturating_sub(since.ms()) >= disable_after_ms => {
                self.webhook.valid = false;
                let why = "Nothing could be delivered for too long.";
                outcome.disabled = Some(why.to_owned());
            }
            Some(_) => {}
        }
    }
}
