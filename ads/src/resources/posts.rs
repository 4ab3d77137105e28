//! Posts of the account in the form of the older interface: drafts, scheduled and published ones
//! (contract §4.11).

use std::collections::HashMap;

use base::refusal::AdsProblem;
use base::{Error, PostId, UserId};
use network::visibility::Viewer;
use serde_json::{Map, Value, json};
use store::posts::{self, Post, PostState};
use store::records::{self, OrderValue};
use view::StatusForm;

use crate::access::Who;
use crate::answer::Answer;
use crate::cursor;
use crate::declare::{COUNT, CURSOR, Custom, Field, Need, Resource};
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::{Kind, instant};
use crate::listing;
use crate::preview::{self, Preview};
use crate::record::Record;
use crate::resources::account_posts::{self, ACCOUNT_POST};
use crate::resources::compositions;
use crate::resources::draft_posts::DRAFT_POST;
use crate::resources::promotable_users;
use crate::resources::scheduled_posts::SCHEDULED_POST;

/// In which state a post is.
pub const TYPES: &[&str] = &["DRAFT", "PUBLISHED", "SCHEDULED"];

const POST_TYPE: Field = Field::one_of("post_type", TYPES)
    .older("tweet_type")
    .required();
const POST_IDS: Field = Field::new("post_ids", Kind::Longs(200)).older("tweet_ids");
/// Whether of an author only the id is shown.
pub const TRIM_USER: Field = Field::new("trim_user", Kind::Bool).or_flag(false);

/// What can be asked of them.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsPosts",
        "<posts>",
        "A page of posts of a user of the account, newest first.",
        list,
    )
    .who(Who::CreativeReader)
    .params(&[
        POST_TYPE,
        COUNT,
        CURSOR,
        Field::new("include_mentions_and_replies", Kind::Bool).or_flag(false),
        Field::text("name", 1, 80),
        Field::one_of("timeline_type", &["ALL", "NULLCAST", "ORGANIC"]).or("NULLCAST"),
        TRIM_USER,
        POST_IDS,
        Field::new("user_id", Kind::User),
    ]),
    Custom::change(
        "PUT",
        "nameAdsPost",
        "<posts>/{post_id}/name",
        "Names a published post; an empty name is none.",
        name,
    )
    .who(Who::CreativeWriter)
    .params(&[
        Field::new("post_id", Kind::Long)
            .older("tweet_id")
            .required()
            .update(Need::Must),
        Field::text("name", 1, 80),
    ]),
    Custom::get(
        "getAdsPostPreviews",
        "<post>_previews",
        "Pages that show what some posts look like, for a quarter of an hour.",
        previews,
    )
    .who(Who::CreativeReader)
    .params(&[POST_IDS.required(), POST_TYPE]),
];

/// A post, and what the account says of it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The post; one that is not published yet as it would be.
    pub post: Post,
    /// A composition, or what is known of a published post.
    pub said: Option<Record>,
    kind: &'static str,
}

impl Seen {
    /// What is not published yet, or not anywhere but in the sandbox, as the post it would be.
    pub fn of_record(desk: &mut Desk<'_, '_>, record: Record) -> Result<Self, Error> {
        Ok(Self {
            post: compositions::as_post(desk, &record)?,
            kind: if std::ptr::eq(record.of, &raw const DRAFT_POST) {
                "DRAFT"
            } else if std::ptr::eq(record.of, &raw const SCHEDULED_POST) {
                "SCHEDULED"
            } else {
                "PUBLISHED"
            },
            said: Some(record),
        })
    }

    /// A published post.
    pub const fn published(post: Post, said: Option<Record>) -> Self {
        Self {
            post,
            said,
            kind: "PUBLISHED",
        }
    }
}

/// The resource whose records stand for posts of a kind; none where the platform has the posts.
fn resource(desk: &Desk<'_, '_>, kind: &str) -> Result<Option<&'static Resource>, Error> {
    Ok(match kind {
        "DRAFT" => Some(&DRAFT_POST),
        "SCHEDULED" => Some(&SCHEDULED_POST),
        _ if desk.account()?.record.flag("sandbox") => Some(&ACCOUNT_POST),
        _ => None,
    })
}

