//! Resolves the expansions of posts.

use super::entities::sent_entities;
use super::{PostRenderContext, media_keys, mentioned_users, referenced_posts, short_text};
use crate::field_schema::ExpansionTarget;

pub(super) fn push_author<'a>(ctx: PostRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    targets.push(ExpansionTarget::User(ctx.post.author_id));
}

pub(super) fn push_replied_to_user<'a>(ctx: PostRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    targets.extend(ctx.post.in_reply_to_user_id.map(ExpansionTarget::User));
}

/// Users mentioned in the rendered text.
pub(super) fn push_mentions<'a>(ctx: PostRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    // Until the author of the original is loaded, the rendered text is unknown: collect all possible mentions.
    if let Some(original) = ctx.original_post().filter(|ctx| ctx.author().is_none()) {
        targets.push(ExpansionTarget::User(original.post.author_id));
        let mentioned = mentioned_users(&original.post.entities).into_iter();
        targets.extend(mentioned.map(ExpansionTarget::User));
        return;
    }
    targets.extend(mentioned_users(&sent_entities(ctx)).into_iter().map(ExpansionTarget::User));
}

/// Users mentioned in the full text of a long post.
pub(super) fn push_note_mentions<'a>(ctx: PostRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    // Short texts are computed after what they expand to is loaded.
    if short_text(ctx.post).is_some() {
        targets.extend(mentioned_users(&ctx.post.entities).into_iter().map(ExpansionTarget::User));
    }
}

pub(super) fn push_referenced_posts<'a>(ctx: PostRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    targets.extend(referenced_posts(ctx.post).map(|(_, id)| ExpansionTarget::Post(id)));
}

/// The other versions of the post.
pub(super) fn push_versions<'a>(ctx: PostRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    let versions = ctx.objects.post_versions(ctx.post).unwrap_or_default();
    targets.extend(versions.iter().copied().map(ExpansionTarget::Post));
}

pub(super) fn push_poll<'a>(ctx: PostRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    targets.extend(ctx.post.poll_id.map(ExpansionTarget::Poll));
}

pub(super) fn push_place<'a>(ctx: PostRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    targets.extend(ctx.post.place_id.as_deref().map(ExpansionTarget::Place));
}

pub(super) fn push_media<'a>(ctx: PostRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    targets.extend(media_keys(ctx.post).map(ExpansionTarget::Media));
}
