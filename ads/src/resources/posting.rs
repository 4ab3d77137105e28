//! A post that is published at once, in the name of a user of the account (contract §4.11).

use base::refusal::{AdsProblem, ProblemLocation};
use base::{Error, Id, PostId, Refusal, UserId, VocabularyWord};
use network::posts::{NewPost, PostAuthor, create};
use serde_json::Value;
use view::StatusForm;

use crate::access::Who;
use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{Custom, Field, Verb};
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;
use crate::request::CONSOLE;
use crate::resources::account_posts::{self, ACCOUNT_POST, SETTINGS};
use crate::resources::compositions::{is_sound, media_keys, reply_settings, text};
use crate::resources::media_library;
use crate::resources::posts::{self, Seen, TRIM_USER};

/// It, alone.
pub static OPERATIONS: &[Custom] = &[Custom::change(
    "POST",
    "createAdsPost",
    "<post>",
    "Publishes a post in the name of a user of the account.",
    publish,
)
.who(Who::PostWriter)
.params(&[
    Field::new("as_user_id", Kind::Long).required(),
    text(),
    Field::text("card_uri", 1, 64),
    Field::one_of("conversation_settings", SETTINGS).or("EVERYONE"),
    media_keys(),
    Field::text("name", 1, 80),
    Field::new("nullcast", Kind::Bool).or_flag(true),
    TRIM_USER,
    Field::new("post_mode", Kind::OneOf(&["compat", "extended"])).older("tweet_mode"),
    Field::one_of("video_cta", &["VISIT_SITE", "WATCH_NOW"]),
    Field::url("video_cta_value"),
    Field::text("video_description", 1, 200),
    Field::text("video_title", 1, 70),
])];

/// What of it is put down as it was sent.
const SENT: &[&str] = &[
    "as_user_id",
    "text",
    "card_uri",
    "conversation_settings",
    "media_keys",
    "name",
    "nullcast",
    "video_cta",
    "video_cta_value",
];

fn publish(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    leads_somewhere(given)?;
    let mut record = Record::new(&ACCOUNT_POST, 0, desk.account_id()?, desk.now());
    let mut sent = Vec::new();
    for name in SENT.iter().copied() {
        if let Some(value) = given.get(name) {
            record.set(name, value.clone());
            sent.push(name);
        }
    }
    let mut change = Change {
        verb: Verb::Create,
        record,
        before: None,
        sent,
    };
    is_sound(desk, &mut change)?;
    let mut record = change.record;
    of_videos(desk, given, &mut record)?;
    let seen = if desk.account()?.record.flag("sandbox") {
        let id: PostId = desk.tx.next_id();
        account_posts::published(desk, &record, id)?;
        posts::of_ids(desk, "PUBLISHED", &[id.get()])?.pop()
    } else {
        let post = written(desk, &record)?;
        account_posts::published(desk, &record, post.id)?;
        let said = account_posts::of_post(desk, post.id.get())?;
        Some(Seen::published(post, said))
    };
    let form = StatusForm {
        extended: given.text("post_mode") == Some("extended"),
        trim_user: given.flag("trim_user"),
    };
    let shown = posts::show(desk, seen.into_iter().collect(), form)?;
    Ok(Answer::one(shown.get(0).unwrap_or(&Value::Null)))
}

/// What calls to something says where that is, and the other way round.
fn leads_somewhere(given: &Given) -> Result<(), AdsProblem> {
    for (one, other) in [
        ("video_cta", "video_cta_value"),
        ("video_cta_value", "video_cta"),
    ] {
        if given.has(one) && !given.has(other) {
            return Err(AdsProblem {
                location: ProblemLocation::Parameter(other.into()),
                ..AdsProblem::new("INCLUSIVE_PARAMETERS", format!("{one} needs {other}"))
            });
        }
    }
    Ok(())
}

/// What is said of a video stays with it in the library; what it calls to, with the post. Of
/// anything else nothing of that is said.
fn of_videos(desk: &mut Desk<'_, '_>, given: &Given, record: &mut Record) -> Result<(), Error> {
    let keys = record.texts("media_keys");
    let video = keys
        .first()
        .filter(|key| !key.starts_with("3_") && !key.starts_with("16_"));
    let Some(key) = video.map(|key| (*key).to_owned()) else {
        record.set("video_cta", Value::Null);
        record.set("video_cta_value", Value::Null);
        return Ok(());
    };
    let Some(mut media) = media_library::taken_in(desk, &key)? else {
        return Ok(());
    };
    let mut said = false;
    for (sent, name) in [
        ("video_title", "title"),
        ("video_description", "description"),
    ] {
        if let Some(value) = given.get(sent) {
            media.set(name, value.clone());
            said = true;
        }
    }
    if said {
        media.updated_at = desk.now();
        desk.keep(&media)?;
    }
    Ok(())
}

fn written(desk: &mut Desk<'_, '_>, record: &Record) -> Result<store::posts::Post, Error> {
    let author = PostAuthor {
        user_id: UserId::new(record.int("user_id").unwrap_or(0)),
        app_id: desk.caller.app.filter(|app| *app != CONSOLE),
        self_serve: false,
    };
    let keys = record.texts("media_keys");
    let keys = keys.iter().filter_map(|key| key.split_once('_'));
    let new = NewPost {
        text: record.text("text").to_owned(),
        media_ids: keys.filter_map(|(_, id)| Id::parse(id)).collect(),
        nullcast: record.flag("nullcast"),
        card_uri: record.text("card_uri").to_owned(),
        reply_settings: reply_settings(record.text("conversation_settings")).to_owned(),
        ..NewPost::default()
    };
    create(desk.tx, &author, &new).map_err(|stop| match stop {
        Error::Refused(Refusal::Forbidden {
            code: Some(187), ..
        }) => {
            let message = "The user has posted the same within the last day";
            let name = VocabularyWord::same_in_both("text").name_in(desk.caller.speech);
            AdsProblem {
                location: ProblemLocation::Parameter(name.into()),
                ..AdsProblem::new("DUPLICATE_TWEET", message)
            }
            .into()
        }
        other => other,
    })
}