/// Whether a record is one of the kind that is asked for: a scheduled post that was published is
/// not scheduled.
fn is_open(record: &Record) -> bool {
    let status = record.of.field("scheduled_status");
    status.is_none() || record.text("scheduled_status") == "SCHEDULED"
}

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let user = match given.int("user_id") {
        Some(user) => UserId::new(user),
        None => promotable_users::full(desk)?.unwrap_or(UserId::new(-1)),
    };
    let kind = given.text("post_type").unwrap_or_default();
    let (seen, next) = if given.has("post_ids") {
        let mut seen = of_ids(desk, kind, &given.ints("post_ids"))?;
        seen.retain(|one| one.post.author_id == user && is_wanted(&one.post, given));
        cut(desk, seen, given)?
    } else if let Some(of) = resource(desk, kind)? {
        of_records(desk, of, user, given)?
    } else if given.has("name") {
        named(desk, user, given)?
    } else {
        of_platform(desk, user, given)?
    };
    let form = StatusForm {
        extended: true,
        trim_user: given.flag("trim_user"),
    };
    let mut answer = Answer::one(&show(desk, seen, form)?);
    answer.next_cursor = Some(next);
    Ok(answer)
}

/// Whether a post is of the timeline that is asked for.
fn is_wanted(post: &Post, given: &Given) -> bool {
    let timeline = match given.text("timeline_type") {
        Some("ALL") => true,
        Some("ORGANIC") => !post.nullcast,
        _ => post.nullcast,
    };
    let answers = post.in_reply_to_user_id.is_some() || post.text.starts_with('@');
    timeline && (!answers || given.flag("include_mentions_and_replies"))
}

/// The posts of a kind with some ids, newest first; ids that are none of the kind are left out.
pub fn of_ids(desk: &mut Desk<'_, '_>, kind: &str, ids: &[i64]) -> Result<Vec<Seen>, Error> {
    let mut seen = Vec::new();
    if let Some(of) = resource(desk, kind)? {
        let account = desk.account_id()?;
        for row in records::find_by_ids(desk.tx, of.name, ids)? {
            let record = Record::stored(of, &row)?;
            if record.account_id == account && !record.deleted && is_open(&record) {
                seen.push(Seen::of_record(desk, record)?);
            }
        }
    } else {
        let mut known: HashMap<i64, Record> = account_posts::of_posts(desk, ids)?
            .into_iter()
            .filter_map(|one| Some((one.int("post_id")?, one)))
            .collect();
        let ids: Vec<PostId> = ids.iter().copied().map(PostId::new).collect();
        for post in posts::find_by_ids(desk.tx, &ids)? {
            let theirs = promotable_users::of_user(desk, post.author_id)?.is_some();
            if theirs && post.state == PostState::Live {
                let said = known.remove(&post.id.get());
                seen.push(Seen::published(post, said));
            }
        }
    }
    seen.sort_by_key(|one| std::cmp::Reverse(one.post.id));
    Ok(seen)
}

type Page = (Vec<Seen>, Option<String>);

/// A page of posts that are at hand, by their ids.
fn cut(desk: &Desk<'_, '_>, mut seen: Vec<Seen>, given: &Given) -> Result<Page, Error> {
    let scope = listing::walk(desk, &given.echo);
    let below = match listing::place(desk, &scope, given)? {
        Some((_, id)) => id,
        None => i64::MAX,
    };
    seen.retain(|one| one.post.id.get() < below);
    let count = count(given);
    let more = seen.len() > count;
    seen.truncate(count);
    let last = seen.last().filter(|_| more).map(|one| one.post.id.get());
    let next = last.map(|id| cursor::seal(&desk.cursor_key, &scope, &(OrderValue::Number(id), id)));
    Ok((seen, next))
}

