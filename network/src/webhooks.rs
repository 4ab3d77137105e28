//! Receivers of events: whose they are, and what follows when they go.

use base::refusal::No;
use base::{AppId, Fault, Refusal, Stop, Time};
use store::replays::{self, Replay};
use store::webhooks::{self, Webhook};
use store::{Tx, apps, deliveries, event_log};

/// Webhooks that are looked at together.
const PAGE: i64 = 500;
/// Behind everything.
const END: Time = Time::from_ms(i64::MAX);

use crate::{activity, repeating};

/// An app's webhook by its id; another app's is as unknown as none.
pub fn own(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<Webhook, Stop> {
    let found = webhooks::find_by_id(tx, id)?.filter(|webhook| webhook.app_id == app);
    found.ok_or_else(|| unknown(id).into())
}

/// No webhook of the app has this id.
pub fn unknown(id: i64) -> Refusal {
    let message = format!("WebhookIdInvalid: No webhook of this app has the id [{id}].");
    Refusal::worded(No::Missing, "webhook_id", id, message)
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
pub fn may_register(tx: &mut Tx<'_>, new: &NewWebhook) -> Result<(), Stop> {
    if webhooks::find_by_url(tx, new.app, &new.url)?.is_some() {
        return Err(duplicate(&new.url).into());
    }
    if webhooks::count(tx, new.app)? >= new.most {
        let most = new.most;
        let message = format!("WebhookLimitExceeded: This app may have at most {most} webhooks.");
        return Err(Refusal::worded(No::Wrong, "url", &new.url, message).into());
    }
    Ok(())
}

fn duplicate(url: &str) -> Refusal {
    let message = "DuplicateUrlFailed: This app has a webhook with this URL already.";
    Refusal::worded(No::Wrong, "url", url, message)
}

/// Registers a webhook that has answered a challenge.
pub fn register(tx: &mut Tx<'_>, new: &NewWebhook) -> Result<Webhook, Stop> {
    apps::lock(tx, new.app)?;
    may_register(tx, new)?;
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
        return Err(duplicate(&new.url).into());
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
pub fn span(now: Time, from: &str, to: &str) -> Result<(Time, Time), Refusal> {
    let begin = minute("from_date", from)?;
    let end = minute("to_date", to)?;
    let wrong = |name, value, why: &str| {
        let message = format!("QueryParamInvalid: `{name}` [{value}] {why}.");
        Refusal::worded(No::Wrong, name, value, message)
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

fn minute(name: &'static str, text: &str) -> Result<Time, Refusal> {
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let (year, month, day) = (part(0, 4), part(4, 6), part(6, 8));
    let (hour, minute) = (part(8, 10), part(10, 12));
    let is_minute = text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    let time = Time::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:00Z"));
    time.filter(|_| is_minute).ok_or_else(|| {
        let message = format!("QueryParamInvalid: `{name}` [{text}] is no minute (yyyymmddHHMM).");
        Refusal::worded(No::Wrong, name, text, message)
    })
}

/// Begins to send the events of a span to an app's webhook again.
pub fn replay(tx: &mut Tx<'_>, app: AppId, id: i64, span: (Time, Time)) -> Result<Replay, Stop> {
    let webhook = own(tx, app, id)?;
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
        return Err(Refusal::worded(No::Conflict, "webhook_id", id, message).into());
    }
    event_log::append(tx, "webhook.replay", app.get(), id, "")?;
    Ok(replay)
}

/// Sends one delivery again, whatever became of it; the job that it is sent by.
pub fn resend(tx: &mut Tx<'_>, id: i64, seq: i64) -> Result<i64, Stop> {
    let found = deliveries::find_by_seq(tx, seq)?.filter(|delivery| delivery.webhook_id == id);
    let found = found.ok_or_else(|| Refusal::not_valid("delivery", seq))?;
    let webhook = webhooks::find_by_id(tx, id)?.ok_or_else(|| unknown(id))?;
    if !repeating::may_repeat(tx, webhook.app_id, &found)? {
        let message = "What this delivery shows is deleted, or not for everyone any more";
        return Err(Refusal::invalid("delivery", seq, message).into());
    }
    let job: i64 = tx.next_id::<()>().get();
    deliveries::enqueue_retry(tx, seq, job, job.saturating_neg())?;
    Ok(job)
}

/// Removes an app's webhook with its links; nothing of it is sent any more.
pub fn delete(tx: &mut Tx<'_>, app: AppId, id: i64) -> Result<(), Stop> {
    let webhook = own(tx, app, id)?;
    remove(tx, &webhook)
}

/// Removes every webhook of an app.
pub(crate) fn delete_of_app(tx: &mut Tx<'_>, app: AppId) -> Result<(), Stop> {
    for webhook in webhooks::list_by_app(tx, app)? {
        remove(tx, &webhook)?;
    }
    Ok(())
}

fn remove(tx: &mut Tx<'_>, webhook: &Webhook) -> Result<(), Stop> {
    webhooks::delete(tx, webhook.id)?;
    activity::end_of_webhook(tx, webhook.id)?;
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
