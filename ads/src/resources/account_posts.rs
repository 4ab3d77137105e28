//! What an account knows of its published posts beside the platform: their names, and when they
//! were to be published. In the sandbox it is all there is of them (contract §4.11, §8.4).

use base::{Error, PostId, VocabularyWord};
use serde_json::Value;
use store::records;

use crate::declare::{Delete, Field, Resource};
use crate::desk::Desk;
use crate::kind::{Ids, Kind};
use crate::record::Record;
use crate::resources::promotable_users;

/// A published post, as its account knows it. In the sandbox its id is the post's.
pub static ACCOUNT_POST: Resource = Resource {
    name: "account_post",
    id: VocabularyWord::new("post_id", "tweet_id"),
    ids: Ids::Long,
    path: "<posts>",
    about: "post",
    not_found: "TWEET_NOT_FOUND",
    fields: &[
        Field::text("name", 1, 80),
        Field::new("post_id", Kind::Long).older("tweet_id").kept(),
        Field::new("user_id", Kind::User).kept(),
        Field::new("scheduled_at", Kind::Time).kept(),
        // What follows is there in the sandbox only: elsewhere the platform knows it.
        Field::text("text", 0, 100_000).kept(),
        Field::new("nullcast", Kind::Bool).kept(),
        Field::text("card_uri", 1, 64).kept(),
        Field::new("media_keys", Kind::MediaKeys(4)).kept(),
        Field::one_of("conversation_settings", SETTINGS).kept(),
        Field::new("repost_of_id", Kind::Long).kept(),
        Field::new("as_user_id", Kind::Long).kept().hidden(),
        // What a video calls to.
        Field::one_of("video_cta", &["VISIT_SITE", "WATCH_NOW"]).kept(),
        Field::url("video_cta_value").kept(),
        Field::new("app_id", Kind::Long).kept().hidden(),
    ],
    verbs: &[],
    delete: Delete::Hard,
    ..Resource::DEFAULT
};

/// Who may answer a post.
pub const SETTINGS: &[&str] = &["EVERYONE", "FOLLOWING", "MENTIONED_USERS"];

/// A post that exists in the sandbox of the account only.
pub fn tried(desk: &mut Desk<'_, '_>, post: i64) -> Result<Option<Record>, Error> {
    if !desk.account()?.record.flag("sandbox") {
        return Ok(None);
    }
    let account = desk.account_id()?;
    let found = desk.find(&ACCOUNT_POST, post)?;
    Ok(found.filter(|one| one.account_id == account && !one.deleted))
}

/// What the account knows of a post; none where that is nothing.
pub fn of_post(desk: &mut Desk<'_, '_>, post: i64) -> Result<Option<Record>, Error> {
    Ok(desk
        .shown(&ACCOUNT_POST, "post_id", post)?
        .into_iter()
        .next())
}

/// The same of several, in no order.
pub fn of_posts(desk: &mut Desk<'_, '_>, posts: &[i64]) -> Result<Vec<Record>, Error> {
    let account = desk.account_id()?;
    let rows =
        records::list_by_field_values(desk.tx, ACCOUNT_POST.name, account, "post_id", posts)?;
    let all: Result<Vec<Record>, _> = rows
        .iter()
        .map(|row| Record::stored(&ACCOUNT_POST, row))
        .collect();
    Ok(all?)
}

/// Something about a post that is written down anew.
pub fn blank(desk: &Desk<'_, '_>, post: i64, user: i64) -> Result<Record, Error> {
    let account = &desk.account()?.record;
    let id = if account.flag("sandbox") {
        post
    } else {
        desk.tx.next_id::<()>().get()
    };
    let mut record = Record::new(&ACCOUNT_POST, id, account.id, desk.now());
    record.set("post_id", post);
    record.set("user_id", user);
    Ok(record)
}

/// Writes it down.
pub fn add(desk: &mut Desk<'_, '_>, record: &Record) -> Result<(), Error> {
    records::insert(desk.tx, ACCOUNT_POST.name, &record.to_store())?;
    Ok(())
}

/// Puts down a post that was written as a composition says: all of it in the sandbox, elsewhere
/// what the platform does not know.
pub fn published(desk: &mut Desk<'_, '_>, of: &Record, post: PostId) -> Result<(), Error> {
    let tried = desk.account()?.record.flag("sandbox");
    let scheduled = of
        .of
        .field("scheduled_at")
        .and_then(|_| of.int("scheduled_at"));
    let settings = of.of.field("conversation_settings");
    let settings = settings
        .and_then(|_| of.get("conversation_settings"))
        .cloned();
    let calls = ["video_cta", "video_cta_value"];
    let calls = calls.map(|name| {
        let call = of.of.field(name).and_then(|_| of.get(name));
        (name, call.cloned().unwrap_or_default())
    });
    let silent = calls.iter().all(|(_, call)| call.is_null());
    if !tried && silent && of.get("name").is_none() && scheduled.is_none() {
        return Ok(());
    }
    let user = of.int("user_id").unwrap_or(0);
    let mut record = blank(desk, post.get(), user)?;
    record.set("name", of.get("name").cloned().unwrap_or_default());
    record.set("scheduled_at", scheduled);
    for (name, call) in calls {
        record.set(name, call);
    }
    if tried {
        for name in ["text", "nullcast", "card_uri", "media_keys"] {
            record.set(name, of.get(name).cloned().unwrap_or_default());
        }
        record.set("conversation_settings", settings.unwrap_or_default());
        let app = desk.caller.app.map(base::AppId::get);
        record.set("app_id", app.map_or(Value::Null, Value::from));
    }
    add(desk, &record)
}

/// The repost by the account's own user of somebody's post, as the sandbox has it: in its records
/// and on no platform. There is one.
pub fn reposted(desk: &mut Desk<'_, '_>, of: PostId) -> Result<i64, Error> {
    let known = desk.shown(&ACCOUNT_POST, "repost_of_id", of.get())?;
    if let Some(known) = known.first() {
        return Ok(known.id);
    }
    let full = promotable_users::full(desk)?.unwrap_or(desk.caller.user);
    let post = desk.tx.next_id::<()>().get();
    let mut record = blank(desk, post, full.get())?;
    record.set("nullcast", 1);
    record.set("repost_of_id", of.get());
    add(desk, &record)?;
    Ok(post)
}
