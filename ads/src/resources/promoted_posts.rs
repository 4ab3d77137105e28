//! Promoted posts: posts that a line item shows.

use base::refusal::Problem;
use base::{PostId, Stop, Word};
use store::posts::{self, Post, State};

use crate::access::Who;
use crate::answer::Answer;
use crate::change::Change;
use crate::declare::{Custom, Field, Filter, Often, Resource, Verb};
use crate::desk::Desk;
use crate::engine::{checked, create, show_all};
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::line_items::{self, LINE_ITEM, count_creatives, sells};
use crate::resources::promotable_users;

/// A post that a line item shows.
pub static PROMOTED_POST: Resource = Resource {
    name: "promoted_post",
    id: Word::new("promoted_post_id", "promoted_tweet_id"),
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

fn promote(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Stop> {
    checked(given)?;
    let item = desk.need(&LINE_ITEM, given.int("line_item_id").unwrap_or(-1))?;
    sells(
        &item,
        &["PROMOTED_POSTS", "PROMOTED_ACCOUNT"],
        "promoted posts",
    )?;
    let mut made = Vec::new();
    for id in given.ints("post_ids") {
        let post = promotable(desk, &item, PostId::new(id))?;
        let mut one = Given::default();
        one.put("line_item_id", item.id.into());
        one.put("post_id", post.into());
        made.push(create(desk, &PROMOTED_POST, &one)?);
    }
    if item.text("product_type") == "PROMOTED_ACCOUNT" {
        line_items::add_placement(desk, &item, "TWITTER_TIMELINE")?;
    }
    let count = made.len();
    let answer = Answer::raw(show_all(desk, &made)?).last_page();
    Ok(answer.total(count))
}

/// The post that is promoted when this one is asked for.
pub fn promotable(desk: &mut Desk<'_, '_>, item: &Record, id: PostId) -> Result<i64, Stop> {
    let found = posts::by_id(desk.tx, id)?;
    let Some(post) = found.filter(|post| post.state == State::Live) else {
        return Err(no_post(id, "TWEET_NOT_FOUND", "was not found"));
    };
    let promotable = promotable_users::of_user(desk, post.author_id)?;
    let Some(promotable) = promotable else {
        return Err(no_post(
            id,
            "INVALID_TWEET",
            "is not by a promotable user of this account",
        ));
    };
    let author = store::users::by_id(desk.tx, post.author_id)?;
    let open = author.is_some_and(|author| {
        author.state == store::users::State::Active && (!author.protected || post.nullcast)
    });
    if !open || post.members_only || post.followers_only {
        return Err(no_post(id, "INVALID_TWEET", "is not public"));
    }
    if !suits(&post, item) {
        return Err(no_post(
            id,
            "INVALID_TWEET",
            "does not suit the objective of the line item",
        ));
    }
    if promotable.text("promotable_user_type") != "FULL" {
        return Err(no_post(
            id,
            "INVALID_TWEET",
            "is by a user whose posts are reposted only",
        ));
    }
    Ok(post.id.get())
}

fn no_post(id: PostId, code: &'static str, why: &str) -> Stop {
    let message = format!("The post {id} {why}");
    Problem::parameter("post_ids", id, message)
        .code(code)
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

fn twin(desk: &mut Desk<'_, '_>, record: &Record) -> Result<Option<Record>, Stop> {
    let item = record.int("line_item_id").unwrap_or(0);
    let all = desk.with(&PROMOTED_POST, "line_item_id", item)?;
    let same = |other: &Record| other.get("post_id") == record.get("post_id");
    Ok(all.into_iter().find(same))
}

fn after(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Stop> {
    count_creatives(desk, change.record.int("line_item_id").unwrap_or(0))
}
