//! Webhooks: ownership, registration, replays and removal.

use base::refusal::RefusalKind;
use base::{AppId, Error, Fault, Refusal, Time};
use store::replays::{self, Replay};
use store::webhooks::{self, Webhook};
use store::{Tx, apps, deliveries, event_log};

/// Webhooks per query.
const PAGE: i64 = 500;
/// After every other time.
const END: Time = Time::from_ms(i64::MAX);

use crate::{activity, redelivery};

/// Webhooks of other apps are refused as not found.
pub fn find_owned(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<Webhook, Error> {
    let found = webhooks::find_by_id(tx, id)?.filter(|webhook| webhook.app_id == app);
    found.ok_or_else(|| webhook_not_found(id).into())
}

pub fn webhook_not_found(id: i64) -> Refusal {
    let message = format!("WebhookIdInvalid: No webhook of this app has the id [{id}].");
    Refusal::named_reason(RefusalKind::NotFound, "webhook_id", id, message)
}

#[derive(Clone, Debug)]
pub struct NewWebhook {
    pub app: AppId,
    pub url: String,
    /// The maximum number of webhooks of the app.
    pub most: i64,
    /// Milliseconds until the next challenge.
    pub check_after_ms: i64,
}

/// Whether an app may register a webhook; checked before and after the challenge.
pub fn check_registrable(tx: &mut Tx<'_>, new: &NewWebhook) -> Result<(), Error> {
    if webhooks::find_by_url(tx, new.app, &new.url)?.is_some() {
        return Err(duplicate_url(&new.url).into());
    }
    if webhooks::count(tx, new.app)? >= new.most {
        let most = new.most;
        let message = format!("WebhookLimitExceeded: This app may have at most {most} webhooks.");
        return Err(Refusal::named_reason(RefusalKind::Invalid, "url", &new.url, message).into());
    }
    Ok(())
}

fn duplicate_url(url: &str) -> Refusal {
    let message = "DuplicateUrlFailed: This app has a webhook with this URL already.";
    Refusal::named_reason(RefusalKind::Invalid, "url", url, message)
}

/// To be called after a successful challenge.
pub fn register(tx: &mut Tx<'_>, new: &NewWebhook) -> Result<Webhook, Error> {
    activity::lock_app(tx, new.app)?;
    check_registrable(tx, new)?;
    let now = tx.now();
    let webhook = Webhook {
        id: tx.next_id::<()>().get(),
        app_id: new.app,
        url: new.url.clone(),
        valid: true,
        created_at: now,
        checked_at: now,
        check_due_at: now.plus_ms(new.check_after_ms),
        failing_since: None,
        problem: String::new(),
        deleted_at: None,
    };
    if !webhooks::insert(tx, &webhook)? {
        return Err(duplicate_url(&new.url).into());
    }
    event_log::append(tx, "webhook.create", new.app.get(), webhook.id, "")?;
    Ok(webhook)
}

/// Minimum age of a replay's end, so that all of its events have been sent.
const END_AGE_MS: i64 = 10 * MINUTE_MS;
/// Minimum and maximum age of a replay's start.
const BEGIN_AGE_MS: (i64, i64) = (31 * MINUTE_MS, 24 * 60 * MINUTE_MS);
const MINUTE_MS: i64 = 60_000;

/// Parses the two minutes (`yyyymmddHHMM`) of a replay.
pub fn parse_replay_range(now: Time, from: &str, to: &str) -> Result<(Time, Time), Refusal> {
    let start = parse_minute("from_date", from)?;
    let end = parse_minute("to_date", to)?;
    let invalid_parameter = |name, value, why: &str| {
        let message = format!("QueryParamInvalid: `{name}` [{value}] {why}.");
        Refusal::named_reason(RefusalKind::Invalid, name, value, message)
    };
    let age = |time: Time| now.ms().saturating_sub(time.ms());
    // The oldest allowed minute has started earlier.
    if age(start) >= BEGIN_AGE_MS.1 + MINUTE_MS {
        return Err(invalid_parameter("from_date", from, "is more than 24 hours ago"));
    }
    if start >= end {
        return Err(invalid_parameter("from_date", from, "is not before `to_date`"));
    }
    if age(start) < BEGIN_AGE_MS.0 {
        return Err(invalid_parameter("from_date", from, "is less than 31 minutes ago"));
    }
    if age(end) < END_AGE_MS {
        return Err(invalid_parameter("to_date", to, "is less than 10 minutes ago"));
    }
    Ok((start, end))
}

fn parse_minute(name: &'static str, text: &str) -> Result<Time, Refusal> {
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let (year, month, day) = (part(0, 4), part(4, 6), part(6, 8));
    let (hour, minute) = (part(8, 10), part(10, 12));
    let is_minute = text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    let time = Time::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:00Z"));
    time.filter(|_| is_minute).ok_or_else(|| {
        let message = format!("QueryParamInvalid: `{name}` [{text}] is no minute (yyyymmddHHMM).");
        Refusal::named_reason(RefusalKind::Invalid, name, text, message)
    })
}

/// Starts a replay of the events in a period.
pub fn start_replay(tx: &mut Tx<'_>, app: AppId, id: i64, period: (Time, Time)) -> Result<Replay, Error> {
    let webhook = find_owned(tx, app, id)?;
    let replay = Replay {
        id: tx.next_id::<()>().get(),
        webhook_id: webhook.id,
        from_at: period.0,
        to_at: period.1,
        created_at: tx.now(),
        enqueued_to: (period.0, 0),
        state: replays::ReplayState::Enqueuing,
    };
    if !replays::insert(tx, &replay)? {
        let message = "ReplayConflictError: A replay to this webhook is under way.";
        return Err(Refusal::named_reason(RefusalKind::Conflict, "webhook_id", id, message).into());
    }
    event_log::append(tx, "webhook.replay", app.get(), id, "")?;
    Ok(replay)
}

/// Enqueues a copy of a delivery in whatever state; returns the job's id.
pub fn resend_delivery(tx: &mut Tx<'_>, id: i64, seq: i64) -> Result<i64, Error> {
    let found = deliveries::find_by_seq(tx, seq)?.filter(|delivery| delivery.webhook_id == id);
    let found = found.ok_or_else(|| Refusal::invalid_value("delivery", seq))?;
    let webhook = webhooks::find_by_id(tx, id)?.ok_or_else(|| webhook_not_found(id))?;
    if !redelivery::may_redeliver(tx, webhook.app_id, &found)? {
        let message = "What this delivery shows is deleted, or not for everyone any more";
        return Err(Refusal::invalid_parameter("delivery", seq, message).into());
    }
    let job: i64 = tx.next_id::<()>().get();
    deliveries::enqueue_retry(tx, seq, job, job.saturating_neg())?;
    Ok(job)
}

/// Links a webhook to the app's filtered stream, or replaces the fields of the link.
pub fn link_stream(tx: &mut Tx<'_>, app: AppId, id: i64, fields: &str) -> Result<(), Error> {
    activity::lock_app(tx, app)?;
    find_owned(tx, app, id)?;
    Ok(webhooks::link_stream(tx, id, app, fields)?)
}

/// Also removes its links and subscriptions.
pub fn delete(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<(), Error> {
    // What is linked or subscribed at the same time would stay.
    apps::lock(tx, app)?;
    let webhook = find_owned(tx, app, id)?;
    remove_webhook(tx, &webhook)
}

pub fn delete_app_webhooks(tx: &mut Tx<'_>, app: AppId) -> Result<(), Error> {
    for webhook in webhooks::list_by_app(tx, app)? {
        remove_webhook(tx, &webhook)?;
    }
    Ok(())
}

fn remove_webhook(tx: &mut Tx<'_>, webhook: &Webhook) -> Result<(), Error> {
    webhooks::delete(tx, webhook.id)?;
    activity::end_webhook_subscriptions(tx, webhook.id)?;
    Ok(event_log::append(tx, "webhook.delete", webhook.app_id.get(), webhook.id, "")?)
}

/// Deletes at most `limit` deliveries from before a time, and removed webhooks without deliveries. Waiting deliveries
/// of valid webhooks stay.
pub(crate) fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let (mut deleted, mut after) = (0, 0);
    loop {
        let page = webhooks::list_all(tx, after, PAGE)?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
        for webhook in page {
            let remaining = limit.saturating_sub(i64::try_from(deleted).unwrap_or(limit));
            if remaining <= 0 {
                return Ok(deleted);
            }
            let (id, removed) = (webhook.id, webhook.deleted_at.is_some());
            let before = if removed { END } else { before };
            let count = deliveries::prune(tx, id, before, !webhook.valid, remaining)?;
            deleted += count;
            if count == 0 && removed {
                replays::delete_by_webhook(tx, id)?;
                deleted += webhooks::delete_removed(tx, id)?;
            }
        }
    }
    deleted += deliveries::prune_attempts(tx, before, limit)?;
    Ok(deleted)
}
