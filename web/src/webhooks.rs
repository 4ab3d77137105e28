//! Registers and challenges the webhooks of an app, for the API and for pages.

use base::refusal::RefusalKind;
use base::{Error, Refusal};
use deliver::webhooks::{ChallengeFailure, ChallengeResult, ChallengeSubject, TargetUrl};
use futures_util::future::BoxFuture;
use identity::apps::AccessLevel;
use network::webhooks::{self, NewWebhook};
use store::apps::App;
use store::webhooks::Webhook;

use crate::request_context::RequestContext;

/// Stores the webhook only after its receiver has passed the challenge.
pub fn register_webhook<'a>(
    call: &'a RequestContext,
    app: &'a App,
    url: &'a str,
) -> BoxFuture<'a, Result<Webhook, Error>> {
    Box::pin(async move {
        let new = new_webhook(call, app, url);
        let target = parse_url(call, &new.url)?;
        let candidate = new.clone();
        call.read(move |tx| webhooks::check_registrable(tx, &candidate)).await?;
        let challenged = send_challenge(call, (app, None), &target).await?;
        if let Some(failure) = &challenged.failure {
            return Err(challenge_failed("url", &new.url, failure).into());
        }
        let stored = call.write(move |tx| {
            let webhook = webhooks::register(tx, &new)?;
            challenged.record_attempt(tx, webhook.id)?;
            Ok(webhook)
        });
        stored.await
    })
}

fn new_webhook(call: &RequestContext, app: &App, url: &str) -> NewWebhook {
    let settings = call.state.webhooks.settings();
    let (most, max_enterprise) = settings.max_webhooks;
    let is_enterprise = app.access_level == AccessLevel::Enterprise;
    NewWebhook {
        app: app.id,
        url: url.to_owned(),
        most: if is_enterprise { max_enterprise } else { most },
        check_after_ms: i64::try_from(settings.challenge_interval.as_millis()).unwrap_or(i64::MAX),
    }
}

/// Challenges a webhook and records the result. Once valid, it receives its queued events.
pub fn validate_webhook<'a>(
    call: &'a RequestContext,
    app: &'a App,
    webhook: &'a Webhook,
) -> BoxFuture<'a, Result<Option<ChallengeFailure>, Error>> {
    Box::pin(async move {
        let challenged = challenge_webhook(call, app, webhook).await?;
        let failure = challenged.failure.clone();
        let (webhook_admin, id) = (call.state.webhooks.clone(), webhook.id);
        call.write(move |tx| webhook_admin.apply_challenge(tx, id, &challenged)).await?;
        call.state.webhooks.wake_sender();
        Ok(failure)
    })
}

/// Checks the address again, which may be forbidden by now. Records nothing.
pub fn challenge_webhook<'a>(
    call: &'a RequestContext,
    app: &'a App,
    webhook: &'a Webhook,
) -> BoxFuture<'a, Result<ChallengeResult, Error>> {
    Box::pin(async move { send_challenge(call, (app, Some(webhook.id)), &parse_url(call, &webhook.url)?).await })
}

fn parse_url(call: &RequestContext, url: &str) -> Result<TargetUrl, Refusal> {
    call.state.webhooks.parse_url(url).map_err(|reason| {
        Refusal::named_reason(RefusalKind::Invalid, "url", url, format!("UrlValidationFailed: {reason}"))
    })
}

async fn send_challenge(
    call: &RequestContext,
    (app, webhook): (&App, Option<i64>),
    target: &TargetUrl,
) -> Result<ChallengeResult, Error> {
    let subject = ChallengeSubject { app: app.id, webhook };
    let (client, rng) = (call.state.webhooks.client(), &call.store_context().rng);
    Ok(client.send_challenge(subject, target, &app.api_secret, rng, call.now()).await?)
}

pub fn challenge_failed(parameter: &'static str, value: &str, failure: &ChallengeFailure) -> Refusal {
    let word = if failure.is_target_forbidden { "UrlValidationFailed" } else { "CrcValidationFailed" };
    let message = format!("{word}: {}", failure.message);
    Refusal::named_reason(RefusalKind::Invalid, parameter, value, message)
}
