//! Pages of posts: an author's, a user's mentions, the home timeline, a list's.

use std::collections::{HashMap, HashSet};

use base::{Fault, PostId, UserId};
use store::lists::List;
use store::posts::{self, PageRange, Post, PostState};
use store::users::User;
use store::{Tx, graph};

use crate::home_timelines::{HomeTimelines, TimelineSource};
use crate::visibility::{self, AuthorVisibilities, Viewer, Visibility};

/// Whether a viewer may see a user's posts at all.
pub fn timeline_visibility(tx: &mut Tx<'_>, viewer: Viewer, user: &User) -> Result<Visibility, Fault> {
    let profile = visibility::profile_visibility(user);
    if profile != Visibility::Visible {
        return Ok(profile);
    }
    Ok(AuthorVisibilities::load(tx, viewer, Some(user))?.author_visibility(user.id))
}

/// A page, and what of the timeline was looked at for it.
#[derive(Clone, Debug)]
pub struct TimelinePage {
    /// Newest first. What the viewer may not see among them is left out where they are spoken.
    pub posts: Vec<Post>,
    /// The newest and the oldest id that were looked at; none when there was nothing.
    pub scanned_range: Option<(PostId, PostId)>,
    /// The timeline goes on in the direction in which it was read.
    pub more: bool,
}

/// A page of an author's posts. Whether they may be seen is asked before, by [`sight`].
pub fn load_author_page(tx: &mut Tx<'_>, _: Viewer, author: &User, span: &PageRange) -> Result<TimelinePage, Fault> {
    Ok(build_page(
        posts::page_by_author(tx, author.id, &extend_limit(span))?,
        span,
    ))
}

/// A page of the posts that mention a user. Those by people whom they mute or block are left out
/// for themselves; what others see tells nothing of it.
pub fn load_mentions_page(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    user: &User,
    span: &PageRange,
) -> Result<TimelinePage, Fault> {
    let mut page = build_page(posts::page_mentioning(tx, user.id, &extend_limit(span))?, span);
    if viewer.user == Some(user.id) {
        let authors: Vec<UserId> = page.posts.iter().map(|post| post.author_id).collect();
        let silenced = find_silenced_users(tx, user.id, &authors)?;
        page.posts.retain(|post| !silenced.contains(&post.author_id));
    }
    Ok(page)
}

/// Which of these users a reader mutes or blocks.
fn find_silenced_users(tx: &mut Tx<'_>, reader: UserId, users: &[UserId]) -> Result<HashSet<UserId>, Fault> {
    if users.is_empty() {
        return Ok(HashSet::new());
    }
    let mut silenced: HashSet<UserId> = graph::filter_muted(tx, reader, users)?.into_iter().collect();
    silenced.extend(graph::filter_blocked(tx, reader, users)?);
    Ok(silenced)
}

/// Leaves out reposts of posts by people whom the reader mutes or blocks.
fn remove_silenced_reposts(tx: &mut Tx<'_>, reader: UserId, posts: Vec<Post>) -> Result<Vec<Post>, Fault> {
    let originals: Vec<PostId> = posts.iter().filter_map(|post| post.repost_of_id).collect();
    if originals.is_empty() {
        return Ok(posts);
    }
    let originals = posts::find_by_ids(tx, &originals)?;
    let authors: Vec<UserId> = originals.iter().map(|post| post.author_id).collect();
    let silenced = find_silenced_users(tx, reader, &authors)?;
    let originals = originals.iter().filter(|post| silenced.contains(&post.author_id));
    let unwanted: HashSet<PostId> = originals.map(|post| post.id).collect();
    let wanted = |post: &Post| !post.repost_of_id.is_some_and(|id| unwanted.contains(&id));
    Ok(posts.into_iter().filter(wanted).collect())
}

/// A page of a reader's home timeline.
pub fn load_home_page(
    tx: &mut Tx<'_>,
    homes: &HomeTimelines,
    reader: &User,
    span: &PageRange,
) -> Result<TimelinePage, Fault> {
    load_merged_page(tx, homes, TimelineSource::Reader(reader), span)
}

