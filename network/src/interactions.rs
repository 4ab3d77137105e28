//! What others did that concerns a member: mentions, replies, quotes, reposts, likes, follows and requests to follow.
//! It is read from the event log after the fact, so that it costs those who like or follow nothing.

use std::collections::{HashMap, HashSet};

use base::{Fault, PostId, UserId, sorted_distinct};
use store::event_log::{LogEvent, LogReader};
use store::graph::{self, RelationKind};
use store::interactions::{self, Interaction, InteractionKind};
use store::{Tx, posts, users};

use crate::activity::ActivityEntry;
use crate::muted_words::MutedWordFilter;
use crate::notification_settings::NotificationSettings;
use crate::visibility::{AuthorVisibilities, Viewer, Visibility, profile_visibility};

pub use store::interactions::{UnreadCounts, find_seen, find_seen_notice, mark_interactions_seen, mark_notices_seen};

pub const INTERACTIONS_READER: LogReader = LogReader::from_start("interactions");

/// The activity events that concern someone else than their actor.
const KINDS_BY_EVENT: [(&str, InteractionKind); 6] = [
    ("post.mention.create", InteractionKind::Mention),
    ("post.reply.create", InteractionKind::Reply),
    ("post.quote.create", InteractionKind::Quote),
    ("post.repost.create", InteractionKind::Repost),
    ("like.create", InteractionKind::Like),
    ("follow.follow", InteractionKind::Follow),
];

/// Records what log entries read by [`INTERACTIONS_READER`] tell.
pub fn record_interactions(tx: &mut Tx<'_>, events: &[LogEvent]) -> Result<(), Fault> {
    let found: Vec<Vec<Interaction>> = events.iter().map(list_interactions).collect();
    for interaction in found.iter().flatten() {
        for kind in [RelationKind::Block, RelationKind::Mute] {
            graph::prefetch_exists(tx, kind, interaction.user_id, interaction.actor_id)?;
        }
    }
    // The first write discards what was announced and not read yet.
    let mut ignored = Vec::new();
    for interaction in found.iter().flatten() {
        ignored.push(is_ignored(tx, interaction)?);
    }
    let mut ignored = ignored.into_iter();
    for (event, concerned) in events.iter().zip(found) {
        remove_undone(tx, event)?;
        for interaction in concerned {
            if ignored.next() == Some(false) {
                interactions::insert(tx, &interaction)?;
            }
        }
    }
    Ok(())
}

fn is_ignored(tx: &mut Tx<'_>, interaction: &Interaction) -> Result<bool, Fault> {
    let (user, actor) = (interaction.user_id, interaction.actor_id);
    Ok(graph::exists(tx, RelationKind::Block, user, actor)? || graph::exists(tx, RelationKind::Mute, user, actor)?)
}

fn list_interactions(event: &LogEvent) -> Vec<Interaction> {
    let actor_id = UserId::new(event.actor_id);
    let build = |user_id, kind, post_id| Interaction { seq: event.seq, user_id, at: event.at, kind, actor_id, post_id };
    if event.kind == "follow.request" {
        return vec![build(UserId::new(event.subject_id), InteractionKind::FollowRequest, None)];
    }
    let Some(entry) = ActivityEntry::parse(event) else { return Vec::new() };
    // A new version repeats what the first one told, and posts that are only advertised are nobody's conversation.
    if entry.number_field("previous_post_id").is_some() || entry.is_nullcast() {
        return Vec::new();
    }
    let mut found: Vec<Interaction> = Vec::new();
    for affected in entry.affected_users() {
        let kind = KINDS_BY_EVENT.iter().find(|(name, _)| *name == affected.kind.name).map(|(_, kind)| *kind);
        let Some(kind) = kind.filter(|_| affected.user != actor_id) else { continue };
        let post = (kind != InteractionKind::Follow).then(|| PostId::new(event.subject_id));
        // A reply to someone also mentions them.
        found.retain(|known| known.user_id != affected.user);
        found.push(build(affected.user, kind, post));
    }
    found
}

fn remove_undone(tx: &mut Tx<'_>, event: &LogEvent) -> Result<(), Fault> {
    let (actor, subject) = (UserId::new(event.actor_id), UserId::new(event.subject_id));
    match event.kind.as_str() {
        "like.delete" => interactions::delete_like(tx, actor, PostId::new(event.subject_id)),
        // An accepted request becomes a follow.
        "follow.follow" | "follow.unfollow" | "follow.withdraw" => interactions::delete_follows(tx, actor, subject),
        "follow.deny" => interactions::delete_follows(tx, subject, actor),
        "block.block" => {
            interactions::delete_by_actor(tx, subject, actor)?;
            interactions::delete_by_actor(tx, actor, subject)
        }
        _ => Ok(()),
    }
}

