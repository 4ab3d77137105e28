//! An app's webhooks: challenges, deliveries, replays, and the built-in receiver.

use base::{Error, Fault, Time};
use deliver::webhooks::{ATTEMPT_HEADER, EVENT_ID_HEADER, REPLAY_HEADER, SIGNATURE_HEADER, sign};
use network::webhooks as rules;
use pages::{AppTab, DeliveryAttemptItem, DeliveryItem, LastChallenge, Notice, WebhookItem, WebhooksPage};
use serde_json::{Value, json};
use store::Tx;
use store::apps::App;
use store::deliveries::{self, Delivery, DeliveryAttempt, DeliveryState};
use store::webhooks::{self as stored, Webhook};
use web::error_formats::error_message;
use web::reply::HttpReply;
use web::request_context::RequestContext;
use web::webhooks::validate_webhook;

use super::{OwnedApp, outcome_or_page};
use crate::site::forms::{SubmittedForm, accept_form};
use crate::site::{PageExit, redirect_to};

const MAX_DELIVERIES: i64 = 20;
const MAX_ATTEMPTS: i64 = 10;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let done = match call.head().uri.query() {
        Some("challenged") => Some("The receiver answered the challenge correctly."),
        Some("resent") => Some("The delivery was queued again."),
        Some("replaying") => Some("The replay has started."),
        _ => None,
    };
    webhooks_page(&call, &own, done, None).await
}

pub(crate) async fn submit_action(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let sent = accept_form(&call, &own.visit).await?;
    let done = match sent.text("act").as_str() {
        "challenge" => challenge_own_webhook(&call, &own, &sent).await,
        "resend" => resend_delivery(&call, &own, &sent).await,
        _ => replay_deliveries(&call, &own, &sent).await,
    };
    match done {
        Ok(what) => {
            let path = AppTab::Webhooks.path_for_app(&own.app_ref());
            Ok(redirect_to(&format!("{path}?{what}")))
        }
        Err(Error::Refused(refusal)) => {
            let why = error_message(&refusal).to_owned();
            Ok(webhooks_page(&call, &own, None, Some((why, &sent))).await?.status(400))
        }
        Err(stop) => Err(outcome_or_page::<()>(&call, &own.visit, Err(stop))
            .err()
            .unwrap_or_else(|| PageExit::from(Error::from(Fault::new("the outcome was not a refusal"))))),
    }
}

fn form_id(sent: &SubmittedForm<'_>, name: &'static str) -> i64 {
    sent.text(name).parse().unwrap_or(0)
}

async fn challenge_own_webhook(
    call: &RequestContext,
    own: &OwnedApp,
    sent: &SubmittedForm<'_>,
) -> Result<&'static str, Error> {
    challenge_webhook(call, &own.app, form_id(sent, "webhook")).await.map(|()| "challenged")
}

/// Refuses with the receiver's mistake if it does not pass.
pub async fn challenge_webhook(call: &RequestContext, app: &App, id: i64) -> Result<(), Error> {
    let owner = app.id;
    let webhook = call.read(move |tx| rules::find_owned(tx, owner, id)).await?;
    match validate_webhook(call, app, &webhook).await? {
        Some(failure) => Err(base::Refusal::forbidden(failure.message).into()),
        None => Ok(()),
    }
}

async fn resend_delivery(
    call: &RequestContext,
    own: &OwnedApp,
    sent: &SubmittedForm<'_>,
) -> Result<&'static str, Error> {
    let (app, id, delivery) = (own.app.id, form_id(sent, "webhook"), form_id(sent, "delivery"));
    call.write(move |tx| {
        rules::find_owned(tx, app, id)?;
        rules::resend_delivery(tx, id, delivery)
    })
    .await?;
    Ok("resent")
}

async fn replay_deliveries(
    call: &RequestContext,
    own: &OwnedApp,
    sent: &SubmittedForm<'_>,
) -> Result<&'static str, Error> {
    let (app, id) = (own.app.id, form_id(sent, "webhook"));
    let span = rules::parse_replay_range(call.now(), &sent.text("from"), &sent.text("to"))?;
    call.write(move |tx| rules::start_replay(tx, app, id, span)).await?;
    Ok("replaying")
}

