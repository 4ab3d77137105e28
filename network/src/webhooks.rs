//! Receivers of events: whose they are, and what follows when they go.

use base::refusal::RefusalKind;
use base::{AppId, Error, Fault, Refusal, Time};
use store::replays::{self, Replay};
use store::webhooks::{self, Webhook};
use store::{Tx, apps, deliveries, event_log};

/// Webhooks that are looked at together.
const PAGE: i64 = 500;
/// Behind everything.
const END: Time = Time::from_ms(i64::MAX);

use crate::{activity, redelivery};

/// An app's webhook by its id; another app's is as unknown as none.
pub fn find_owned(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<Webhook, Error> {
    let found = webhooks::find_by_id(tx, id)?.filter(|webhook| webhook.app_id == app);
    found.ok_or_else(|| webhook_not_found(id).into())
}

/// No webhook of the app has this id.
pub fn webhook_not_found(id: i64) -> Refusal {
    let message = format!("WebhookIdInvalid: No webhook of this app has the id [{id}].");
    Refusal::named_reason(RefusalKind::NotFound, "webhook_id", id, message)
}

/// A webhook that an app wants to register.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    /// Whose it is.
    pub app: AppId,
    /// Where it is.
    pub url: String,
    /// How many the app may have.
    pub most: i64,
    /// How long it may go without another challenge, in milliseconds.
    pub check_after_ms: i64,
}

/// Whether an app may register a webhook: asked before its receiver is challenged, and again
/// after.
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

/// Registers a webhook that has answered a challenge.
pub fn register(tx: &mut Tx<'_>, new: &NewWebhook) -> Result<Webhook, Error> {
    apps::lock(tx, new.app)?;
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

/// How old the end of a replay's span is at least, so that all of it is on its way or through.
const END_AGE_MS: i64 = 10 * MINUTE_MS;
/// How old its begin is, at least and at most.
const BEGIN_AGE_MS: (i64, i64) = (31 * MINUTE_MS, 24 * 60 * MINUTE_MS);
const MINUTE_MS: i64 = 60_000;

/// The span of a replay, from its two minutes (`yyyymmddHHMM`).
pub fn parse_replay_range(now: Time, from: &str, to: &str) -> Result<(Time, Time), Refusal> {
    let begin = parse_minute("from_date", from)?;
    let end = parse_minute("to_date", to)?;
    let wrong = |name, value, why: &str| {
        let message = format!("QueryParamInvalid: `{name}` [{value}] {why}.");
        Refusal::named_reason(RefusalKind::Invalid, name, value, message)
    };
    let age = |time: Time| now.ms().saturating_sub(time.ms());
    // The oldest minute that is allowed has begun before.
    if age(begin) >= BEGIN_AGE_MS.1 + MINUTE_MS {
        return Err(wrong("from_date", from, "is more than 24 hours ago"));
    }
    if begin >= end {
        return Err(wrong("from_date", from, "is not before `to_date`"));
    }
    if age(begin) < BEGIN_AGE_MS.0 {
        return Err(wrong("from_date", from, "is less than 31 minutes ago"));
    }
    if age(end) < END_AGE_MS {
        return Err(wrong("to_date", to, "is less than 10 minutes ago"));
    }
    Ok((begin, end))
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

/// Begins to send the events of a span to an app's webhook again.
pub fn start_replay(tx: &mut Tx<'_>, app: AppId, id: i64, span: (Time, Time)) -> Result<Replay, Error> {
    let webhook = find_owned(tx, app, id)?;
    let replay = Replay {
        id: tx.next_id::<()>().get(),
        webhook_id: webhook.id,
        from_at: span.0,
        to_at: span.1,
        created_at: tx.now(),
        enqueued_to: (span.0, 0),
        state: replays::ReplayState::Enqueuing,
    };
    if !replays::insert(tx, &replay)? {
        let message = "ReplayConflictError: A replay to this webhook is under way.";
        return Err(Refusal::named_reason(RefusalKind::Conflict, "webhook_id", id, message).into());
    }
    event_log::append(tx, "webhook.replay", app.get(), id, "")?;
    Ok(replay)
}

/// Sends one delivery again, whatever became of it; the job that it is sent by.
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

/// Removes an app's webhook with its links; nothing of it is sent any more.
pub fn delete(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<(), Error> {
    let webhook = find_owned(tx, app, id)?;
    remove_webhook(tx, &webhook)
}

/// Removes every webhook of an app.
pub(crate) fn delete_app_webhooks(tx: &mut Tx<'_>, app: AppId) -> Result<(), Error> {
    for webhook in webhooks::list_by_app(tx, app)? {
        remove_webhook(tx, &webhook)?;
    }
    Ok(())
}

fn remove_webhook(tx: &mut Tx<'_>, webhook: &Webhook) -> Result<(), Error> {
    webhooks::delete(tx, webhook.id)?;
    activity::end_webhook_subscriptions(tx, webhook.id)?;
    Ok(event_log::append(
        tx,
        "webhook.delete",
        webhook.app_id.get(),
        webhook.id,
        "",
    )?)
}

/// Forgets at most `limit` deliveries that happened before a moment, and what is left of webhooks
/// that were removed. What waits stays, unless its webhook gets nothing.
pub(crate) fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let (mut gone, mut after) = (0, 0);
    loop {
        let page = webhooks::list_all(tx, after, PAGE)?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
        for webhook in page {
            let left = limit.saturating_sub(i64::try_from(gone).unwrap_or(limit));
            if left <= 0 {
                return Ok(gone);
            }
            let (id, removed) = (webhook.id, webhook.deleted_at.is_some());
            let before = if removed { END } else { before };
            let some = deliveries::prune(tx, id, before, !webhook.valid, left)?;
            gone += some;
            if some == 0 && removed {
                replays::delete_by_webhook(tx, id)?;
                gone += webhooks::delete_removed(tx, id)?;
            }
        }
    }
    gone += deliveries::prune_attempts(tx, before, limit)?;
    Ok(gone)
}