/// Of the newest 100 unread interactions, those that the page of notifications shows: neither what [`load_page`] leaves
/// out, nor of posts and accounts that the user may not see, nor with muted words.
pub fn count_unread(tx: &mut Tx<'_>, user: UserId) -> Result<UnreadCounts, Fault> {
    let counts = interactions::count_unread(tx, user)?;
    if counts.interactions == 0 {
        return Ok(counts);
    }
    let seen = find_seen(tx, user)?;
    let mut unread = interactions::list_before(tx, user, i64::MAX, counts.interactions)?;
    unread.retain(|one| one.seq > seen);
    remove_unlisted(tx, user, &mut unread)?;
    replace_reposts(tx, &mut unread)?;
    let posts: Vec<PostId> = unread.iter().filter_map(|one| one.post_id).collect();
    let posts = posts::find_by_ids(tx, &posts)?;
    let users = unread.iter().map(|one| one.actor_id).chain(posts.iter().map(|post| post.author_id));
    let users = users::find_by_ids(tx, &sorted_distinct(users))?;
    let mut visibilities = AuthorVisibilities::load(tx, Viewer::user(user), &users)?;
    visibilities.admit_posts(tx, &posts)?;
    let muted = MutedWordFilter::load(tx, user)?;
    let shown = posts.iter().filter(|post| visibilities.post_visibility(post) == Visibility::Visible);
    let shown: HashSet<PostId> = shown.filter(|post| !muted.hides(post)).map(|post| post.id).collect();
    let users = users.iter().filter(|user| profile_visibility(user) == Visibility::Visible);
    let users: HashSet<UserId> = users.map(|user| user.id).collect();
    unread.retain(|one| users.contains(&one.actor_id) && one.post_id.is_none_or(|id| shown.contains(&id)));
    let interactions = i64::try_from(unread.len()).unwrap_or(counts.interactions);
    Ok(UnreadCounts { interactions, ..counts })
}

/// Has reposts name what was reposted, which is what the page shows, and removes those that were undone.
pub fn replace_reposts(tx: &mut Tx<'_>, interactions: &mut Vec<Interaction>) -> Result<(), Fault> {
    let reposts = interactions.iter().filter(|one| one.kind == InteractionKind::Repost);
    let reposts: Vec<PostId> = reposts.filter_map(|one| one.post_id).collect();
    let live = posts::find_by_ids(tx, &reposts)?.into_iter().filter(|post| post.state == posts::PostState::Live);
    let originals: HashMap<PostId, PostId> = live.filter_map(|post| Some((post.id, post.repost_of_id?))).collect();
    interactions.retain_mut(|one| {
        if one.kind == InteractionKind::Repost {
            one.post_id = one.post_id.and_then(|id| originals.get(&id).copied());
        }
        one.kind != InteractionKind::Repost || one.post_id.is_some()
    });
    Ok(())
}

#[derive(Debug)]
pub struct InteractionPage {
    /// Newest first.
    pub interactions: Vec<Interaction>,
    /// The number of the newest one, also if it is left out.
    pub newest: Option<i64>,
    /// What the next page begins below, if there are more.
    pub next: Option<i64>,
}

/// At most `limit`, with a number below `below`. Of accounts that the user has muted since, requests to follow that
/// were answered or withdrawn, and what the user's settings leave out, there are none.
pub fn load_page(
    tx: &mut Tx<'_>,
    user: UserId,
    only_mentions: bool,
    below: i64,
    limit: i64,
) -> Result<InteractionPage, Fault> {
    let list = if only_mentions { interactions::list_mentions_before } else { interactions::list_before };
    let mut found = list(tx, user, below, limit.saturating_add(1))?;
    let size = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > size;
    found.truncate(size);
    let (newest, last) = (found.first().map(|one| one.seq), found.last().map(|one| one.seq));
    let next = last.filter(|_| has_more);
    remove_unlisted(tx, user, &mut found)?;
    Ok(InteractionPage { interactions: found, newest, next })
}

fn remove_unlisted(tx: &mut Tx<'_>, user: UserId, found: &mut Vec<Interaction>) -> Result<(), Fault> {
    let actors: Vec<UserId> = found.iter().map(|one| one.actor_id).collect();
    let muted = graph::filter_muted(tx, user, &actors)?;
    let requesting = graph::filter_sources(tx, RelationKind::Request, &actors, user)?;
    found.retain(|one| {
        let is_open = one.kind != InteractionKind::FollowRequest || requesting.contains(&one.actor_id);
        is_open && !muted.contains(&one.actor_id)
    });
    NotificationSettings::load(tx, user)?.remove_unwanted(tx, found)
}
