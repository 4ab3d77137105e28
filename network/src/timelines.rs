//! Timeline pages: an author's posts, a user's mentions, the home timeline and lists.

use std::collections::{HashMap, HashSet};

use base::{Fault, PostId, UserId};
use store::lists::List;
use store::posts::{self, PageRange, Post, PostState};
use store::users::User;
use store::{Tx, graph};

use crate::home_timelines::{HomeTimelines, TimelineSource};
use crate::muted_words::MutedWordFilter;
use crate::visibility::{self, AuthorVisibilities, Viewer, Visibility};

/// Whether a viewer may see a user's posts at all.
pub fn timeline_visibility(tx: &mut Tx<'_>, viewer: Viewer, user: &User) -> Result<Visibility, Fault> {
    let profile = visibility::profile_visibility(user);
    if profile != Visibility::Visible {
        return Ok(profile);
    }
    Ok(AuthorVisibilities::load(tx, viewer, Some(user))?.author_visibility(user.id))
}

/// A page of posts, and the examined range of the timeline.
#[derive(Clone, Debug)]
pub struct TimelinePage {
    /// Newest first. Posts that the viewer may not see are included, and omitted when rendered.
    pub posts: Vec<Post>,
    /// The newest and the oldest examined id; none if the timeline is empty.
    pub scanned_range: Option<(PostId, PostId)>,
    /// Whether there are more posts in the direction of reading.
    pub more: bool,
}

/// An author's newest posts that can be read (contract core §7.3, decision 41).
const AUTHOR_REACH: i64 = 3200;
const AUTHOR_REACH_WITHOUT_REPLIES: i64 = 800;
/// A user's newest mentions that can be read.
const MENTIONS_REACH: i64 = 800;

/// The caller has checked [`timeline_visibility`].
pub fn load_author_page(tx: &mut Tx<'_>, _: Viewer, author: &User, range: &PageRange) -> Result<TimelinePage, Fault> {
    let reach = if range.without_replies { AUTHOR_REACH_WITHOUT_REPLIES } else { AUTHOR_REACH };
    let is_unfiltered = !range.without_replies && !range.without_reposts;
    let oldest = if is_first_page(range) && is_unfiltered || author.post_count <= reach {
        None
    } else {
        posts::find_nth_by_author(tx, author.id, reach)?
    };
    let range = limit_reach(range, oldest);
    Ok(build_page(posts::page_by_author(tx, author.id, &extend_limit(&range))?, &range))
}

/// Whether a page has the newest posts, which are within reach unless some are left out.
const fn is_first_page(range: &PageRange) -> bool {
    range.below == i64::MAX && !range.ascending
}

fn limit_reach(range: &PageRange, oldest: Option<PostId>) -> PageRange {
    let above = oldest.map_or(range.above, |oldest| range.above.max(oldest.get() - 1));
    PageRange { above, ..*range }
}

/// Posts that mention a user. The user does not see those by people they mute or block; other viewers do.
pub fn load_mentions_page(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    user: &User,
    range: &PageRange,
) -> Result<TimelinePage, Fault> {
    let oldest = if is_first_page(range) { None } else { posts::find_nth_mentioning(tx, user.id, MENTIONS_REACH)? };
    let range = limit_reach(range, oldest);
    let mut page = build_page(posts::page_mentioning(tx, user.id, &extend_limit(&range))?, &range);
    if viewer.user == Some(user.id) {
        let authors: Vec<UserId> = page.posts.iter().map(|post| post.author_id).collect();
        let silenced = find_silenced_users(tx, user.id, &authors)?;
        page.posts.retain(|post| !silenced.contains(&post.author_id));
    }
    Ok(page)
}

/// Those whom a reader mutes or blocks.
fn find_silenced_users(tx: &mut Tx<'_>, reader: UserId, users: &[UserId]) -> Result<HashSet<UserId>, Fault> {
    if users.is_empty() {
        return Ok(HashSet::new());
    }
    let mut silenced: HashSet<UserId> = graph::filter_muted(tx, reader, users)?.into_iter().collect();
    silenced.extend(graph::filter_blocked(tx, reader, users)?);
    Ok(silenced)
}

/// Removes posts with muted words, and reposts of such or of posts by people whom the reader mutes or blocks.
fn remove_silenced_posts(
    tx: &mut Tx<'_>,
    reader: UserId,
    muted: &MutedWordFilter,
    mut posts: Vec<Post>,
) -> Result<Vec<Post>, Fault> {
    posts.retain(|post| !muted.hides(post));
    let originals: Vec<PostId> = posts.iter().filter_map(|post| post.repost_of_id).collect();
    if originals.is_empty() {
        return Ok(posts);
    }
    let originals = posts::find_by_ids(tx, &originals)?;
    let authors: Vec<UserId> = originals.iter().map(|post| post.author_id).collect();
    let silenced = find_silenced_users(tx, reader, &authors)?;
    let originals = originals.iter().filter(|post| silenced.contains(&post.author_id) || muted.hides(post));
    let unwanted: HashSet<PostId> = originals.map(|post| post.id).collect();
    let is_wanted = |post: &Post| !post.repost_of_id.is_some_and(|id| unwanted.contains(&id));
    Ok(posts.into_iter().filter(is_wanted).collect())
}

