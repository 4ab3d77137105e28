//! Promoted posts: posts that a line item shows.

use base::refusal::AdsProblem;
use base::{Error, Fault, PostId, VocabularyWord};
use store::Tx;
use store::posts::{self, Post, PostState};

use crate::access::Who;
use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{Custom, Field, Filter, Often, Resource, Verb};
use crate::desk::Desk;
use crate::engine::{checked, create, show_all};
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;
use crate::request::CONSOLE;
use crate::resources::line_items::{self, LINE_ITEM, count_creatives, sells};
use crate::resources::promotable_users;
use crate::resources::{account_posts, compositions};

/// A post that a line item shows.
pub static PROMOTED_POST: Resource = Resource {
    name: "promoted_post",
    id: VocabularyWord::new("promoted_post_id", "promoted_tweet_id"),
    path: "promoted_<posts>",
    about: "promoted post",
    not_found: "PROMOTED_TWEET_NOT_FOUND",
    fields: &[
        Field::parent("line_item_id", &LINE_ITEM).required(),
        Field::new("post_id", Kind::Long)
            .older("tweet_id")
            .required()
            .fixed(),
        Field::one_of("entity_status", &["ACTIVE"])
            .kept()
            .or("ACTIVE"),
        Field::one_of("approval_status", &["ACCEPTED", "UNDER_REVIEW", "REJECTED"])
            .kept()
            .or("ACCEPTED"),
    ],
    filters: &[
        Filter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        Filter::ids("promoted_post_ids", "id", &PROMOTED_POST).older("promoted_tweet_ids"),
    ],
    verbs: &[Verb::List, Verb::Get, Verb::Delete],
    often: Often::More,
    history: "PROMOTED_POST",
    twin: Some(twin),
    after: Some(after),
    ..Resource::DEFAULT
};

/// Promoting several posts at once.
pub static OPERATIONS: &[Custom] = &[Custom::change(
    "POST",
    "createAdsPromotedPosts",
    "promoted_<posts>",
    "Promotes posts in a line item: all of them or none.",
    promote,
)
.who(Who::CampaignWriter)
.params(&[
    Field::reference("line_item_id", &LINE_ITEM).required(),
    Field::new("post_ids", Kind::Longs(50))
        .older("tweet_ids")
        .required(),
])];

fn promote(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let item = desk.need(&LINE_ITEM, given.int("line_item_id").unwrap_or(-1))?;
    sells(
        &item,
        &["PROMOTED_POSTS", "PROMOTED_ACCOUNT"],
        "promoted posts",
    )?;
    let mut made = Vec::new();
    for id in given.ints("post_ids") {
        made.push(promote_one(desk, &item, PostId::new(id))?);
    }
    if item.text("product_type") == "PROMOTED_ACCOUNT" {
        line_items::add_placement(desk, &item, "TWITTER_TIMELINE")?;
    }
    let count = made.len();
    let answer = Answer::raw(show_all(desk, &made)?).last_page();
    Ok(answer.total(count))
}

/// Promotes one post, or finds that it is promoted already.
pub fn promote_one(desk: &mut Desk<'_, '_>, item: &Record, id: PostId) -> Result<Record, Error> {
    let post = promotable(desk, item, id)?;
    let post = promoted(desk, post)?;
    let mut given = Given::default();
    given.put("line_item_id", item.id.into());
    given.put("post_id", post.into());
    create(desk, &PROMOTED_POST, &given)
}

/// A post that may be promoted.
#[derive(Clone, Copy, Debug)]
pub struct Promotable {
    /// What is shown.
    pub post: PostId,
    /// Whether its author agreed to being reposted only, so that a repost is what is promoted.
    pub by_repost: bool,
}

/// What is promoted when a post is asked for.
pub fn promotable(desk: &mut Desk<'_, '_>, item: &Record, id: PostId) -> Result<Promotable, Error> {
    let unsuited = || {
        let why = "does not suit the objective of the line item";
        no_post(id, "INVALID_TWEET", why)
    };
    if let Some(tried) = account_posts::tried(desk, id.get())? {
        if !compositions::suits(&tried, item) {
            return Err(unsuited());
        }
        let (post, by_repost) = (id, false);
        return Ok(Promotable { post, by_repost });
    }
    let Some(post) = asked(desk, id)? else {
        return Err(no_post(id, "TWEET_NOT_FOUND", "was not found"));
    };
    let promotable = promotable_users::of_user(desk, post.author_id)?;
    let Some(promotable) = promotable else {
        let why = "is not by a promotable user of this account";
        return Err(no_post(id, "INVALID_TWEET", why));
    };
    let author = store::users::find_by_id(desk.tx, post.author_id)?;
    let open = author
        .is_some_and(|author| author.state == store::users::UserState::Active && !author.protected);
    let for_some = post.members_only || post.followers_only || post.repost_of_id.is_some();
    if !open || for_some {
        return Err(no_post(id, "INVALID_TWEET", "is not public"));
    }
    if !suits(&post, item) {
        return Err(unsuited());
    }
    Ok(Promotable {
        post: post.id,
        by_repost: promotable.text("promotable_user_type") != "FULL",
    })
}

