//! Where a post's expansions lead.

use super::entities::of_sent;
use super::{PostFacts, media_keys, mentioned, references};
use crate::world::Target;

pub(super) fn author<'a>(facts: PostFacts<'a>, to: &mut Vec<Target<'a>>) {
    to.push(Target::User(facts.post.author_id));
}

pub(super) fn replied_to_user<'a>(facts: PostFacts<'a>, to: &mut Vec<Target<'a>>) {
    to.extend(facts.post.in_reply_to_user_id.map(Target::User));
}

/// Whom the text as it is sent mentions.
pub(super) fn mentions<'a>(facts: PostFacts<'a>, to: &mut Vec<Target<'a>>) {
    // Before the author's handle is known, a repost's text is not: all that it can mention.
    if let Some(original) = facts.original().filter(|facts| facts.author().is_none()) {
        to.push(Target::User(original.post.author_id));
        let mentioned = mentioned(&original.post.entities).into_iter();
        to.extend(mentioned.map(Target::User));
        return;
    }
    to.extend(mentioned(&of_sent(facts)).into_iter().map(Target::User));
}

/// Whom the whole of a long post mentions.
pub(super) fn note_mentions<'a>(facts: PostFacts<'a>, to: &mut Vec<Target<'a>>) {
    if facts.is_long() {
        to.extend(
            mentioned(&facts.post.entities)
                .into_iter()
                .map(Target::User),
        );
    }
}

pub(super) fn referenced<'a>(facts: PostFacts<'a>, to: &mut Vec<Target<'a>>) {
    to.extend(references(facts.post).map(|(_, id)| Target::Post(id)));
}

/// The other versions; the post itself is there already.
pub(super) fn versions<'a>(facts: PostFacts<'a>, to: &mut Vec<Target<'a>>) {
    let versions = facts.world.versions_of(facts.post).unwrap_or_default();
    to.extend(versions.iter().copied().map(Target::Post));
}

pub(super) fn poll<'a>(facts: PostFacts<'a>, to: &mut Vec<Target<'a>>) {
    to.extend(facts.post.poll_id.map(Target::Poll));
}

pub(super) fn place<'a>(facts: PostFacts<'a>, to: &mut Vec<Target<'a>>) {
    to.extend(facts.post.place_id.as_deref().map(Target::Place));
}

pub(super) fn media<'a>(facts: PostFacts<'a>, to: &mut Vec<Target<'a>>) {
    to.extend(media_keys(facts.post).map(Target::Media));
}