/// The page has fewer posts than it may, and more follow, where many in a row have muted words.
pub fn load_home_page(
    tx: &mut Tx<'_>,
    home_timelines: &HomeTimelines,
    reader: &User,
    range: &PageRange,
    muted: &MutedWordFilter,
) -> Result<TimelinePage, Fault> {
    load_merged_page(tx, home_timelines, TimelineSource::Reader(reader), range, muted)
}

/// The caller has checked [`crate::lists::find_visible`].
pub fn load_list_page(
    tx: &mut Tx<'_>,
    home_timelines: &HomeTimelines,
    list: &List,
    range: &PageRange,
) -> Result<TimelinePage, Fault> {
    load_merged_page(tx, home_timelines, TimelineSource::List(list), range, &MutedWordFilter::default())
}

/// The posts of a community.
pub fn load_community_page(tx: &mut Tx<'_>, community: i64, range: &PageRange) -> Result<TimelinePage, Fault> {
    Ok(build_page(posts::page_by_community(tx, community, &extend_limit(range))?, range))
}

/// Parts of a timeline that are read to fill a page from which muted words remove posts.
const MAX_FILTERED_PARTS: usize = 10;
/// Posts that are read at a time, unless a page has more.
const MAX_PART: i64 = 100;

fn load_merged_page(
    tx: &mut Tx<'_>,
    home_timelines: &HomeTimelines,
    source: TimelineSource<'_>,
    range: &PageRange,
    muted: &MutedWordFilter,
) -> Result<TimelinePage, Fault> {
    let limit = usize::try_from(range.limit).unwrap_or(0);
    let mut rest = *range;
    let mut posts: Vec<Post> = Vec::with_capacity(limit);
    let mut scanned_range = None;
    let mut parts = 0;
    loop {
        parts += 1;
        let (ids, more) = home_timelines.page(tx, source, &rest)?;
        let (Some(newest), Some(oldest)) = (ids.first().copied(), ids.last().copied()) else {
            return Ok(TimelinePage { posts, scanned_range, more: false });
        };
        let viewer = match source {
            TimelineSource::Reader(reader) => Some(reader.id),
            TimelineSource::List(_) => None,
        };
        let found = order_by_ids(&ids, posts::find_by_ids_with_authors(tx, &ids, viewer)?);
        let found = found.into_iter().filter(|post| is_included(post, &source, range));
        let mut found: Vec<Post> = found.collect();
        // List members are included even if the reader mutes them.
        if let TimelineSource::Reader(reader) = source {
            found = remove_silenced_posts(tx, reader.id, muted, found)?;
        }
        if range.ascending {
            rest.above = newest.get();
            found.append(&mut posts);
            posts = found;
        } else {
            rest.below = oldest.get();
            posts.append(&mut found);
        }
        // Of posts that are mostly left out, larger parts take fewer steps.
        rest.limit = (rest.limit * 4).clamp(range.limit, MAX_PART.max(range.limit));
        let (above, below) = scanned_range.unwrap_or((newest, oldest));
        scanned_range = Some((above.max(newest), below.min(oldest)));
        let is_last_part = !muted.is_empty() && parts >= MAX_FILTERED_PARTS;
        if posts.len() >= limit || !more || is_last_part {
            let surplus = posts.len() > limit;
            let posts = trim_posts(posts, limit, range.ascending);
            let scanned_range = if surplus { first_and_last_id(&posts) } else { scanned_range };
            return Ok(TimelinePage { posts, scanned_range, more: more || surplus });
        }
    }
}

fn is_included(post: &Post, source: &TimelineSource<'_>, range: &PageRange) -> bool {
    // Posts that are not shared outside their community do not reach the author's followers.
    let is_for_reader = match source {
        TimelineSource::Reader(reader) => !post.unshared || post.author_id == reader.id,
        TimelineSource::List(_) => true,
    };
    post.state == PostState::Live
        && !post.nullcast
        && is_for_reader
        && !(range.without_replies && post.in_reply_to_user_id.is_some())
        && !(range.without_reposts && post.repost_of_id.is_some())
}

fn order_by_ids(ids: &[PostId], found: Vec<Post>) -> Vec<Post> {
    let mut by_id: HashMap<PostId, Post> = found.into_iter().map(|post| (post.id, post)).collect();
    ids.iter().filter_map(|id| by_id.remove(id)).collect()
}

const fn extend_limit(range: &PageRange) -> PageRange {
    PageRange { limit: range.limit + 1, ..*range }
}

fn build_page(posts: Vec<Post>, range: &PageRange) -> TimelinePage {
    let limit = usize::try_from(range.limit).unwrap_or(0);
    let more = posts.len() > limit;
    let posts = trim_posts(posts, limit, range.ascending);
    TimelinePage { scanned_range: first_and_last_id(&posts), posts, more }
}

fn first_and_last_id(posts: &[Post]) -> Option<(PostId, PostId)> {
    Some((posts.first()?.id, posts.last()?.id))
}

/// The posts nearest to the start of the page.
fn trim_posts(mut posts: Vec<Post>, limit: usize, ascending: bool) -> Vec<Post> {
    if ascending {
        let surplus = posts.len().saturating_sub(limit);
        posts.drain(..surplus);
    } else {
        posts.truncate(limit);
    }
    posts
}
