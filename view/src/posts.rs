//! Post fields and expansions.

mod entities;
mod expansions;
mod fields;
mod metrics;
mod short_links;
mod text;

use base::{PostId, UserId, VocabularyWord};
use network::visibility::Visibility;
use store::posts::Post;
use store::users::User;

use crate::field_schema::{FieldAudience, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::loaded_objects::LoadedObjects;
use crate::object::{IncludedKind, ObjectExpansion, ObjectField, ObjectKind, RenderedObject, audience_mask};
use crate::users::ENTITIES;

pub(crate) use entities::{display_url, sent_entities};
pub(crate) use metrics::reject_private_metrics;
pub use short_links::shorten_message_links;
pub(crate) use short_links::{RenderedText, link_truncated_text, shorten_links};
pub use text::new_post_text;
pub(crate) use text::{display_text_range, sent_text, short_text, text_without_link};

#[derive(Clone, Copy)]
pub(crate) struct PostRenderContext<'a> {
    pub(crate) post: &'a Post,
    pub(crate) objects: &'a LoadedObjects,
}

impl<'a> PostRenderContext<'a> {
    fn author(self) -> Option<&'a User> {
        self.objects.users.get(self.post.author_id)
    }

    /// The reposted post, if the viewer may see it.
    fn original_post(self) -> Option<PostRenderContext<'a>> {
        let post = self.objects.posts.get(self.post.repost_of_id?)?;
        let is_visible = self.objects.post_visibility(post) == Visibility::Visible;
        is_visible.then_some(PostRenderContext { post, ..self })
    }

    /// The full text.
    fn full_text(self) -> &'a str {
        self.objects.full_texts.get(&self.post.id).map_or(&self.post.text, |full| &full.text)
    }

    /// The entities of the full text.
    fn full_entities(self) -> &'a str {
        self.objects.full_texts.get(&self.post.id).map_or(&self.post.entities, |full| &full.entities)
    }

    /// Whether the text is truncated and the full text is a note.
    fn is_long(self) -> bool {
        self.objects.short_texts.contains_key(&self.post.id)
    }

    pub(crate) fn is_owned_by_viewer(self) -> bool {
        self.objects.viewer.user == Some(self.post.author_id)
    }
}

/// Private metrics, which are refused post by post to everyone but the author.
pub(crate) const OWNER_ONLY: u64 = audience_mask(FIELDS, FieldAudience::Owner);

const PUBLIC_METRICS: &[JsonMember] = &[
    JsonMember::per_vocabulary("repost_count", "retweet_count", JsonFieldType::Int),
    JsonMember::new("reply_count", JsonFieldType::Int),
    JsonMember::new("like_count", JsonFieldType::Int),
    JsonMember::new("quote_count", JsonFieldType::Int),
    JsonMember::new("bookmark_count", JsonFieldType::Int),
    JsonMember::new("impression_count", JsonFieldType::Int),
];

const NON_PUBLIC_METRICS: &[JsonMember] = &[
    JsonMember::new("impression_count", JsonFieldType::Int),
    JsonMember::new("url_link_clicks", JsonFieldType::Int),
    JsonMember::new("user_profile_clicks", JsonFieldType::Int),
    JsonMember::new("engagements", JsonFieldType::Int),
];

const ORGANIC_METRICS: &[JsonMember] = &[
    JsonMember::new("impression_count", JsonFieldType::Int),
    JsonMember::new("like_count", JsonFieldType::Int),
    JsonMember::new("reply_count", JsonFieldType::Int),
    JsonMember::per_vocabulary("repost_count", "retweet_count", JsonFieldType::Int),
    JsonMember::new("url_link_clicks", JsonFieldType::Int),
    JsonMember::new("user_profile_clicks", JsonFieldType::Int),
];

const REPLY_SETTINGS: &[&str] = &["everyone", "mentionedUsers", "following", "subscribers", "verified", "other"];

const REFERENCE: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("type", JsonFieldType::OneOf(&["retweeted", "quoted", "replied_to"])),
    JsonMember::new("id", JsonFieldType::Id),
]);

