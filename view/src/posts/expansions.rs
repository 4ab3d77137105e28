//! Resolves the expansions of posts.

use super::entities::sent_entities;
use super::{PostRenderContext, media_keys, mentioned_users, referenced_posts};
use crate::loader::ExpansionTarget;

pub(super) fn push_author<'a>(facts: PostRenderContext<'a>, to: &mut Vec<ExpansionTarget<'a>>) {
    to.push(ExpansionTarget::User(facts.post.author_id));
}

pub(super) fn push_replied_to_user<'a>(facts: PostRenderContext<'a>, to: &mut Vec<ExpansionTarget<'a>>) {
    to.extend(facts.post.in_reply_to_user_id.map(ExpansionTarget::User));
}

/// Users mentioned in the rendered text.
pub(super) fn push_mentions<'a>(facts: PostRenderContext<'a>, to: &mut Vec<ExpansionTarget<'a>>) {
    // Until the author of the original is loaded, the rendered text is unknown: collect all possible mentions.
    if let Some(original) = facts.original_post().filter(|facts| facts.author().is_none()) {
        to.push(ExpansionTarget::User(original.post.author_id));
        let mentioned = mentioned_users(&original.post.entities).into_iter();
        to.extend(mentioned.map(ExpansionTarget::User));
        return;
    }
    to.extend(
        mentioned_users(&sent_entities(facts))
            .into_iter()
            .map(ExpansionTarget::User),
    );
}

/// Users mentioned in the full text of a long post.
pub(super) fn push_note_mentions<'a>(facts: PostRenderContext<'a>, to: &mut Vec<ExpansionTarget<'a>>) {
    if facts.is_long() {
        to.extend(
            mentioned_users(&facts.post.entities)
                .into_iter()
                .map(ExpansionTarget::User),
        );
    }
}

pub(super) fn push_referenced_posts<'a>(facts: PostRenderContext<'a>, to: &mut Vec<ExpansionTarget<'a>>) {
    to.extend(referenced_posts(facts.post).map(|(_, id)| ExpansionTarget::Post(id)));
}

/// The other versions of the post.
pub(super) fn push_versions<'a>(facts: PostRenderContext<'a>, to: &mut Vec<ExpansionTarget<'a>>) {
    let versions = facts.objects.post_versions(facts.post).unwrap_or_default();
    to.extend(versions.iter().copied().map(ExpansionTarget::Post));
}

pub(super) fn push_poll<'a>(facts: PostRenderContext<'a>, to: &mut Vec<ExpansionTarget<'a>>) {
    to.extend(facts.post.poll_id.map(ExpansionTarget::Poll));
}

pub(super) fn push_place<'a>(facts: PostRenderContext<'a>, to: &mut Vec<ExpansionTarget<'a>>) {
    to.extend(facts.post.place_id.as_deref().map(ExpansionTarget::Place));
}

pub(super) fn push_media<'a>(facts: PostRenderContext<'a>, to: &mut Vec<ExpansionTarget<'a>>) {
    to.extend(media_keys(facts.post).map(ExpansionTarget::Media));
}
