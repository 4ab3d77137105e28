//! What an account stores about its published posts: name and scheduled time. In the sandbox, the whole post
//! (contract ads §4.11, §8.4).

use ads_engine::{AccountContext, AdsRecord, DeleteMode, FieldSpec, IdFormat, Kind, MediaKeyText, Resource};
use base::{Error, PostId, VocabularyWord};
use serde_json::Value;
use store::records;

use crate::resources::promotable_users;

/// In the sandbox the id is the post's id.
pub static ACCOUNT_POST: Resource = Resource {
    name: "account_post",
    id: VocabularyWord::new("post_id", "tweet_id"),
    id_format: IdFormat::Long,
    path: "<posts>",
    label: "post",
    not_found: "TWEET_NOT_FOUND",
    fields: &[
        FieldSpec::text("name", 1, 80),
        FieldSpec::new("post_id", Kind::LONG).legacy_name("tweet_id").set_by_server(),
        FieldSpec::new("user_id", Kind::ID).set_by_server(),
        FieldSpec::new("scheduled_at", Kind::TIME).set_by_server(),
        // The following fields are set in the sandbox only; elsewhere the platform has them.
        FieldSpec::text("text", 0, 100_000).set_by_server(),
        FieldSpec::new("nullcast", Kind::BOOL).set_by_server(),
        FieldSpec::text("card_uri", 1, 64).set_by_server(),
        FieldSpec::new("media_keys", Kind::custom(&MediaKeyText).list(1, 4)).set_by_server(),
        FieldSpec::one_of("conversation_settings", CONVERSATION_SETTINGS).set_by_server(),
        FieldSpec::new("repost_of_id", Kind::LONG).set_by_server(),
        FieldSpec::new("as_user_id", Kind::LONG).set_by_server().hidden(),
        // The call to action of a video.
        FieldSpec::one_of("video_cta", &["VISIT_SITE", "WATCH_NOW"]).set_by_server(),
        FieldSpec::url("video_cta_value").set_by_server(),
        FieldSpec::new("app_id", Kind::LONG).set_by_server().hidden(),
    ],
    verbs: &[],
    delete_mode: DeleteMode::Hard,
    ..Resource::DEFAULT
};

/// Who may reply to a post.
pub const CONVERSATION_SETTINGS: &[&str] = &["EVERYONE", "FOLLOWING", "MENTIONED_USERS"];

pub fn find_sandbox_post(ctx: &mut AccountContext<'_, '_>, post: i64) -> Result<Option<AdsRecord>, Error> {
    if !ctx.account()?.record.flag("sandbox") {
        return Ok(None);
    }
    let account = ctx.account_id()?;
    let found = ctx.find_record(&ACCOUNT_POST, post)?;
    Ok(found.filter(|one| one.account_id == account && !one.deleted))
}

/// The account's record of a post, if there is one.
pub fn find_by_post(ctx: &mut AccountContext<'_, '_>, post: i64) -> Result<Option<AdsRecord>, Error> {
    Ok(ctx.list_visible_records(&ACCOUNT_POST, "post_id", post)?.into_iter().next())
}

/// Like [`find_by_post`], for several posts in no particular order.
pub fn find_by_posts(ctx: &mut AccountContext<'_, '_>, posts: &[i64]) -> Result<Vec<AdsRecord>, Error> {
    let account = ctx.account_id()?;
    let rows = records::list_by_field_values(ctx.tx, ACCOUNT_POST.name, account, "post_id", posts)?;
    Ok(AdsRecord::from_rows(&ACCOUNT_POST, rows)?)
}

pub fn new_record(ctx: &AccountContext<'_, '_>, post: i64, user: i64) -> Result<AdsRecord, Error> {
    let account = &ctx.account()?.record;
    let id = if account.flag("sandbox") { post } else { ctx.tx.next_id::<()>().get() };
    let mut record = AdsRecord::new(&ACCOUNT_POST, id, account.id, ctx.now());
    record.set("post_id", post);
    record.set("user_id", user);
    Ok(record)
}

pub fn insert(ctx: &mut AccountContext<'_, '_>, record: &AdsRecord) -> Result<(), Error> {
    record.insert(ctx.tx)?;
    Ok(())
}

/// Stores a published composition: completely in the sandbox, elsewhere only what the platform does not store.
pub fn record_published_post(
    ctx: &mut AccountContext<'_, '_>,
    composition: &AdsRecord,
    post: PostId,
) -> Result<(), Error> {
    let is_sandbox = ctx.account()?.record.flag("sandbox");
    let scheduled = composition.resource.field("scheduled_at").and_then(|_| composition.int("scheduled_at"));
    let settings = composition.resource.field("conversation_settings");
    let settings = settings.and_then(|_| composition.get("conversation_settings")).cloned();
    let calls = ["video_cta", "video_cta_value"];
    let calls = calls.map(|name| {
        let call = composition.resource.field(name).and_then(|_| composition.get(name));
        (name, call.cloned().unwrap_or_default())
    });
    let silent = calls.iter().all(|(_, call)| call.is_null());
    if !is_sandbox && silent && composition.get("name").is_none() && scheduled.is_none() {
        return Ok(());
    }
    let user = composition.int("user_id").unwrap_or(0);
    let mut record = new_record(ctx, post.get(), user)?;
    record.set("name", composition.get("name").cloned().unwrap_or_default());
    record.set("scheduled_at", scheduled);
    for (name, call) in calls {
        record.set(name, call);
    }
    if is_sandbox {
        for name in ["text", "nullcast", "card_uri", "media_keys"] {
            record.set(name, composition.get(name).cloned().unwrap_or_default());
        }
        record.set("conversation_settings", settings.unwrap_or_default());
        let app = ctx.caller.app.map(base::AppId::get);
        record.set("app_id", app.map_or(Value::Null, Value::from));
    }
    insert(ctx, &record)
}

/// The sandbox record of a repost by the account's own user. There is at most one for a post.
pub fn find_or_create_sandbox_repost(ctx: &mut AccountContext<'_, '_>, original: PostId) -> Result<i64, Error> {
    let known = ctx.list_visible_records(&ACCOUNT_POST, "repost_of_id", original.get())?;
    if let Some(known) = known.first() {
        return Ok(known.id);
    }
    let full = promotable_users::find_own_user(ctx)?.unwrap_or(ctx.caller.user);
    let post = ctx.tx.next_id::<()>().get();
    let mut record = new_record(ctx, post, full.get())?;
    record.set("nullcast", 1);
    record.set("repost_of_id", original.get());
    insert(ctx, &record)?;
    Ok(post)
}
