//! Scheduled posts: published when their time has come (contract §8.4).

use base::refusal::AdsProblem;
use base::{AppId, Error, Time, VocabularyWord};
use serde_json::Value;
use store::records;

use crate::access::Who;
use crate::change::Change;
use crate::declare::{Custom, Delete, Field, Filter, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::kind::{Ids, Kind, instant};
use crate::record::Record;
use crate::request::CONSOLE;
use crate::resources::compositions::{self, LIST, is_sound, media_keys, text};
use crate::resources::scheduled_promoted_posts::SCHEDULED_PROMOTED_POST;

/// A post that is published later.
pub static SCHEDULED_POST: Resource = Resource {
    name: "scheduled_post",
    id: VocabularyWord::new("scheduled_post_id", "scheduled_tweet_id"),
    ids: Ids::Long,
    path: "scheduled_<posts>",
    about: "scheduled post",
    fields: &[
        Field::text("name", 1, 80),
        text(),
        Field::new("user_id", Kind::User).kept(),
        Field::new("as_user_id", Kind::Long)
            .required()
            .fixed()
            .hidden(),
        Field::new("nullcast", Kind::Bool).or_flag(true),
        Field::text("card_uri", 1, 64),
        media_keys(),
        Field::new("scheduled_at", Kind::Time).required(),
        Field::one_of("scheduled_status", STATES)
            .kept()
            .or("SCHEDULED"),
        Field::new("completed_at", Kind::Time).kept(),
        Field::new("post_id", Kind::Long).older("tweet_id").kept(),
        // What the publisher goes by: when it looks at it, as long as it is to be published.
        Field::new("due_at", Kind::Time).kept().hidden(),
        Field::new("attempts", Kind::Int(0, 100)).kept().hidden(),
        Field::new("app_id", Kind::Long).kept().hidden(),
        Field::text("error", 0, 500).kept().hidden(),
    ],
    filters: &[Filter::new("user_id", "user_id", Kind::User)],
    count: (100, 200),
    extras: false,
    verbs: &[Verb::Get, Verb::Create, Verb::Update, Verb::Delete],
    reads: Who::CreativeReader,
    writes: Who::PostWriter,
    rules: &[
        Rule::Within(is_open),
        Rule::Within(is_sound),
        Rule::Within(is_due_in_time),
    ],
    delete: Delete::Hard,
    shows_deleted: false,
    after: Some(after),
    ..Resource::DEFAULT
};

const STATES: &[&str] = &["SCHEDULED", "SUCCESS", "FAILED", "DELETED"];

/// The list of them, which is of one user.
pub static OPERATIONS: &[Custom] = &[Custom::get(
    "getAdsScheduledPosts",
    "scheduled_<posts>",
    "A page of scheduled posts of a user.",
    |desk: &mut Desk<'_, '_>, given| compositions::list(desk, &SCHEDULED_POST, given),
)
.who(Who::CreativeReader)
.params(LIST)];

const MINUTE: i64 = 60 * 1000;
/// How far ahead a post is scheduled at most.
const AHEAD: i64 = 365 * 24 * 60 * MINUTE;
/// Posts of a user within a quarter of an hour.
const TOGETHER: usize = 30;
/// Minutes of that before and after a post.
const AROUND: i64 = 7;

/// What was published, or was not, stays as it is.
fn is_open(_: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let before = change.before.as_ref();
    if before.is_some_and(|before| before.text("scheduled_status") != "SCHEDULED") {
        let message = "The post is not scheduled any longer";
        return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
    }
    if change.verb == Verb::Delete {
        change.record.set("scheduled_status", "DELETED");
    }
    Ok(())
}

fn is_due_in_time(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return Ok(());
    }
    if change.is_new() {
        let app = desk.caller.app.filter(|app| *app != CONSOLE);
        let app = app.map(AppId::get);
        change
            .record
            .set("app_id", app.map_or(Value::Null, Value::from));
    }
    if !change.changes("scheduled_at") {
        return Ok(());
    }
    let asked = change.record.int("scheduled_at").unwrap_or(0);
    let at = asked - asked.rem_euclid(MINUTE);
    let now = desk.now().ms();
    let wrong = |message: &str| {
        let written = instant(Time::from_ms(asked));
        AdsProblem::invalid_parameter("scheduled_at", written, message)
    };
    if at <= now {
        return Err(wrong("scheduled_at must be in the future").into());
    }
    if at > now.saturating_add(AHEAD) {
        return Err(wrong("scheduled_at must be within one year").into());
    }
    if is_crowded(desk, &change.record, at)? {
        let message = "No more than 30 posts of a user may be scheduled within 15 minutes";
        return Err(wrong(message)
            .with_code("SCHEDULED_TWEET_LIMIT_EXCEEDED")
            .into());
    }
    change.record.set("scheduled_at", at);
    change.record.set("due_at", at);
    Ok(())
}

/// Whether as many posts as may be are scheduled around a minute.
fn is_crowded(desk: &mut Desk<'_, '_>, record: &Record, at: i64) -> Result<bool, Error> {
    let mut count = 0;
    for minute in -AROUND..=AROUND {
        let there = desk.shown(
            &SCHEDULED_POST,
            "due_at",
            at.saturating_add(minute * MINUTE),
        )?;
        let others = there
            .iter()
            .filter(|other| other.id != record.id && other.get("user_id") == record.get("user_id"));
        count += others.count();
    }
    Ok(count >= TOGETHER)
}

/// What a deleted post was to be promoted by goes with it.
fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        let account = desk.account_id()?;
        let of = ("scheduled_post_id", change.record.id);
        records::hide_by_field(desk.tx, SCHEDULED_PROMOTED_POST.name, account, of)?;
    }
    Ok(())
}