fn count(given: &Given) -> usize {
    usize::try_from(given.int("count").unwrap_or(200)).unwrap_or(1)
}

/// Those that records stand for.
fn of_records(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    user: UserId,
    given: &Given,
) -> Result<Page, Error> {
    let timeline = given.text("timeline_type").unwrap_or_default().to_owned();
    let answers = given.flag("include_mentions_and_replies");
    let keeps = |record: &Record| {
        let timeline = match timeline.as_str() {
            "ALL" => true,
            "ORGANIC" => !record.flag("nullcast"),
            _ => record.flag("nullcast"),
        };
        let own = record.int("user_id") == Some(user.get());
        own && timeline && is_open(record) && (answers || !record.text("text").starts_with('@'))
    };
    let (records, next) = listing::chosen(desk, of, &by_name(given), &keeps)?;
    let mut seen = Vec::new();
    for record in records {
        seen.push(Seen::of_record(desk, record)?);
    }
    Ok((seen, next))
}

/// Published posts that have a name, those that were named last first.
fn named(desk: &mut Desk<'_, '_>, user: UserId, given: &Given) -> Result<Page, Error> {
    let keeps = |record: &Record| record.int("user_id") == Some(user.get());
    let (records, next) = listing::chosen(desk, &ACCOUNT_POST, &by_name(given), &keeps)?;
    let ids: Vec<i64> = records
        .iter()
        .filter_map(|one| one.int("post_id"))
        .collect();
    let mut seen = of_ids(desk, "PUBLISHED", &ids)?;
    seen.retain(|one| is_wanted(&one.post, given));
    Ok((seen, next))
}

/// The start of a name, as lists know it.
fn by_name(given: &Given) -> Given {
    let mut given = given.clone();
    if let Some(name) = given.text("name").map(str::to_owned) {
        given.put("q", name.into());
    }
    given
}

/// Posts of the platform.
fn of_platform(desk: &mut Desk<'_, '_>, user: UserId, given: &Given) -> Result<Page, Error> {
    let Some(known) = promotable_users::of_user(desk, user)? else {
        return Ok((Vec::new(), None));
    };
    // Others agreed to what everyone sees being promoted; what they promote is theirs.
    let own = known.text("promotable_user_type") == "FULL" || desk.caller.user == user;
    let (promoted, organic) = match given.text("timeline_type") {
        Some("ALL") => (own, true),
        Some("ORGANIC") => (false, true),
        _ => (own, false),
    };
    let scope = listing::walk(desk, &given.echo);
    let below = match listing::place(desk, &scope, given)? {
        Some((_, id)) => id,
        None => i64::MAX,
    };
    let limit = i64::try_from(count(given) + 1).unwrap_or(i64::MAX);
    let answers = given.flag("include_mentions_and_replies");
    let mut all = Vec::new();
    for (asked, nullcast) in [(promoted, true), (organic, false)] {
        if asked {
            let of = (user, nullcast, answers);
            all.extend(posts::list_own_posts(desk.tx, of, below, limit)?);
        }
    }
    all.sort_by_key(|post| std::cmp::Reverse(post.id));
    let ids: Vec<i64> = all.iter().map(|post| post.id.get()).collect();
    let mut known: HashMap<i64, Record> = account_posts::of_posts(desk, &ids)?
        .into_iter()
        .filter_map(|one| Some((one.int("post_id")?, one)))
        .collect();
    let seen = all.into_iter().map(|post| {
        let said = known.remove(&post.id.get());
        Seen::published(post, said)
    });
    cut(desk, seen.collect(), given)
}

