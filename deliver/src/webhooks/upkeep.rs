//! Receivers are challenged from time to time, whether or not anything is sent to them.

use std::time::Duration;

use base::Error;
use futures_util::StreamExt;
use futures_util::stream;
use store::apps::{self, AppStatus};
use store::webhooks::{self, Webhook};
use store::{Store, Tx};

use super::challenge::{Challenged, Failure};
use super::record::disable;
use super::{Courier, Place, Settings};

/// How often it is looked whom to challenge.
const LOOK: Duration = Duration::from_secs(1);
/// Challenged at once.
const AT_ONCE: usize = 32;
/// How soon one is challenged again that did not answer.
const AGAIN_MS: i64 = 30 * 60 * 1000;
/// How long one may go without answering, after which it gets nothing any more.
const PATIENCE_MS: i64 = 28 * 60 * 60 * 1000;

/// Challenges receivers for ever.
pub(super) async fn run(store: &Store, settings: &Settings, courier: &Courier) {
    loop {
        tokio::time::sleep(LOOK).await;
        if let Err(stop) = round(store, settings, courier).await {
            tracing::warn!(?stop, "webhooks were not challenged; it is tried again");
        }
    }
}

async fn round(store: &Store, settings: &Settings, courier: &Courier) -> Result<(), Error> {
    let most = i64::try_from(AT_ONCE).unwrap_or(1);
    let due = store
        .read(move |tx| Ok(webhooks::list_due_checks(tx, most)?))
        .await?;
    let checks = due
        .into_iter()
        .map(|webhook| check(store, settings, courier, webhook));
    let ended: Vec<_> = stream::iter(checks)
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    ended.into_iter().collect()
}

async fn check(
    store: &Store,
    settings: &Settings,
    courier: &Courier,
    webhook: Webhook,
) -> Result<(), Error> {
    let (id, app) = (webhook.id, webhook.app_id);
    let claim = move |tx: &mut Tx<'_>| {
        let until = tx.now().plus_ms(AGAIN_MS);
        if !webhooks::claim_check(tx, &webhook, until)? {
            return Ok(None); // another node was faster
        }
        let app = apps::find_by_id(tx, app)?.filter(|app| app.state == AppStatus::Active);
        Ok(app.map(|app| (webhook.clone(), app.api_secret)))
    };
    let Some((webhook, secret)) = store.write(claim).await? else {
        return Ok(());
    };
    let Ok(place) = Place::read(&webhook.url, &settings.targets) else {
        let why = "The URL is not one that may be sent to any more.";
        return store.write(move |tx| disable(tx, id, why)).await;
    };
    let context = store.context();
    let challenged = courier
        .challenge(&place, &secret, &context.rng, context.clock.now())
        .await?;
    let every = settings.check_every;
    store
        .write(move |tx| settle(tx, &webhook, &challenged, every, false))
        .await
}

/// What follows from a challenge.
pub(super) fn settle(
    tx: &mut Tx<'_>,
    webhook: &Webhook,
    challenged: &Challenged,
    every: Duration,
    is_asked_for: bool,
) -> Result<(), Error> {
    challenged.note(tx, webhook.id)?;
    match &challenged.failure {
        None => answered(tx, webhook, every, is_asked_for),
        Some(failure) => failed(tx, webhook, failure),
    }
}

/// A receiver answered rightly. One that did not the last time gets everything that waits, and so
/// does one whose app says by the challenge that it is there.
fn answered(
    tx: &mut Tx<'_>,
    webhook: &Webhook,
    every: Duration,
    is_asked_for: bool,
) -> Result<(), Error> {
    let next = tx.now().plus_ms(ms(every));
    webhooks::mark_checked(tx, webhook.id, next)?;
    if is_asked_for || !webhook.valid || !webhook.problem.is_empty() {
        store::deliveries::make_pending_due(tx, webhook.id)?;
    }
    Ok(())
}

/// A receiver did not: at once, or after a day and some hours, it gets nothing any more.
fn failed(tx: &mut Tx<'_>, webhook: &Webhook, failure: &Failure) -> Result<(), Error> {
    let now = tx.now();
    let silent = now.ms().saturating_sub(webhook.checked_at.ms());
    if failure.for_good || silent >= PATIENCE_MS {
        return disable(tx, webhook.id, &failure.message);
    }
    let next = now.plus_ms(AGAIN_MS);
    Ok(webhooks::mark_check_failed(
        tx,
        webhook.id,
        &failure.message,
        next,
    )?)
}

fn ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
