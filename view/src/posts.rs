//! Post fields and expansions.

mod entities;
mod expansions;
mod fields;
mod metrics;
mod text;

use base::{PostId, UserId};
use network::visibility::Visibility;
use store::posts::Post;
use store::users::User;

use crate::ObjectKind;
use crate::field_schema::{Expansion, FieldAudience, FieldDefinition, FieldWriter, JsonFieldType, JsonMember};
use crate::field_selection::audience_mask;
use crate::json_writer::JsonWriter;
use crate::loader::LoadedObjects;
use crate::users::ENTITIES;

pub(crate) use entities::sent_entities;
pub(crate) use metrics::reject_private_metrics;
pub(crate) use text::{new_post_text, sent_text, short_text};

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

pub(crate) fn write(out: &mut JsonWriter, ctx: PostRenderContext<'_>, mask: u64) {
    out.write_fields(FIELDS, mask, |out, write| {
        if let FieldWriter::Post(write) = write {
            write(out, ctx);
        }
    });
}

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
]);

const SOURCE_LINK: JsonFieldType =
    JsonFieldType::Object(&[JsonMember::new("url", JsonFieldType::Text), JsonMember::new("count", JsonFieldType::Int)]);

pub(crate) const FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Id, "Id of the post.").post_writer(fields::write_id),
    FieldDefinition::default_field(
        "text",
        JsonFieldType::Text,
        "The text, `&`, `<` and `>` escaped; of a long post its first part, of a repost `RT @user: …`.",
    )
    .post_writer(text::write_text),
    FieldDefinition::default_field(
        "edit_history_post_ids",
        JsonFieldType::List(&JsonFieldType::Id),
        "Every version of the post, oldest first.",
    )
    .tweet_name("edit_history_tweet_ids")
    .post_writer(fields::write_edit_history),
    FieldDefinition::requested_field("author_id", JsonFieldType::Id, "Who wrote it.")
        .post_writer(fields::write_author_id),
    FieldDefinition::expansion_field("username", JsonFieldType::Text, "Handle of its author.")
        .post_writer(fields::write_username),
    FieldDefinition::requested_field("created_at", JsonFieldType::Time, "When it was written.")
        .post_writer(fields::write_created_at),
    FieldDefinition::requested_field(
        "conversation_id",
        JsonFieldType::Id,
        "The post that its conversation began with.",
    )
    .post_writer(fields::write_conversation_id),
    FieldDefinition::requested_field("in_reply_to_user_id", JsonFieldType::Id, "The author of the post it replies to.")
        .post_writer(fields::write_in_reply_to_user_id),
    FieldDefinition::requested_field(
        "referenced_posts",
        JsonFieldType::List(&REFERENCE),
        "The posts it reposts, quotes or replies to.",
    )
    .tweet_name("referenced_tweets")
    .post_writer(fields::write_referenced_posts),
    FieldDefinition::requested_field(
        "attachments",
        JsonFieldType::Object(&[
            JsonMember::new("media_keys", JsonFieldType::List(&JsonFieldType::Text)),
            JsonMember::new("poll_ids", JsonFieldType::List(&JsonFieldType::Id)),
        ]),
        "Media and polls it carries.",
    )
    .post_writer(fields::write_attachments),
    FieldDefinition::requested_field(
        "entities",
        JsonFieldType::Object(ENTITIES),
        "Links, hashtags, mentions and cashtags of the text; places count code points.",
    )
    .post_writer(fields::write_entities),
    FieldDefinition::requested_field(
        "note_post",
        JsonFieldType::Object(&[
            JsonMember::new("text", JsonFieldType::Text),
            JsonMember::new("entities", JsonFieldType::Object(ENTITIES)),
        ]),
        "The whole of a long post.",
    )
    .tweet_name("note_tweet")
    .post_writer(text::write_note_post),
    FieldDefinition::requested_field(
        "public_metrics",
        JsonFieldType::Object(PUBLIC_METRICS),
        "Figures that everyone may see.",
    )
    .post_writer(metrics::write_public_metrics),
    FieldDefinition::requested_field(
        "non_public_metrics",
        JsonFieldType::Object(NON_PUBLIC_METRICS),
        "Figures for the author, for 30 days.",
    )
    .restrict_to(FieldAudience::Owner)
    .post_writer(metrics::write_non_public_metrics),
    FieldDefinition::requested_field(
        "organic_metrics",
        JsonFieldType::Object(ORGANIC_METRICS),
        "Figures for the author, without promotion, for 30 days.",
    )
    .restrict_to(FieldAudience::Owner)
    .post_writer(metrics::write_organic_metrics),
    FieldDefinition::requested_field(
        "promoted_metrics",
        JsonFieldType::Object(ORGANIC_METRICS),
        "Figures for the author, of promotion only, for 30 days.",
    )
    .restrict_to(FieldAudience::Owner)
    .post_writer(metrics::write_promoted_metrics),
    FieldDefinition::requested_field("context_annotations", JsonFieldType::List(&CONTEXT), "What it is about."),
    FieldDefinition::requested_field(
        "geo",
        JsonFieldType::Object(&[
            JsonMember::new("place_id", JsonFieldType::Text),
            JsonMember::new("coordinates", POINT),
        ]),
        "Where it was written.",
    )
    .post_writer(fields::write_geo),
    FieldDefinition::requested_field("lang", JsonFieldType::Text, "Its language, BCP 47; `und` when unknown.")
        .post_writer(fields::write_lang),
    FieldDefinition::requested_field("possibly_sensitive", JsonFieldType::Bool, "Marked as possibly sensitive.")
        .post_writer(|out, ctx| out.write_bool(ctx.post.possibly_sensitive)),
    FieldDefinition::requested_field("paid_partnership", JsonFieldType::Bool, "Marked as a paid partnership.")
        .post_writer(|out, ctx| out.write_bool(ctx.post.paid_partnership)),
    FieldDefinition::requested_field("reply_settings", JsonFieldType::OneOf(REPLY_SETTINGS), "Who may reply.")
        .post_writer(fields::write_reply_settings),
    FieldDefinition::requested_field(
        "edit_controls",
        JsonFieldType::Object(&[
            JsonMember::new("edits_remaining", JsonFieldType::Int),
            JsonMember::new("is_edit_eligible", JsonFieldType::Bool),
            JsonMember::new("editable_until", JsonFieldType::Time),
        ]),
        "Whether, how often and until when it can be edited.",
    )
    .post_writer(fields::write_edit_controls),
    FieldDefinition::requested_field("community_id", JsonFieldType::Id, "The community it was posted to.")
        .post_writer(fields::write_community_id),
    FieldDefinition::requested_field(
        "display_text_range",
        JsonFieldType::List(&JsonFieldType::Int),
        "The part of the text to display, in code points.",
    )
    .post_writer(text::write_display_text_range),
    FieldDefinition::requested_field("source", JsonFieldType::Text, "Accepted and never sent."),
    FieldDefinition::requested_field(
        "withheld",
        JsonFieldType::Object(&[
            JsonMember::new("copyright", JsonFieldType::Bool),
            JsonMember::new("country_codes", JsonFieldType::List(&JsonFieldType::Text)),
            JsonMember::new("scope", JsonFieldType::OneOf(&["post", "tweet", "user"])),
        ]),
        "Where it is withheld.",
    )
    .post_writer(fields::write_withheld),
    FieldDefinition::requested_field(
        "scopes",
        JsonFieldType::Object(&[JsonMember::new("followers", JsonFieldType::Bool)]),
        "Whom it was made for.",
    )
    .post_writer(fields::write_scopes),
    FieldDefinition::requested_field("card_uri", JsonFieldType::Text, "The card it carries.")
        .post_writer(|out, ctx| out.write_nonempty_text(&ctx.post.card_uri)),
    FieldDefinition::requested_field(
        "media_metadata",
        JsonFieldType::List(&MEDIA_METADATA),
        "Descriptions of its media.",
    )
    .post_writer(fields::write_media_metadata),
    FieldDefinition::requested_field("article", JsonFieldType::Any, "Accepted; there are no articles."),
    FieldDefinition::requested_field("article_title", JsonFieldType::Any, "Accepted; there are no articles."),
    FieldDefinition::requested_field(
        "matched_media_notes",
        JsonFieldType::List(&JsonFieldType::Any),
        "Accepted; found by the search for posts to note.",
    ),
    FieldDefinition::requested_field(
        "note_request_suggestions",
        JsonFieldType::List(&JsonFieldType::Any),
        "Accepted; found by the search for posts to note.",
    ),
    FieldDefinition::requested_field(
        "suggested_source_links",
        JsonFieldType::List(&JsonFieldType::Text),
        "Accepted; found by the search for posts to note.",
    ),
    FieldDefinition::requested_field(
        "suggested_source_links_with_counts",
        JsonFieldType::List(&SOURCE_LINK),
        "Accepted; found by the search for posts to note.",
    ),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("author_id", ObjectKind::User, "author_id").post_resolver(expansions::push_author),
    Expansion::new("username", ObjectKind::User, "username").post_only().post_resolver(expansions::push_author),
    Expansion::new("in_reply_to_user_id", ObjectKind::User, "in_reply_to_user_id")
        .post_resolver(expansions::push_replied_to_user),
    Expansion::new("entities.mentions.username", ObjectKind::User, "entities").post_resolver(expansions::push_mentions),
    Expansion::new("entities.note.mentions.username", ObjectKind::User, "note_post")
        .tweet_only()
        .post_resolver(expansions::push_note_mentions),
    Expansion::new("referenced_posts", ObjectKind::Post, "referenced_posts")
        .tweet_name("referenced_tweets.id")
        .post_resolver(expansions::push_referenced_posts),
    Expansion::new("referenced_tweets.id.author_id", ObjectKind::User, "author_id")
        .tweet_only()
        .start_at_references()
        .post_resolver(expansions::push_author),
    Expansion::new("referenced_tweets.id.attachments.media_keys", ObjectKind::Media, "attachments")
        .tweet_only()
        .start_at_references()
        .post_resolver(expansions::push_media),
    Expansion::new("edit_history_post_ids", ObjectKind::Post, "edit_history_post_ids")
        .tweet_name("edit_history_tweet_ids")
        .post_resolver(expansions::push_versions),
    Expansion::new("attachments.media_keys", ObjectKind::Media, "attachments").post_resolver(expansions::push_media),
    Expansion::new("attachments.media_source_tweet", ObjectKind::Post, "attachments"),
    Expansion::new("attachments.poll_ids", ObjectKind::Poll, "attachments").post_resolver(expansions::push_poll),
    Expansion::new("geo.place_id", ObjectKind::Place, "geo").post_resolver(expansions::push_place),
    Expansion::new("article.cover_media", ObjectKind::Media, "article"),
    Expansion::new("article.media_entities", ObjectKind::Media, "article"),
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

fn mentioned_users(entities: &str) -> Vec<UserId> {
    let parsed: Option<serde_json::Value> = serde_json::from_str(entities).ok();
    let mentions = parsed.as_ref().and_then(|parsed| parsed.get("mentions")?.as_array());
    let ids = mentions.into_iter().flatten();
    ids.filter_map(|mention| UserId::parse(mention.get("id")?.as_str()?)).collect()
}
