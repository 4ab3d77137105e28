//! Writers for simple post fields.

use base::VocabularyWord;
use network::posts::{EDIT_WINDOW_MS, is_editable_kind};
use serde_json::Value;

use super::entities::sent_entities;
use super::text::text_without_link;
use super::{PostRenderContext, media_keys, referenced_posts};
use crate::json_writer::JsonWriter;
use crate::media::id_from_media_key;
use crate::position_shifts::escape_entities;

/// The scope of a withheld notice about the post.
const POST_SCOPE: VocabularyWord = VocabularyWord::new("post", "tweet");

pub(super) fn write_edit_history(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let alone = [ctx.post.id];
    let versions = ctx.objects.post_versions(ctx.post).unwrap_or(&alone);
    out.write_array(versions, |out, id| out.write_id(id.get()));
}

pub(super) fn write_username(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    if let Some(author) = ctx.author() {
        out.write_nonempty_text(&author.username);
    }
}

pub(super) fn write_referenced_posts(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    if referenced_posts(ctx.post).next().is_none() {
        return;
    }
    out.write_array(referenced_posts(ctx.post), |out, (kind, id)| {
        out.write_object(|out| {
            out.write_plain_member("type", |out| out.write_nonempty_text(kind));
            out.write_plain_member("id", |out| out.write_id(id.get()));
        });
    });
}

pub(super) fn write_attachments(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let post = ctx.post;
    if post.media_keys.is_empty() && post.poll_id.is_none() {
        return;
    }
    out.write_object(|out| {
        if !post.media_keys.is_empty() {
            out.write_plain_member("media_keys", |out| {
                out.write_array(media_keys(post), JsonWriter::write_text);
            });
        }
        if let Some(poll) = post.poll_id {
            out.write_plain_member("poll_ids", |out| out.write_array([poll], JsonWriter::write_id));
        }
    });
}

/// Writes the entities of the rendered text.
pub(super) fn write_entities(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    // No entity begins after the link at the end.
    out.write_raw(&escape_entities(sent_entities(ctx), &text_without_link(ctx)));
}

/// A repost is about what the original is about.
pub(super) fn write_context_annotations(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let post = ctx.original_post().map_or(ctx.post, |original| original.post);
    out.write_raw(&post.context_annotations);
}

pub(super) fn write_geo(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let place = ctx.post.place_id.as_deref().unwrap_or_default();
    if place.is_empty() && ctx.post.geo.is_empty() {
        return;
    }
    out.write_object(|out| {
        out.write_plain_member("place_id", |out| out.write_nonempty_text(place));
        out.write_plain_member("coordinates", |out| out.write_raw(&ctx.post.geo));
    });
}

pub(super) fn write_edit_controls(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let post = ctx.post;
    let first = post.edit_root_id.unwrap_or(post.id).created_at();
    out.write_object(|out| {
        out.write_plain_member("edits_remaining", |out| {
            out.write_int(post.edits_remaining);
        });
        out.write_plain_member("is_edit_eligible", |out| {
            out.write_bool(is_editable_kind(post));
        });
        out.write_plain_member("editable_until", |out| {
            out.write_time(first.plus_ms(EDIT_WINDOW_MS));
        });
    });
}

pub(super) fn write_withheld(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let Ok(Value::Object(mut notice)) = serde_json::from_str(&ctx.post.withheld) else {
        return;
    };
    // Stored in either vocabulary; a notice about the whole account has the scope `user`.
    if let Some(Value::String(scope)) = notice.get_mut("scope")
        && POST_SCOPE.matches(scope)
    {
        POST_SCOPE.name_in(out.vocabulary()).clone_into(scope);
    }
    out.write_raw(&Value::Object(notice).to_string());
}

pub(super) fn write_scopes(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    if ctx.post.followers_only {
        out.write_object(|out| out.write_plain_member("followers", |out| out.write_bool(true)));
    }
}

pub(super) fn write_media_metadata(out: &mut JsonWriter, ctx: PostRenderContext<'_>) {
    let media = || {
        let ids = media_keys(ctx.post).filter_map(id_from_media_key);
        let captions = &ctx.objects.media_captions;
        let all = ids.filter_map(|id| ctx.objects.media.get(id)).map(|media| (media, captions.get(&media.id)));
        all.filter(|(media, caption)| caption.is_some() || !media.alt_text.is_empty())
    };
    if media().next().is_none() {
        return;
    }
    out.write_array(media(), |out, (media, caption)| {
        out.write_object(|out| {
            out.write_plain_member("media_key", |out| out.write_nonempty_text(&media.media_key));
            out.write_plain_member("alt_text", |out| out.write_nonempty_text(&media.alt_text));
            if let Some(caption) = caption {
                out.write_plain_member("title", |out| out.write_nonempty_text(&caption.title));
                out.write_plain_member("description", |out| out.write_nonempty_text(&caption.description));
            }
        });
    });
}
