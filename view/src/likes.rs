//! Likes as streams show them: the post, without the user (contract core §9.4).

use base::{Fault, VocabularyWord};
use network::visibility::{Viewer, Visibility, profile_visibility};
use store::posts::{self as stored, Post};
use store::{Tx, users};

use crate::field_schema::{ExpansionTarget, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::loaded_objects::LoadedObjects;
use crate::object::{ObjectExpansion, ObjectField, ObjectKind, RenderedObject};
use crate::posts::media_keys;
use crate::response::ResponseRenderer;
use crate::{FieldSelection, LikeEvent, RenderRequest, ResponsePayload};

#[derive(Clone, Copy)]
pub(crate) struct LikeRenderContext<'a> {
    like: &'a LikeEvent,
    post: &'a Post,
}

type LikeField = ObjectField<LikeEvent>;
type LikeExpansion = ObjectExpansion<LikeEvent>;

impl RenderedObject for LikeEvent {
    type Context<'a> = LikeRenderContext<'a>;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("Like");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("like.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
    const EXPANSIONS: &'static [ObjectExpansion<Self>] = EXPANSIONS;
}

impl ObjectKind {
    pub const LIKE: Self = LikeEvent::KIND;
}

const FIELDS: &[LikeField] = &[
    LikeField::default_field("id", JsonFieldType::Text, "Id of the like.")
        .writer(|out, shown| out.write_id(shown.like.id)),
    LikeField::default_field("created_at", JsonFieldType::Time, "When it was given.")
        .writer(|out, shown| out.write_time(shown.like.at)),
    LikeField::default_field("liked_tweet_id", JsonFieldType::Id, "What is liked.")
        .writer(|out, shown| out.write_id(shown.like.post.get())),
    LikeField::default_field("tweet_author_id", JsonFieldType::Id, "Whose post is liked.")
        .writer(|out, shown| out.write_id(shown.like.author.get())),
    LikeField::default_field("timestamp_ms", JsonFieldType::Int, "When it was given, in milliseconds.")
        .writer(|out, shown| out.write_int(shown.like.at.ms())),
    LikeField::requested_field("liked_tweet_author_id", JsonFieldType::Id, "Whose post is liked.")
        .writer(|out, shown| out.write_id(shown.like.author.get())),
    LikeField::expansion_field(
        "attachments",
        JsonFieldType::Object(&[JsonMember::new("media_keys", JsonFieldType::List(&JsonFieldType::Text))]),
        "Media of the post.",
    )
    .absent_for_some()
    .writer(write_attachments),
    LikeField::requested_field(
        "attachments_media_keys",
        JsonFieldType::List(&JsonFieldType::Text),
        "Keys of the media of the post.",
    )
    .absent_for_some()
    .writer(write_media_keys),
];

const EXPANSIONS: &[LikeExpansion] = &[
    LikeExpansion::new("liked_tweet_id", "liked_tweet_id")
        .resolver(|shown, to| to.push(ExpansionTarget::Post(shown.like.post))),
    LikeExpansion::new("liked_tweet_author_id", "liked_tweet_author_id")
        .resolver(|shown, to| to.push(ExpansionTarget::User(shown.like.author))),
    LikeExpansion::new("attachments.media_keys", "attachments")
        .resolver(|shown, to| to.extend(media_keys(shown.post).map(ExpansionTarget::Media))),
];

fn write_attachments(out: &mut JsonWriter, shown: LikeRenderContext<'_>) {
    if !shown.post.media_keys.is_empty() {
        out.write_object(|out| out.write_plain_member("media_keys", |out| write_media_keys(out, shown)));
    }
}

fn write_media_keys(out: &mut JsonWriter, shown: LikeRenderContext<'_>) {
    if !shown.post.media_keys.is_empty() {
        out.write_array(media_keys(shown.post), JsonWriter::write_text);
    }
}

/// Renders a like; `None` unless both the post and the user are public.
pub fn render_like(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    like: &LikeEvent,
) -> Result<Option<ResponsePayload>, Fault> {
    let open = users::find_by_id(tx, like.user)?
        .is_some_and(|user| profile_visibility(&user) == Visibility::Visible && !user.protected);
    let Some(post) = stored::find_by_id(tx, like.post)?.filter(|_| open) else {
        return Ok(None);
    };
    let (viewer, alone) = (Viewer::anonymous(), FieldSelection::public_fields_only(ObjectKind::POST));
    let objects = LoadedObjects::load_for_posts(tx, viewer, vec![post.clone()], &alone)?;
    if objects.post_visibility(&post) != Visibility::Visible {
        return Ok(None);
    }
    let ctx = LikeRenderContext { like, post: &post };
    let roots = std::iter::once(ctx);
    let objects = LoadedObjects::load_for_objects::<LikeEvent>(tx, viewer, Vec::new(), roots, &request.selection)?;
    let renderer = ResponseRenderer { objects: &objects, request };
    let response = renderer.render_response::<LikeEvent>(&[ctx], Vec::new(), 256);
    Ok(Some(response.into_single()))
}
