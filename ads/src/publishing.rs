//! Publishes scheduled posts when they are due: the post, its promotion and the state change are one
//! transaction, so that each is published once (contract ads §8.4).

use ads_engine::{AccountContext, AdsRecord, RecordChange, ResourceVerb, history};
use base::refusal::AdsProblem;
use base::{AppId, Error, Fault, Id, PostId, Time, UserId};
use network::posts::{self, NewPost, PostAuthor};
use serde_json::Value;
use store::{Tx, records};

use crate::resources::account_posts;
use crate::resources::accounts::{self, ACCOUNT};
use crate::resources::promotable_users;
use crate::resources::scheduled_posts::SCHEDULED_POST;
use crate::resources::scheduled_promoted_posts;

/// Posts overdue by more than this, after downtime, are not published; those of a clock that was moved are.
const MAX_LATENESS_MS: i64 = 24 * 3600 * 1000;
/// Publishing attempts when an internal error occurs.
const MAX_ATTEMPTS: i64 = 3;
/// The delay before a retry, for each attempt so far.
const RETRY_DELAY_MS: i64 = 10_000;

/// The scheduled post that is due first.
pub fn due_scheduled_post(tx: &mut Tx<'_>) -> Result<Option<i64>, Fault> {
    let now = tx.now().ms();
    let rows = records::list_due(tx, SCHEDULED_POST.name, "due_at", now, 1)?;
    Ok(rows.first().map(|row| row.id))
}

/// When the next scheduled post is due that is not due yet.
pub fn next_scheduled_post(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let now = tx.now().ms();
    Ok(records::next_due(tx, SCHEDULED_POST.name, "due_at", now)?.map(Time::from_ms))
}

/// Publishes a due post. If the platform refuses it, the scheduled post fails.
pub fn publish_scheduled_post(tx: &mut Tx<'_>, id: i64) -> Result<(), Error> {
    let Some((account, mut record)) = claim_scheduled_post(tx, id)? else {
        return Ok(());
    };
    let user = UserId::new(record.int("user_id").unwrap_or(0));
    let mut ctx = AccountContext::new_for_operator(tx, user, account);
    let before = record.clone();
    match create_post(&mut ctx, &record, user) {
        Ok(post) => {
            record.set("post_id", post.get());
            finish_scheduled_post(&mut ctx, before, record, "SUCCESS")?;
            scheduled_promoted_posts::promote_published_post(&mut ctx, id, post)
        }
        Err(Error::Refused(why)) => {
            record.set("error", truncate_reason(&why.to_string()));
            finish_scheduled_post(&mut ctx, before, record, "FAILED")
        }
        Err(failed) => Err(failed),
    }
}

/// Reschedules a post after an internal error, or fails it after the last attempt.
pub fn retry_or_fail(tx: &mut Tx<'_>, id: i64, why: &str) -> Result<(), Error> {
    let Some((account, mut record)) = claim_scheduled_post(tx, id)? else {
        return Ok(());
    };
    let user = UserId::new(record.int("user_id").unwrap_or(0));
    let mut ctx = AccountContext::new_for_operator(tx, user, account);
    let before = record.clone();
    let attempts = record.int("attempts").unwrap_or(0).saturating_add(1);
    record.set("attempts", attempts);
    record.set("error", truncate_reason(why));
    if attempts >= MAX_ATTEMPTS {
        return finish_scheduled_post(&mut ctx, before, record, "FAILED");
    }
    let at = ctx.now().ms().saturating_add(RETRY_DELAY_MS.saturating_mul(attempts));
    record.set("due_at", at);
    ctx.save_record(&record)
}

/// Loads a scheduled post and its account after taking their locks.
fn claim_scheduled_post(tx: &mut Tx<'_>, id: i64) -> Result<Option<(AdsRecord, AdsRecord)>, Error> {
    let Some(row) = records::find_by_id(tx, SCHEDULED_POST.name, id)? else {
        return Ok(None);
    };
    records::lock(tx, ACCOUNT.name, row.account_id)?;
    let account = accounts::find(tx, row.account_id)?;
    let record = AdsRecord::find(tx, &SCHEDULED_POST, id)?;
    let now = tx.now().ms();
    let record = record.filter(|record| record.int("due_at").is_some_and(|at| at <= now));
    Ok(account.zip(record))
}

fn create_post(ctx: &mut AccountContext<'_, '_>, record: &AdsRecord, user: UserId) -> Result<PostId, Error> {
    let no = |why: &str| Error::from(AdsProblem::new("GENERIC_TWEET_ERROR", why));
    let at = record.int("scheduled_at").unwrap_or(0);
    if ctx.tx.has_live_clock() && ctx.now().ms().saturating_sub(at) > MAX_LATENESS_MS {
        return Err(no("It was due while the server was not publishing"));
    }
    let account = &ctx.account()?.record;
    let (gone, sandbox) = (account.deleted, account.flag("sandbox"));
    if gone {
        return Err(no("The account was deleted"));
    }
    if promotable_users::find_by_user(ctx, user)?.is_none() {
        return Err(no("The user is no longer a promotable user of the account"));
    }
    if sandbox {
        // Sandbox posts are shown to nobody.
        let post = ctx.tx.next_id();
        account_posts::record_published_post(ctx, record, post)?;
        return Ok(post);
    }
    let author = PostAuthor { user_id: user, app_id: record.int("app_id").map(AppId::new), self_serve: false };
    let keys = record.texts("media_keys");
    let keys = keys.iter().filter_map(|key| key.split_once('_'));
    let new = NewPost {
        text: record.text("text").to_owned(),
        media_ids: keys.filter_map(|(_, id)| Id::parse(id)).collect(),
        nullcast: record.flag("nullcast"),
        card_uri: record.text("card_uri").to_owned(),
        ..NewPost::default()
    };
    let post = posts::create(ctx.tx, &author, &new)?.id;
    account_posts::record_published_post(ctx, record, post)?;
    Ok(post)
}

fn finish_scheduled_post(
    ctx: &mut AccountContext<'_, '_>,
    before: AdsRecord,
    mut record: AdsRecord,
    state: &'static str,
) -> Result<(), Error> {
    let now = ctx.now();
    record.set("scheduled_status", state);
    record.set("completed_at", now.ms());
    record.set("due_at", Value::Null);
    record.updated_at = now;
    ctx.save_record(&record)?;
    let change = RecordChange { verb: ResourceVerb::Update, record, before: Some(before), sent_fields: Vec::new() };
    history::record_history(ctx, &change)
}

fn truncate_reason(text: &str) -> String {
    text.chars().take(500).collect()
}
