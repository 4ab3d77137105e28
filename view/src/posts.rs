//! Posts: their fields and what those lead to.

mod entities;
mod fields;
mod metrics;
mod reach;
mod text;

use base::{PostId, UserId};
use network::visibility::Visibility;
use store::posts::Post;
use store::users::User;

use crate::Object;
use crate::out::Out;
use crate::shown::{Audience, Expansion, Json, Member, Shown, Write};
use crate::users::ENTITIES;
use crate::wants::bits_for;
use crate::world::World;

pub(crate) use entities::of_sent as sent_entities;
pub(crate) use metrics::forbidden_fields;
pub(crate) use text::{of_new, sent, short_part};

/// A post and what is known around it.
#[derive(Clone, Copy)]
pub(crate) struct PostFacts<'a> {
    pub(crate) post: &'a Post,
    pub(crate) world: &'a World,
}

impl<'a> PostFacts<'a> {
    fn author(self) -> Option<&'a User> {
        self.world.users.get(self.post.author_id)
    }

    /// What it reposts, when the viewer may see that.
    fn original(self) -> Option<PostFacts<'a>> {
        let post = self.world.posts.get(self.post.repost_of_id?)?;
        let seen = self.world.sight(post) == Visibility::Visible;
        seen.then_some(PostFacts { post, ..self })
    }

    /// Whether its text is sent in part, and the whole as a note.
    fn is_long(self) -> bool {
        self.world.shorts.contains_key(&self.post.id)
    }

    /// Whether it belongs to the viewer.
    pub(crate) fn owned(self) -> bool {
        self.world.viewer.user == Some(self.post.author_id)
    }
}

/// The private figures: refused to others, post by post.
pub(crate) const OWNER_ONLY: u64 = bits_for(FIELDS, Audience::Owner);

/// Writes a post with the fields of a mask.
pub(crate) fn write(out: &mut Out, facts: PostFacts<'_>, mask: u64) {
    out.record(FIELDS, mask, |out, write| {
        if let Write::Post(write) = write {
            write(out, facts);
        }
    });
}

const PUBLIC_METRICS: &[Member] = &[
    Member::words("repost_count", "retweet_count", Json::Int),
    Member::new("reply_count", Json::Int),
    Member::new("like_count", Json::Int),
    Member::new("quote_count", Json::Int),
    Member::new("bookmark_count", Json::Int),
    Member::new("impression_count", Json::Int),
];

const NON_PUBLIC_METRICS: &[Member] = &[
    Member::new("impression_count", Json::Int),
    Member::new("url_link_clicks", Json::Int),
    Member::new("user_profile_clicks", Json::Int),
    Member::new("engagements", Json::Int),
];

const ORGANIC_METRICS: &[Member] = &[
    Member::new("impression_count", Json::Int),
    Member::new("like_count", Json::Int),
    Member::new("reply_count", Json::Int),
    Member::words("repost_count", "retweet_count", Json::Int),
    Member::new("url_link_clicks", Json::Int),
    Member::new("user_profile_clicks", Json::Int),
];

const REPLY_SETTINGS: &[&str] = &[
    "everyone",
    "mentionedUsers",
    "following",
    "subscribers",
    "verified",
    "other",
];

const REFERENCE: Json = Json::Object(&[
    Member::new("type", Json::OneOf(&["retweeted", "quoted", "replied_to"])),
    Member::new("id", Json::Id),
]);

const NAMED: Json = Json::Object(&[
    Member::new("id", Json::Text),
    Member::new("name", Json::Text),
    Member::new("description", Json::Text),
]);

const CONTEXT: Json = Json::Object(&[Member::new("domain", NAMED), Member::new("entity", NAMED)]);

const POINT: Json = Json::Object(&[
    Member::new("type", Json::OneOf(&["Point"])),
    Member::new("coordinates", Json::List(&Json::Real)),
]);

const MEDIA_METADATA: Json = Json::Object(&[
    Member::new("media_key", Json::Text),
    Member::new("alt_text", Json::Text),
]);