const ANNOTATION_PART: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("id", JsonFieldType::Text),
    JsonMember::new("name", JsonFieldType::Text),
    JsonMember::new("description", JsonFieldType::Text),
]);

const CONTEXT: JsonFieldType =
    JsonFieldType::Object(&[JsonMember::new("domain", ANNOTATION_PART), JsonMember::new("entity", ANNOTATION_PART)]);

const POINT: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("type", JsonFieldType::OneOf(&["Point"])),
    JsonMember::new("coordinates", JsonFieldType::List(&JsonFieldType::Real)),
]);

const MEDIA_METADATA: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("media_key", JsonFieldType::Text),
    JsonMember::new("alt_text", JsonFieldType::Text),
    JsonMember::new("title", JsonFieldType::Text),
    JsonMember::new("description", JsonFieldType::Text),
]);

const SOURCE_LINK: JsonFieldType =
    JsonFieldType::Object(&[JsonMember::new("url", JsonFieldType::Text), JsonMember::new("count", JsonFieldType::Int)]);

type PostField = ObjectField<Post>;
type PostExpansion = ObjectExpansion<Post>;

impl RenderedObject for Post {
    type Context<'a> = PostRenderContext<'a>;

    const NAME: VocabularyWord = VocabularyWord::new("Post", "Tweet");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::new("post.fields", "tweet.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
    const EXPANSIONS: &'static [ObjectExpansion<Self>] = EXPANSIONS;
    const INCLUDED: Option<(IncludedKind, VocabularyWord)> =
        Some((IncludedKind::Post, VocabularyWord::new("posts", "tweets")));
}

impl ObjectKind {
    pub const POST: Self = Post::KIND;
}

const FIELDS: &[PostField] = &[
    PostField::default_field("id", JsonFieldType::Id, "Id of the post.")
        .writer(|out, ctx| out.write_id(ctx.post.id.get())),
    PostField::default_field(
        "text",
        JsonFieldType::Text,
        "The text, `&`, `<` and `>` escaped; of a long post its first part, of a repost `RT @user: …`.",
    )
    .writer(text::write_text),
    PostField::default_field(
        "edit_history_post_ids",
        JsonFieldType::List(&JsonFieldType::Id),
        "Every version of the post, oldest first.",
    )
    .tweet_name("edit_history_tweet_ids")
    .writer(fields::write_edit_history),
    PostField::requested_field("author_id", JsonFieldType::Id, "Who wrote it.")
        .writer(|out, ctx| out.write_id(ctx.post.author_id.get())),
    PostField::expansion_field("username", JsonFieldType::Text, "Handle of its author.").writer(fields::write_username),
    PostField::requested_field("created_at", JsonFieldType::Time, "When it was written.")
        .writer(|out, ctx| out.write_time(ctx.post.created_at)),
    PostField::requested_field("conversation_id", JsonFieldType::Id, "The post that its conversation began with.")
        .writer(|out, ctx| out.write_id(ctx.post.conversation_id.get())),
    PostField::requested_field("in_reply_to_user_id", JsonFieldType::Id, "The author of the post it replies to.")
        .writer(|out, ctx| out.write_option(ctx.post.in_reply_to_user_id, |out, user| out.write_id(user.get()))),
    PostField::requested_field(
        "referenced_posts",
        JsonFieldType::List(&REFERENCE),
        "The posts it reposts, quotes or replies to.",
    )
    .tweet_name("referenced_tweets")
    .writer(fields::write_referenced_posts),
    PostField::requested_field(
        "attachments",
        JsonFieldType::Object(&[
            JsonMember::new("media_keys", JsonFieldType::List(&JsonFieldType::Text)),
            JsonMember::new("poll_ids", JsonFieldType::List(&JsonFieldType::Id)),
        ]),
        "Media and polls it carries.",
    )
    .writer(fields::write_attachments),
    PostField::requested_field(
        "entities",
        JsonFieldType::Object(ENTITIES),
        "Links, hashtags, mentions and cashtags of the text; places count code points.",
    )
    .writer(fields::write_entities),
    PostField::requested_field(
        "note_post",
        JsonFieldType::Object(&[
            JsonMember::new("text", JsonFieldType::Text),
            JsonMember::new("entities", JsonFieldType::Object(ENTITIES)),
        ]),
        "The whole of a long post.",
    )
    .tweet_name("note_tweet")
    .writer(text::write_note_post),
    PostField::requested_field(
        "public_metrics",
        JsonFieldType::Object(PUBLIC_METRICS),
        "Figures that everyone may see.",
    )
    .writer(metrics::write_public_metrics),
    PostField::requested_field(
        "non_public_metrics",
        JsonFieldType::Object(NON_PUBLIC_METRICS),
        "Figures for the author, for 30 days.",
    )
    .restrict_to(FieldAudience::Owner)
    .writer(metrics::write_non_public_metrics),
    PostField::requested_field(
        "organic_metrics",
        JsonFieldType::Object(ORGANIC_METRICS),
        "Figures for the author, without promotion, for 30 days.",
    )
    .restrict_to(FieldAudience::Owner)
    .writer(metrics::write_organic_metrics),
    PostField::requested_field(
        "promoted_metrics",
        JsonFieldType::Object(ORGANIC_METRICS),
        "Figures for the author, of promotion only, for 30 days.",
    )
    .restrict_to(FieldAudience::Owner)
    .writer(metrics::write_promoted_metrics),
    PostField::requested_field("context_annotations", JsonFieldType::List(&CONTEXT), "What it is about.")
        .writer(fields::write_context_annotations),
    PostField::requested_field(
        "geo",
        JsonFieldType::Object(&[
            JsonMember::new("place_id", JsonFieldType::Text),
            JsonMember::new("coordinates", POINT),
        ]),
        "Where it was written.",
    )
    .writer(fields::write_geo),
    PostField::requested_field("lang", JsonFieldType::Text, "Its language, BCP 47; `und` when unknown.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.post.lang)),
    PostField::requested_field("possibly_sensitive", JsonFieldType::Bool, "Marked as possibly sensitive.")
        .writer(|out, ctx| out.write_bool(ctx.post.possibly_sensitive)),
    PostField::requested_field("paid_partnership", JsonFieldType::Bool, "Marked as a paid partnership.")
        .writer(|out, ctx| out.write_bool(ctx.post.paid_partnership)),
    PostField::requested_field("reply_settings", JsonFieldType::OneOf(REPLY_SETTINGS), "Who may reply.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.post.reply_settings)),
    PostField::requested_field(
        "edit_controls",
        JsonFieldType::Object(&[
            JsonMember::new("edits_remaining", JsonFieldType::Int),
            JsonMember::new("is_edit_eligible", JsonFieldType::Bool),
            JsonMember::new("editable_until", JsonFieldType::Time),
        ]),
        "Whether, how often and until when it can be edited.",
    )
    .writer(fields::write_edit_controls),
    PostField::requested_field("community_id", JsonFieldType::Id, "The community it was posted to.")
        .writer(|out, ctx| out.write_option(ctx.post.community_id, JsonWriter::write_id)),
    PostField::requested_field(
        "display_text_range",
        JsonFieldType::List(&JsonFieldType::Int),
        "The part of the text to display, in code points.",
    )
    .writer(text::write_display_text_range),
    PostField::requested_field("source", JsonFieldType::Text, "Accepted and never sent."),
    PostField::requested_field(
        "withheld",
        JsonFieldType::Object(&[
            JsonMember::new("copyright", JsonFieldType::Bool),
            JsonMember::new("country_codes", JsonFieldType::List(&JsonFieldType::Text)),
            JsonMember::new("scope", JsonFieldType::OneOf(&["post", "tweet", "user"])),
        ]),
        "Where it is withheld.",
    )
    .writer(fields::write_withheld),
    PostField::requested_field(
        "scopes",
        JsonFieldType::Object(&[JsonMember::new("followers", JsonFieldType::Bool)]),
        "Whom it was made for.",
    )
    .writer(fields::write_scopes),
    PostField::requested_field("card_uri", JsonFieldType::Text, "The card it carries.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.post.card_uri)),
    PostField::requested_field("media_metadata", JsonFieldType::List(&MEDIA_METADATA), "Descriptions of its media.")
        .writer(fields::write_media_metadata),
    PostField::requested_field("article", JsonFieldType::Any, "Accepted; there are no articles."),
    PostField::requested_field("article_title", JsonFieldType::Any, "Accepted; there are no articles."),
    PostField::requested_field(
        "matched_media_notes",
        JsonFieldType::List(&JsonFieldType::Any),
        "Accepted; found by the search for posts to note.",
    ),
    PostField::requested_field(
        "note_request_suggestions",
        JsonFieldType::List(&JsonFieldType::Any),
        "Accepted; found by the search for posts to note.",
    ),
    PostField::requested_field(
        "suggested_source_links",
        JsonFieldType::List(&JsonFieldType::Text),
        "Accepted; found by the search for posts to note.",
    ),
    PostField::requested_field(
        "suggested_source_links_with_counts",
        JsonFieldType::List(&SOURCE_LINK),
        "Accepted; found by the search for posts to note.",
    ),
];

const EXPANSIONS: &[PostExpansion] = &[
    PostExpansion::new("author_id", "author_id").resolver(expansions::push_author),
    PostExpansion::new("username", "username").post_only().resolver(expansions::push_author),
    PostExpansion::new("in_reply_to_user_id", "in_reply_to_user_id").resolver(expansions::push_replied_to_user),
    PostExpansion::new("entities.mentions.username", "entities").resolver(expansions::push_mentions),
    PostExpansion::new("entities.note.mentions.username", "note_post")
        .tweet_only()
        .resolver(expansions::push_note_mentions),
    PostExpansion::new("referenced_posts", "referenced_posts")
        .tweet_name("referenced_tweets.id")
        .resolver(expansions::push_referenced_posts),
    PostExpansion::new("referenced_tweets.id.author_id", "author_id")
        .tweet_only()
        .start_at_references()
        .resolver(expansions::push_author),
    PostExpansion::new("referenced_tweets.id.attachments.media_keys", "attachments")
        .tweet_only()
        .start_at_references()
        .resolver(expansions::push_media),
    PostExpansion::new("edit_history_post_ids", "edit_history_post_ids")
        .tweet_name("edit_history_tweet_ids")
        .resolver(expansions::push_versions),
    PostExpansion::new("attachments.media_keys", "attachments").resolver(expansions::push_media),
    PostExpansion::new("attachments.media_source_tweet", "attachments"),
    PostExpansion::new("attachments.poll_ids", "attachments").resolver(expansions::push_poll),
    PostExpansion::new("geo.place_id", "geo").resolver(expansions::push_place),
    PostExpansion::new("article.cover_media", "article"),
    PostExpansion::new("article.media_entities", "article"),
];

fn referenced_posts(post: &Post) -> impl Iterator<Item = (&'static str, PostId)> {
    let kinds =
        [("retweeted", post.repost_of_id), ("quoted", post.quoted_post_id), ("replied_to", post.in_reply_to_post_id)];
    kinds.into_iter().filter_map(|(kind, id)| Some((kind, id?)))
}

pub(crate) fn media_keys(post: &Post) -> impl Iterator<Item = &str> {
    post.media_keys.split(',').filter(|key| !key.is_empty())
}

/// The number in the URI of the post's own card.
pub(crate) fn card_id(post: &Post) -> Option<i64> {
    let own = post.card_uri.strip_prefix("card://");
    own.filter(|_| post.repost_of_id.is_none())?.parse().ok()
}

pub(crate) fn mentioned_users(entities: &str) -> Vec<UserId> {
    let parsed: Option<serde_json::Value> = serde_json::from_str(entities).ok();
    let mentions = parsed.as_ref().and_then(|parsed| parsed.get("mentions")?.as_array());
    let ids = mentions.into_iter().flatten();
    ids.filter_map(|mention| UserId::parse(mention.get("id")?.as_str()?)).collect()
}
