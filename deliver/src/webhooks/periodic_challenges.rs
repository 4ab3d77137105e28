//! Periodic challenges, whether or not there are deliveries.

use std::time::Duration;

use base::Error;
use futures_util::StreamExt;
use futures_util::stream;
use store::apps::{self, AppStatus};
use store::webhooks::{self, Webhook};
use store::{Store, Tx};

use super::challenge::{ChallengeFailure, ChallengeResult, ChallengeSubject};
use super::outcomes::disable_webhook;
use super::{TargetUrl, WebhookClient, WebhookSettings};

/// How often due challenges are checked.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const MAX_CONCURRENT: usize = 32;
/// The delay before another challenge after a failure.
const RETRY_MS: i64 = 30 * 60 * 1000;
/// A webhook that was not challenged with success for this long is disabled.
const DISABLE_AFTER_MS: i64 = 28 * 60 * 60 * 1000;
/// Challenges are repeated for at least this long before that.
const MIN_FAILING_MS: i64 = 4 * 60 * 60 * 1000;

/// Runs forever.
pub(super) async fn run(store: &Store, settings: &WebhookSettings, client: &WebhookClient) {
    loop {
        store.pause_background_work(POLL_INTERVAL).await;
        if let Err(error) = challenge_due(store, settings, client).await {
            tracing::warn!(%error, "failed to challenge webhooks; will retry");
        }
    }
}

/// Returns how many were due.
pub(super) async fn challenge_due(
    store: &Store,
    settings: &WebhookSettings,
    client: &WebhookClient,
) -> Result<usize, Error> {
    let limit = i64::try_from(MAX_CONCURRENT).unwrap_or(1);
    let due = store.read(move |tx| Ok(webhooks::list_due_checks(tx, limit)?)).await?;
    let count = due.len();
    let checks = due.into_iter().map(|webhook| challenge_webhook(store, settings, client, webhook));
    let ended: Vec<_> = stream::iter(checks).buffer_unordered(MAX_CONCURRENT).collect().await;
    ended.into_iter().collect::<Result<(), Error>>()?;
    Ok(count)
}

async fn challenge_webhook(
    store: &Store,
    settings: &WebhookSettings,
    client: &WebhookClient,
    webhook: Webhook,
) -> Result<(), Error> {
    let (id, app) = (webhook.id, webhook.app_id);
    let claim = move |tx: &mut Tx<'_>| {
        let app = apps::find_by_id(tx, app)?.filter(|app| app.state == AppStatus::Active);
        // The receiver is not to blame for the time in which the server was stopped, or the app suspended.
        let late_ms = tx.now().ms().saturating_sub(webhook.check_due_at.ms());
        let unchallenged_ms = match app {
            None => late_ms.saturating_add(RETRY_MS),
            Some(_) if late_ms >= RETRY_MS => late_ms,
            Some(_) => 0,
        };
        let webhook = Webhook { checked_at: webhook.checked_at.plus_ms(unchallenged_ms), ..webhook.clone() };
        let until = tx.now().plus_ms(RETRY_MS);
        if !webhooks::claim_check(tx, &webhook, until)? {
            return Ok(None); // another node was faster
        }
        Ok(app.map(|app| (webhook, app.api_secret)))
    };
    let Some((webhook, secret)) = store.write(claim).await? else {
        return Ok(());
    };
    let Ok(target) = TargetUrl::parse(&webhook.url, &settings.targets) else {
        let reason = "The URL is not one that may be sent to any more.";
        return store.write(move |tx| disable_webhook(tx, id, reason)).await;
    };
    let subject = ChallengeSubject { app, webhook: Some(id) };
    let context = store.context();
    let challenged = client.send_challenge(subject, &target, &secret, &context.rng, context.clock.now()).await?;
    let every = settings.challenge_interval;
    store.write(move |tx| apply_result(tx, &webhook, &challenged, every, false)).await
}

/// Applies the result of a challenge to the webhook.
pub(super) fn apply_result(
    tx: &mut Tx<'_>,
    webhook: &Webhook,
    challenged: &ChallengeResult,
    every: Duration,
    is_asked_for: bool,
) -> Result<(), Error> {
    challenged.record_attempt(tx, webhook.id)?;
    match &challenged.failure {
        None => record_success(tx, webhook, every, is_asked_for),
        Some(failure) => record_failure(tx, webhook, every, failure),
    }
}

/// Marks the webhook as valid, if it still is or its app requested the challenge. Waiting deliveries become due if it
/// had failed before or its app requested the challenge.
fn record_success(tx: &mut Tx<'_>, webhook: &Webhook, every: Duration, is_asked_for: bool) -> Result<(), Error> {
    let next = tx.now().plus_ms(duration_ms(every));
    webhooks::mark_checked(tx, webhook.id, next, is_asked_for)?;
    if is_asked_for || !webhook.valid || !webhook.problem.is_empty() {
        store::deliveries::make_pending_due(tx, webhook.id)?;
    }
    Ok(())
}

/// Disables the webhook, at once for permanent failures and otherwise after the limit.
fn record_failure(
    tx: &mut Tx<'_>,
    webhook: &Webhook,
    every: Duration,
    failure: &ChallengeFailure,
) -> Result<(), Error> {
    let now = tx.now();
    let silent = now.ms().saturating_sub(webhook.checked_at.ms());
    let limit = DISABLE_AFTER_MS.max(duration_ms(every).saturating_add(MIN_FAILING_MS));
    if failure.is_permanent || silent >= limit {
        return disable_webhook(tx, webhook.id, &failure.message);
    }
    let next = now.plus_ms(RETRY_MS);
    Ok(webhooks::mark_check_failed(tx, webhook.id, &failure.message, next)?)
}

fn duration_ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
