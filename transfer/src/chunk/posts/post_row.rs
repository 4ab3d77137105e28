//! Builds the row of a post from the imported post and the database.

use base::{AppId, Fault, PostId, Time, UserId};
use store::Tx;
use store::imports::ImportedPostSummary;
use store::posts::{Post, PostState};

use crate::chunk::batch_state::ImportBatchState;
use crate::chunk::user_resolver;
use crate::reader::PreparedPost;
use crate::sanitize;

const MAX_EDITS: i64 = 5;
const REPLY_SETTINGS: &[&str] = &["following", "mentionedUsers", "subscribers", "verified"];

#[derive(Default)]
pub(super) struct PostReferences {
    pub(super) parent: Option<ImportedPostSummary>,
    pub(super) addressee: Option<UserId>,
    pub(super) quoted: Option<PostId>,
    pub(super) source: Option<PostId>,
    pub(super) root: Option<PostId>,
    /// If that version is known.
    pub(super) root_conversation: Option<PostId>,
    /// Whether a later version exists.
    pub(super) superseded: bool,
}

fn is_place_id(text: &str) -> bool {
    network::places::parse_place_id(text).is_some()
}

/// Of an archive, which does not say so if it is another service's.
fn is_in_closed_community(tx: &mut Tx<'_>, batch: &ImportBatchState, community: Option<i64>) -> Result<bool, Fault> {
    let Some(id) = community.filter(|_| batch.is_archive) else {
        return Ok(false);
    };
    Ok(store::communities::find_by_id(tx, id)?.is_some_and(|found| network::communities::is_closed(&found)))
}

/// The row, and the users in whose mentions it appears.
pub(super) fn build_post_row(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    imported: &PreparedPost,
    author: UserId,
    references: &PostReferences,
    media_keys: String,
) -> Result<(Post, Vec<UserId>), Fault> {
    let post = &imported.post;
    let id = PostId::new(post.id);
    let known = resolve_mentions(tx, batch, imported)?;
    let is_reply = references.parent.is_some() || references.addressee.is_some();
    let composed = imported.draft.compose(&known, is_reply, "und");
    let parents = references.parent.map(|parent| parent.conversation_id);
    let conversation = parents.or(references.root_conversation).or(references.root);
    let mut mentioned: Vec<UserId> = composed.mentioned;
    let mentions = post.mentions.iter().filter_map(|mention| mention.id);
    mentioned.extend(mentions.filter_map(|id| batch.find_user(Some(id))));
    mentioned.extend(references.addressee);
    mentioned.sort_unstable();
    mentioned.dedup();
    mentioned.retain(|user| *user != author);
    let earlier = post.edit_history.iter().filter(|one| **one < post.id);
    let earlier = i64::try_from(earlier.count()).unwrap_or(MAX_EDITS);
    let settings = post.reply_settings.as_deref();
    let settings = settings.filter(|settings| REPLY_SETTINGS.contains(settings));
    let row = Post {
        state: if references.superseded { PostState::Superseded } else { PostState::Live },
        text: composed.text,
        lang: imported.lang.clone(),
        conversation_id: conversation.unwrap_or(id),
        in_reply_to_post_id: references.parent.map(|parent| parent.id),
        in_reply_to_user_id: references.addressee,
        quoted_post_id: references.quoted,
        repost_of_id: references.source,
        edit_root_id: references.root,
        edits_remaining: MAX_EDITS.saturating_sub(earlier).max(0),
        community_id: post.community_id,
        reply_settings: settings.unwrap_or("everyone").to_owned(),
        nullcast: post.nullcast,
        followers_only: post.followers_only,
        possibly_sensitive: post.possibly_sensitive,
        paid_partnership: post.paid_partnership,
        made_with_ai: post.made_with_ai,
        entities: composed.entities,
        short_entities: composed.short_entities,
        display_start: composed.display_start,
        display_end: composed.display_end,
        media_keys,
        place_id: post.place.clone().filter(|place| is_place_id(place)),
        geo: sanitize::valid_json_or_empty(&post.geo).to_owned(),
        card_uri: post.card.clone(),
        withheld: sanitize::valid_json_or_empty(&post.withheld).to_owned(),
        app_id: post.app.map(AppId::new),
        unshared: post.unshared,
        members_only: post.members_only || is_in_closed_community(tx, batch, post.community_id)?,
        ..Post::placeholder(id, author, Time::from_ms(post.created_at_ms))
    };
    Ok((row, mentioned))
}

/// The users mentioned in the text: by the source's ids, or else by local handles.
pub(super) fn resolve_mentions(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    imported: &PreparedPost,
) -> Result<Vec<(String, UserId)>, Fault> {
    let mut known: Vec<(String, UserId)> = Vec::new();
    for name in imported.draft.mentioned_usernames() {
        let same = |handle: &str| handle.eq_ignore_ascii_case(name);
        if known.iter().any(|(handle, _)| same(handle)) {
            continue;
        }
        let mut mentions = imported.post.mentions.iter();
        let source = mentions.find(|mention| same(&mention.handle) && mention.id.is_some());
        let user = match source {
            Some(mention) => batch.find_user(mention.id),
            None => user_resolver::find_by_handle(tx, batch, name)?,
        };
        known.extend(user.map(|user| (name.to_owned(), user)));
    }
    Ok(known)
}