const SOURCE_LINK: Json = Json::Object(&[
    Member::new("url", Json::Text),
    Member::new("count", Json::Int),
]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the post.").post(fields::id),
    Shown::always("text", Json::Text, "The text, `&`, `<` and `>` escaped; of a long post its first part, of a repost `RT @user: …`.").post(text::text),
    Shown::always("edit_history_post_ids", Json::List(&Json::Id), "Every version of the post, oldest first.").tweet("edit_history_tweet_ids").post(fields::edit_history),
    Shown::asked("author_id", Json::Id, "Who wrote it.").post(fields::author_id),
    Shown::expanded("username", Json::Text, "Handle of its author.").post(fields::username),
    Shown::asked("created_at", Json::Time, "When it was written.").post(fields::created_at),
    Shown::asked("conversation_id", Json::Id, "The post that its conversation began with.").post(fields::conversation_id),
    Shown::asked("in_reply_to_user_id", Json::Id, "The author of the post it replies to.").post(fields::in_reply_to_user_id),
    Shown::asked("referenced_posts", Json::List(&REFERENCE), "The posts it reposts, quotes or replies to.").tweet("referenced_tweets").post(fields::referenced),
    Shown::asked("attachments", Json::Object(&[
        Member::new("media_keys", Json::List(&Json::Text)),
        Member::new("poll_ids", Json::List(&Json::Id)),
    ]), "Media and polls it carries.").post(fields::attachments),
    Shown::asked("entities", Json::Object(ENTITIES), "Links, hashtags, mentions and cashtags of the text; places count code points.").post(fields::entities),
    Shown::asked("note_post", Json::Object(&[
        Member::new("text", Json::Text),
        Member::new("entities", Json::Object(ENTITIES)),
    ]), "The whole of a long post.").tweet("note_tweet").post(text::note),
    Shown::asked("public_metrics", Json::Object(PUBLIC_METRICS), "Figures that everyone may see.").post(metrics::public),
    Shown::asked("non_public_metrics", Json::Object(NON_PUBLIC_METRICS), "Figures for the author, for 30 days.").only_for(Audience::Owner).post(metrics::non_public),
    Shown::asked("organic_metrics", Json::Object(ORGANIC_METRICS), "Figures for the author, without promotion, for 30 days.").only_for(Audience::Owner).post(metrics::organic),
    Shown::asked("promoted_metrics", Json::Object(ORGANIC_METRICS), "Figures for the author, of promotion only, for 30 days.").only_for(Audience::Owner).post(metrics::promoted),
    Shown::asked("context_annotations", Json::List(&CONTEXT), "What it is about."),
    Shown::asked("geo", Json::Object(&[
        Member::new("place_id", Json::Text),
        Member::new("coordinates", POINT),
    ]), "Where it was written.").post(fields::geo),
    Shown::asked("lang", Json::Text, "Its language, BCP 47; `und` when unknown.").post(fields::lang),
    Shown::asked("possibly_sensitive", Json::Bool, "Marked as possibly sensitive.").post(|out, facts| out.bool(facts.post.possibly_sensitive)),
    Shown::asked("paid_partnership", Json::Bool, "Marked as a paid partnership.").post(|out, facts| out.bool(facts.post.paid_partnership)),
    Shown::asked("reply_settings", Json::OneOf(REPLY_SETTINGS), "Who may reply.").post(fields::reply_settings),
    Shown::asked("edit_controls", Json::Object(&[
        Member::new("edits_remaining", Json::Int),
        Member::new("is_edit_eligible", Json::Bool),
        Member::new("editable_until", Json::Time),
    ]), "Whether, how often and until when it can be edited.").post(fields::edit_controls),
    Shown::asked("community_id", Json::Id, "The community it was posted to.").post(fields::community_id),
    Shown::asked("display_text_range", Json::List(&Json::Int), "The part of the text to display, in code points.").post(text::display_range),
    Shown::asked("source", Json::Text, "Accepted and never sent."),
    Shown::asked("withheld", Json::Object(&[
        Member::new("copyright", Json::Bool),
        Member::new("country_codes", Json::List(&Json::Text)),
        Member::new("scope", Json::OneOf(&["post", "tweet", "user"])),
    ]), "Where it is withheld.").post(fields::withheld),
    Shown::asked("scopes", Json::Object(&[Member::new("followers", Json::Bool)]), "Whom it was made for.").post(fields::scopes),
    Shown::asked("card_uri", Json::Text, "The card it carries.").post(|out, facts| out.text(&facts.post.card_uri)),
    Shown::asked("media_metadata", Json::List(&MEDIA_METADATA), "Descriptions of its media.").post(fields::media_metadata),
    Shown::asked("article", Json::Any, "Accepted; there are no articles."),
    Shown::asked("article_title", Json::Any, "Accepted; there are no articles."),
    Shown::asked("matched_media_notes", Json::List(&Json::Any), "Accepted; found by the search for posts to note."),
    Shown::asked("note_request_suggestions", Json::List(&Json::Any), "Accepted; found by the search for posts to note."),
    Shown::asked("suggested_source_links", Json::List(&Json::Text), "Accepted; found by the search for posts to note."),
    Shown::asked("suggested_source_links_with_counts", Json::List(&SOURCE_LINK), "Accepted; found by the search for posts to note."),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("author_id", Object::User, "author_id").by_post(reach::author),
    Expansion::new("username", Object::User, "username")
        .post_only()
        .by_post(reach::author),
    Expansion::new("in_reply_to_user_id", Object::User, "in_reply_to_user_id")
        .by_post(reach::replied_to_user),
    Expansion::new("entities.mentions.username", Object::User, "entities").by_post(reach::mentions),
    Expansion::new("entities.note.mentions.username", Object::User, "note_post")
        .tweet_only()
        .by_post(reach::note_mentions),
    Expansion::new("referenced_posts", Object::Post, "referenced_posts")
        .tweet("referenced_tweets.id")
        .by_post(reach::referenced),
    Expansion::new("referenced_tweets.id.author_id", Object::User, "author_id")
        .tweet_only()
        .nested()
        .by_post(reach::author),
    Expansion::new(
        "referenced_tweets.id.attachments.media_keys",
        Object::Media,
        "attachments",
    )
    .tweet_only()
    .nested()
    .by_post(reach::media),
    Expansion::new(
        "edit_history_post_ids",
        Object::Post,
        "edit_history_post_ids",
    )
    .tweet("edit_history_tweet_ids")
    .by_post(reach::versions),
    Expansion::new("attachments.media_keys", Object::Media, "attachments").by_post(reach::media),
    Expansion::new(
        "attachments.media_source_tweet",
        Object::Post,
        "attachments",
    ),
    Expansion::new("attachments.poll_ids", Object::Poll, "attachments").by_post(reach::poll),
    Expansion::new("geo.place_id", Object::Place, "geo").by_post(reach::place),
    Expansion::new("article.cover_media", Object::Media, "article"),
    Expansion::new("article.media_entities", Object::Media, "article"),
];

