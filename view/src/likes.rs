//! Likes as streams show them: the post, without the user (contract core §9.4).

use base::Fault;
use network::visibility::{Viewer, Visibility, profile_visibility};
use store::posts::{self as stored, Post};
use store::{Tx, users};

use crate::field_schema::{Expansion, ExpansionResolver, FieldDefinition, FieldWriter, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::loader::{ExpansionTarget, LoadedObjects};
use crate::posts::media_keys;
use crate::response::ResponseRenderer;
use crate::{FieldSelection, LikeEvent, ObjectKind, RenderOptions, ResponsePayload};

#[derive(Clone, Copy)]
pub(crate) struct LikeRenderContext<'a> {
    like: &'a LikeEvent,
    post: &'a Post,
}

pub(crate) const FIELDS: &[FieldDefinition] = &[
    FieldDefinition::default_field("id", JsonFieldType::Text, "Id of the like.")
        .like_writer(|out, shown| out.write_id(shown.like.id)),
    FieldDefinition::default_field("created_at", JsonFieldType::Time, "When it was given.")
        .like_writer(|out, shown| out.write_time(shown.like.at)),
    FieldDefinition::default_field("liked_post_id", JsonFieldType::Id, "What is liked.")
        .tweet_name("liked_tweet_id")
        .like_writer(|out, shown| out.write_id(shown.like.post.get())),
    FieldDefinition::default_field("tweet_author_id", JsonFieldType::Id, "Whose post is liked.")
        .like_writer(|out, shown| out.write_id(shown.like.author.get())),
    FieldDefinition::default_field("timestamp_ms", JsonFieldType::Int, "When it was given, in milliseconds.")
        .like_writer(|out, shown| out.write_int(shown.like.at.ms())),
    FieldDefinition::expansion_field("liked_post_author_id", JsonFieldType::Id, "Whose post is liked.")
        .tweet_name("liked_tweet_author_id")
        .like_writer(|out, shown| out.write_id(shown.like.author.get())),
    FieldDefinition::expansion_field(
        "attachments",
        JsonFieldType::Object(&[JsonMember::new("media_keys", JsonFieldType::List(&JsonFieldType::Text))]),
        "Media of the post.",
    )
    .absent_for_some()
    .like_writer(write_attachments),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("liked_post_id", ObjectKind::Post, "liked_post_id")
        .tweet_name("liked_tweet_id")
        .like_resolver(|shown, to| to.push(ExpansionTarget::Post(shown.like.post))),
    Expansion::new("liked_post_author_id", ObjectKind::User, "liked_post_author_id")
        .tweet_name("liked_tweet_author_id")
        .like_resolver(|shown, to| to.push(ExpansionTarget::User(shown.like.author))),
    Expansion::new("attachments.media_keys", ObjectKind::Media, "attachments")
        .like_resolver(|shown, to| to.extend(media_keys(shown.post).map(ExpansionTarget::Media))),
];

fn write_attachments(out: &mut JsonWriter, shown: LikeRenderContext<'_>) {
    if !shown.post.media_keys.is_empty() {
        out.write_object(|out| {
            out.write_plain_member("media_keys", |out| {
                out.write_array(media_keys(shown.post), JsonWriter::write_text);
            });
        });
    }
}

/// Renders a like; `None` unless both the post and the user are public.
pub fn render_like(
    tx: &mut Tx<'_>,
    like: &LikeEvent,
    selection: &FieldSelection,
    options: RenderOptions,
) -> Result<Option<ResponsePayload>, Fault> {
    let open = users::find_by_id(tx, like.user)?
        .is_some_and(|user| profile_visibility(&user) == Visibility::Visible && !user.protected);
    let Some(post) = stored::find_by_id(tx, like.post)?.filter(|_| open) else {
        return Ok(None);
    };
    let (viewer, alone) = (Viewer::anonymous(), FieldSelection::public_fields_only(ObjectKind::Post));
    let objects = LoadedObjects::load_for_posts(tx, viewer, vec![post.clone()], &alone)?;
    if objects.post_visibility(&post) != Visibility::Visible {
        return Ok(None);
    }
    let ctx = LikeRenderContext { like, post: &post };
    let mut targets = Vec::new();
    for expansion in selection.requested_expansions() {
        if let ExpansionResolver::Like(resolve) = expansion.resolver {
            resolve(ctx, &mut targets);
        }
    }
    let objects = LoadedObjects::load_for_targets(tx, viewer, Vec::new(), targets, selection)?;
    let renderer = ResponseRenderer { objects: &objects, selection, options };
    let lead = |resolve, like, to: &mut Vec<_>| {
        if let ExpansionResolver::Like(resolve) = resolve {
            resolve(like, to);
        }
    };
    let response = renderer.render_response(&[ctx], Vec::new(), 256, lead, write);
    Ok(Some(response.into_single()))
}

fn write(out: &mut JsonWriter, shown: LikeRenderContext<'_>, mask: u64) {
    out.write_fields(FIELDS, mask, |out, write| {
        if let FieldWriter::Like(write) = write {
            write(out, shown);
        }
    });
}