async fn webhooks_page(
    call: &RequestContext,
    own: &OwnedApp,
    done: Option<&str>,
    refused: Option<(String, &SubmittedForm<'_>)>,
) -> Result<HttpReply, PageExit> {
    let app = own.app.id;
    let found = call.read(move |tx| {
        let mut all = Vec::new();
        for webhook in stored::list_by_app(tx, app)? {
            all.push(load_webhook_item(tx, webhook)?);
        }
        Ok(all)
    });
    let (mut frame, mut webhooks) = (own.visit.page_frame(call), found.await?);
    if let Some((failure, sent)) = refused {
        frame.failure = Some(failure);
        for webhook in &mut webhooks {
            keep_replay_range(webhook, sent);
        }
    }
    frame.notices.extend(done.map(Notice::success));
    let dev = call.state.page_context.config.dev;
    let site = call.state.site.url;
    let page = WebhooksPage {
        frame,
        action: AppTab::Webhooks.path_for_app(&own.app_ref()),
        app: own.app_ref(),
        webhooks,
        sink_url: dev.then(|| format!("{site}/webhook-sink/{app}")),
    };
    Ok(own.visit.render_page(call, &page)?)
}

/// Shows again what was typed for a replay that was refused.
pub fn keep_replay_range(webhook: &mut WebhookItem, sent: &SubmittedForm<'_>) {
    if sent.text("act") == "replay" && sent.text("webhook") == webhook.id {
        webhook.replay = [sent.text("from"), sent.text("to")];
    }
}

/// With the newest deliveries and the last challenge.
pub fn load_webhook_item(tx: &mut Tx<'_>, webhook: Webhook) -> Result<WebhookItem, Error> {
    let end = (Time::from_ms(i64::MAX), i64::MAX);
    let mut sent = Vec::new();
    for delivery in deliveries::list_before(tx, webhook.id, end, MAX_DELIVERIES)? {
        let tries = deliveries::list_attempts(tx, webhook.id, delivery.seq, MAX_ATTEMPTS)?;
        sent.push(delivery_item(delivery, tries));
    }
    let last = deliveries::list_challenges(tx, webhook.id, 1)?.pop();
    Ok(WebhookItem {
        id: webhook.id.to_string(),
        url: webhook.url,
        valid: webhook.valid,
        problem: webhook.problem,
        checked: webhook.checked_at,
        challenge: last.map(|last| LastChallenge {
            at: last.at,
            token: last.signature_or_token,
            expected: last.expected,
            answer: last.answer,
            problem: last.problem,
        }),
        deliveries: sent,
        replay: Default::default(),
    })
}

fn delivery_item(delivery: Delivery, tries: Vec<DeliveryAttempt>) -> DeliveryItem {
    let (event, body) = describe_body(&delivery.body);
    let headers = |one: &DeliveryAttempt, number: i64| {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            (SIGNATURE_HEADER, one.signature_or_token.clone()),
            (EVENT_ID_HEADER, delivery.event_id.clone()),
            (ATTEMPT_HEADER, number.to_string()),
        ];
        headers.extend((delivery.job_id != 0).then(|| (REPLAY_HEADER, delivery.job_id.to_string())));
        headers
    };
    // Newest first, and the oldest that are kept may not be the first.
    let numbers = (1..=delivery.tries).rev();
    let tries = tries.into_iter().zip(numbers).map(|(one, number)| DeliveryAttemptItem {
        headers: headers(&one, number),
        at: one.at,
        status: one.status,
        problem: one.problem,
        took_ms: one.duration_ms,
        answer: one.answer,
    });
    DeliveryItem {
        number: delivery.seq,
        event,
        at: delivery.at,
        state: match delivery.state {
            DeliveryState::GivenUp => "failed",
            other => other.name(),
        },
        is_resend: delivery.job_id != 0,
        attempts: tries.collect(),
        event_id: delivery.event_id,
        body,
    }
}

/// The type of the event in a delivery, and the body with indentation.
fn describe_body(body: &str) -> (String, String) {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return ("unknown event".to_owned(), body.to_owned());
    };
    let typed = value.pointer("/data/event_type").and_then(Value::as_str).map(str::to_owned);
    let mut names = value.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let named = names.find(|name| name.ends_with("_events") || name.ends_with("_event"));
    let is_filtered = value.get("matching_rules").is_some();
    let event = typed.or_else(|| named.map(str::to_owned));
    let event = event.or_else(|| is_filtered.then(|| "filtered stream".to_owned()));
    let indented = serde_json::to_string_pretty(&value).unwrap_or_else(|_| body.to_owned());
    (event.unwrap_or_else(|| "unknown event".to_owned()), indented)
}

/// `GET /webhook-sink/{id}`, in development: the built-in receiver answers the challenge.
pub(crate) async fn answer_sink_challenge(call: RequestContext) -> Result<HttpReply, Error> {
    let app = base::AppId::parse(call.path_text("id")?);
    let app = app.ok_or(base::Refusal::RouteNotFound)?;
    let token = call.query_text("crc_token").unwrap_or_default().to_owned();
    let found = call.read(move |tx| identity::apps::find(tx, app)).await;
    let found = found.map_err(|_| Error::from(base::Refusal::RouteNotFound))?;
    let token = sign(&found.api_secret, token.as_bytes());
    Ok(HttpReply::json(200, &json!({ "response_token": token })))
}

/// `POST /webhook-sink/{id}`: accepts everything; the page shows what was delivered.
pub(crate) async fn receive_sink_event(_call: RequestContext) -> Result<HttpReply, Error> {
    Ok(HttpReply::json(200, &json!({})))
}

#[cfg(test)]
mod tests {
    use super::describe_body;

    #[test]
    fn each_kind_of_delivery_says_which_event_it_is_about() {
        for (body, event) in [
            (r#"{"data":{"event_type":"post.create"}}"#, "post.create"),
            (r#"{"for_user_id":"1","tweet_create_events":[]}"#, "tweet_create_events"),
            (r#"{"test_event":{"id":"1"}}"#, "test_event"),
            (r#"{"data":{"id":"1"},"matching_rules":[]}"#, "filtered stream"),
            ("{}", "unknown event"),
            ("not json", "unknown event"),
        ] {
            assert_eq!(describe_body(body).0, event, "{body}");
        }
        assert_eq!(describe_body(r#"{"b":1}"#).1, "{\n  \"b\": 1\n}");
    }
}