/// The posts that a post refers to, with the kind of each.
fn references(post: &Post) -> impl Iterator<Item = (&'static str, PostId)> {
    let kinds = [
        ("retweeted", post.repost_of_id),
        ("quoted", post.quoted_post_id),
        ("replied_to", post.in_reply_to_post_id),
    ];
    kinds.into_iter().filter_map(|(kind, id)| Some((kind, id?)))
}

/// The media keys of a post.
pub(crate) fn media_keys(post: &Post) -> impl Iterator<Item = &str> {
    post.media_keys.split(',').filter(|key| !key.is_empty())
}

/// The number in the address of the card that a post carries itself.
pub(crate) fn card_of(post: &Post) -> Option<i64> {
    let own = post.card_uri.strip_prefix("card://");
    own.filter(|_| post.repost_of_id.is_none())?.parse().ok()
}

/// The users that entities mention.
fn mentioned(entities: &str) -> Vec<UserId> {
    let parsed: Option<serde_json::Value> = serde_json::from_str(entities).ok();
    let mentions = parsed
        .as_ref()
        .and_then(|parsed| parsed.get("mentions")?.as_array());
    let ids = mentions.into_iter().flatten();
    ids.filter_map(|mention| UserId::parse(mention.get("id")?.as_str()?))
        .collect()
}