/// A page of a list's timeline. Whether the list may be seen is asked before, by
/// [`crate::lists::seen`].
pub fn load_list_page(
    tx: &mut Tx<'_>,
    homes: &HomeTimelines,
    list: &List,
    span: &PageRange,
) -> Result<TimelinePage, Fault> {
    load_merged_page(tx, homes, TimelineSource::List(list), span)
}

fn load_merged_page(
    tx: &mut Tx<'_>,
    homes: &HomeTimelines,
    of: TimelineSource<'_>,
    span: &PageRange,
) -> Result<TimelinePage, Fault> {
    let wanted = usize::try_from(span.limit).unwrap_or(0);
    let mut rest = *span;
    let mut posts: Vec<Post> = Vec::with_capacity(wanted);
    let mut looked_at = None;
    loop {
        let (ids, more) = homes.page(tx, of, &rest)?;
        let (Some(newest), Some(oldest)) = (ids.first().copied(), ids.last().copied()) else {
            return Ok(TimelinePage {
                posts,
                scanned_range: looked_at,
                more: false,
            });
        };
        let found = order_by_ids(&ids, posts::find_by_ids(tx, &ids)?);
        let found = found.into_iter().filter(|post| is_included(post, &of, span));
        let mut found: Vec<Post> = found.collect();
        // What is on a list is there on purpose.
        if let TimelineSource::Reader(reader) = of {
            found = remove_silenced_reposts(tx, reader.id, found)?;
        }
        if span.ascending {
            rest.above = newest.get();
            found.append(&mut posts);
            posts = found;
        } else {
            rest.below = oldest.get();
            posts.append(&mut found);
        }
        let (above, below) = looked_at.unwrap_or((newest, oldest));
        looked_at = Some((above.max(newest), below.min(oldest)));
        if posts.len() >= wanted || !more {
            let surplus = posts.len() > wanted;
            let posts = trim_posts(posts, wanted, span.ascending);
            let looked_at = if surplus { first_and_last_id(&posts) } else { looked_at };
            return Ok(TimelinePage {
                posts,
                scanned_range: looked_at,
                more: more || surplus,
            });
        }
    }
}

fn is_included(post: &Post, of: &TimelineSource<'_>, span: &PageRange) -> bool {
    // What stays in its community is for those who look at its author, not for every follower.
    let reaches = match of {
        TimelineSource::Reader(reader) => !post.unshared || post.author_id == reader.id,
        TimelineSource::List(_) => true,
    };
    post.state == PostState::Live
        && reaches
        && !(span.without_replies && post.in_reply_to_user_id.is_some())
        && !(span.without_reposts && post.repost_of_id.is_some())
}

fn order_by_ids(ids: &[PostId], found: Vec<Post>) -> Vec<Post> {
    let mut by_id: HashMap<PostId, Post> = found.into_iter().map(|post| (post.id, post)).collect();
    ids.iter().filter_map(|id| by_id.remove(id)).collect()
}

const fn extend_limit(span: &PageRange) -> PageRange {
    PageRange {
        limit: span.limit + 1,
        ..*span
    }
}

fn build_page(posts: Vec<Post>, span: &PageRange) -> TimelinePage {
    let wanted = usize::try_from(span.limit).unwrap_or(0);
    let more = posts.len() > wanted;
    let posts = trim_posts(posts, wanted, span.ascending);
    TimelinePage {
        scanned_range: first_and_last_id(&posts),
        posts,
        more,
    }
}

fn first_and_last_id(posts: &[Post]) -> Option<(PostId, PostId)> {
    Some((posts.first()?.id, posts.last()?.id))
}

/// The posts nearest to where the page starts.
fn trim_posts(mut posts: Vec<Post>, wanted: usize, rising: bool) -> Vec<Post> {
    if rising {
        let surplus = posts.len().saturating_sub(wanted);
        posts.drain(..surplus);
    } else {
        posts.truncate(wanted);
    }
    posts
}