/// Posts in the form of the older interface, with what the account says of them.
pub fn show(desk: &mut Desk<'_, '_>, seen: Vec<Seen>, form: StatusForm) -> Result<Value, Error> {
    let mut by_author: HashMap<UserId, Vec<Post>> = HashMap::new();
    for one in &seen {
        let own = by_author.entry(one.post.author_id).or_default();
        own.push(one.post.clone());
    }
    let full = promotable_users::full(desk)?;
    let mut statuses = HashMap::new();
    for (author, posts) in by_author {
        // Others' are seen as the account's own user sees them.
        let viewer = match full {
            Some(full) if desk.caller.user != author => full,
            _ => author,
        };
        let viewer = Viewer::user(viewer);
        statuses.extend(view::older_statuses(
            desk.tx, viewer, posts, form, desk.site,
        )?);
    }
    let speech = desk.caller.speech;
    let mut all = Vec::new();
    for one in &seen {
        let Some(Value::Object(mut status)) = statuses.remove(&one.post.id) else {
            continue;
        };
        status.extend(beside(one, speech));
        all.push(Value::Object(status));
    }
    Ok(all.into())
}

/// What only advertisers are told of a post.
fn beside(one: &Seen, speech: base::Vocabulary) -> Map<String, Value> {
    let said = one.said.as_ref();
    let text = |name: &str| -> Value {
        let said = said.filter(|said| said.of.field(name).is_some());
        said.and_then(|said| said.get(name))
            .cloned()
            .unwrap_or_default()
    };
    let at = said.filter(|said| said.of.field("scheduled_at").is_some());
    let at = at.and_then(|said| said.time("scheduled_at"));
    let card = Some(one.post.card_uri.as_str()).filter(|uri| !uri.is_empty());
    let members = json!({
        "name": text("name"),
        "nullcast": one.post.nullcast,
        base::VocabularyWord::new("post_id", "tweet_id").name_in(speech): one.post.id.to_string(),
        base::VocabularyWord::new("post_type", "tweet_type").name_in(speech): one.kind,
        "scheduled_at": at.map(instant),
        "card_uri": card,
        "conversation_settings": settings(&one.post.reply_settings),
    });
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Who may answer a post, in this interface's words.
fn settings(reply: &str) -> String {
    match reply {
        "" | "everyone" => "EVERYONE".to_owned(),
        "mentionedUsers" => "MENTIONED_USERS".to_owned(),
        other => other.to_ascii_uppercase(),
    }
}

fn name(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let id = given.int("post_id").unwrap_or(-1);
    let Some(one) = of_ids(desk, "PUBLISHED", &[id])?.pop() else {
        let name = ACCOUNT_POST.id.name_in(desk.caller.speech);
        let message = format!("The post {id} was not found");
        let problem = AdsProblem::invalid_parameter(name, id, message);
        return Err(problem.with_code(ACCOUNT_POST.not_found).into());
    };
    let mut one = one;
    if given.has("name") {
        let is_known = one.said.is_some();
        let mut said = match one.said.take() {
            Some(said) => said,
            None => account_posts::blank(desk, id, one.post.author_id.get())?,
        };
        said.set("name", given.get("name").cloned().unwrap_or_default());
        said.updated_at = desk.now();
        if is_known {
            desk.keep(&said)?;
        } else {
            account_posts::add(desk, &said)?;
        }
        one.said = Some(said);
    }
    let form = StatusForm {
        extended: true,
        trim_user: false,
    };
    let shown = show(desk, vec![one], form)?;
    Ok(Answer::one(shown.get(0).unwrap_or(&Value::Null)))
}

fn previews(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let kind = given.text("post_type").unwrap_or_default();
    let asked = given.ints("post_ids");
    let found: Vec<i64> = of_ids(desk, kind, &asked)?
        .iter()
        .map(|one| one.post.id.get())
        .collect();
    let name = ACCOUNT_POST.id.name_in(desk.caller.speech);
    let mut all = Vec::new();
    for id in asked.into_iter().filter(|id| found.contains(id)) {
        let path = Preview::of(desk, kind, id, preview::QUARTER)?.path(&desk.cursor_key);
        let page = format!(
            "<iframe class='tweet-preview' src='{}{path}'></iframe>",
            desk.site
        );
        all.push(json!({ name: id.to_string(), "preview": page }));
    }
    Ok(Answer::one(&all.into()))
}