/// The live post with an id; of a repost by the account's own user, what it reposts.
fn asked(desk: &mut Desk<'_, '_>, id: PostId) -> Result<Option<Post>, Error> {
    let live = |post: &Post| post.state == PostState::Live;
    let Some(post) = posts::find_by_id(desk.tx, id)?.filter(live) else {
        return Ok(None);
    };
    match post.repost_of_id {
        Some(original) if promotable_users::full(desk)? == Some(post.author_id) => {
            Ok(posts::find_by_id(desk.tx, original)?.filter(live))
        }
        _ => Ok(Some(post)),
    }
}

/// The post that stands for another one: itself, or a repost of it by the account's own user,
/// which is a real one, and promoted only (contract §8.11).
fn promoted(desk: &mut Desk<'_, '_>, of: Promotable) -> Result<i64, Error> {
    if !of.by_repost {
        return Ok(of.post.get());
    }
    if desk.account()?.record.flag("sandbox") {
        return account_posts::reposted(desk, of.post);
    }
    let Some(full) = promotable_users::full(desk)? else {
        return Err(no_post(
            of.post,
            "INVALID_TWEET",
            "cannot be reposted by anyone",
        ));
    };
    let app = desk.caller.app.filter(|app| *app != CONSOLE);
    match network::reposts::repost_for_promotion(desk.tx, full, app, of.post) {
        Ok(repost) => Ok(repost.id.get()),
        // That one blocks the other, for one.
        Err(Error::Refused(_)) => Err(no_post(of.post, "INVALID_TWEET", "cannot be reposted")),
        Err(failed) => Err(failed),
    }
}

/// The post that people see where a post is promoted, if it may be shown to anyone: of a repost
/// what it reposts.
pub fn seen(tx: &mut Tx<'_>, id: i64) -> Result<Option<Post>, Fault> {
    let live = |post: &Post| post.state == PostState::Live;
    let Some(post) = posts::find_by_id(tx, PostId::new(id))?.filter(live) else {
        return Ok(None);
    };
    let Some(original) = post.repost_of_id else {
        return Ok(Some(post));
    };
    let by = store::users::find_by_id(tx, post.author_id)?;
    if by.is_none_or(|by| by.state != store::users::UserState::Active || by.protected) {
        return Ok(None);
    }
    Ok(posts::find_by_id(tx, original)?.filter(live))
}

fn no_post(id: PostId, code: &'static str, why: &str) -> Error {
    let message = format!("The post {id} {why}");
    AdsProblem::invalid_parameter("post_ids", id, message)
        .with_code(code)
        .into()
}

/// Whether a post shows what a line item's objective is about (contract §4.5).
pub fn suits(post: &Post, item: &Record) -> bool {
    let shows = Shows {
        links: post.entities.contains("\"urls\""),
        card: !post.card_uri.is_empty(),
        media_keys: &post.media_keys.split(',').collect::<Vec<_>>(),
    };
    shows.suits(item)
}

/// What of a post an objective asks for.
#[derive(Clone, Copy, Debug)]
pub struct Shows<'a> {
    /// It links somewhere.
    pub links: bool,
    /// It has a card.
    pub card: bool,
    /// Its media.
    pub media_keys: &'a [&'a str],
}

impl Shows<'_> {
    /// Whether it is what a line item's objective is about.
    pub fn suits(self, item: &Record) -> bool {
        let (links, card) = (self.links, self.card);
        let plays = self.media_keys.iter().any(|key| {
            ["7_", "13_", "16_"]
                .iter()
                .any(|kind| key.starts_with(kind))
        });
        match item.text("objective") {
            "WEBSITE_CLICKS" => links || card,
            "VIDEO_VIEWS" => plays || card,
            "APP_INSTALLS" | "APP_ENGAGEMENTS" => card,
            "PREROLL_VIEWS" => false,
            _ => true,
        }
    }
}

fn twin(desk: &mut Desk<'_, '_>, record: &Record) -> Result<Option<Record>, Error> {
    let item = record.int("line_item_id").unwrap_or(0);
    let all = desk.with(&PROMOTED_POST, "line_item_id", item)?;
    let same = |other: &Record| other.get("post_id") == record.get("post_id");
    Ok(all.into_iter().find(same))
}

fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    count_creatives(desk, change.record.int("line_item_id").unwrap_or(0))
}
