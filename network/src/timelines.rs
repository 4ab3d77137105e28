//! Pages of posts: an author's, a user's mentions, the home timeline, a list's.

use std::collections::{HashMap, HashSet};

use base::{Fault, PostId, UserId};
use store::lists::List;
use store::posts::{self, PageRange, Post, PostState};
use store::users::User;
use store::{Tx, graph};

use crate::homes::{Homes, Of};
use crate::visibility::{self, Sight, Sights, Viewer};

/// Whether a viewer may see a user's posts at all.
pub fn sight(tx: &mut Tx<'_>, viewer: Viewer, user: &User) -> Result<Sight, Fault> {
    let profile = visibility::of_user(user);
    if profile != Sight::Visible {
        return Ok(profile);
    }
    Ok(Sights::of_authors(tx, viewer, Some(user))?.of_author(user.id))
}

/// A page, and what of the timeline was looked at for it.
#[derive(Clone, Debug)]
pub struct Page {
    /// Newest first. What the viewer may not see among them is left out where they are spoken.
    pub posts: Vec<Post>,
    /// The newest and the oldest id that were looked at; none when there was nothing.
    pub looked_at: Option<(PostId, PostId)>,
    /// The timeline goes on in the direction in which it was read.
    pub more: bool,
}

/// A page of an author's posts. Whether they may be seen is asked before, by [`sight`].
pub fn of_author(
    tx: &mut Tx<'_>,
    _: Viewer,
    author: &User,
    span: &PageRange,
) -> Result<Page, Fault> {
    Ok(cut(
        posts::page_by_author(tx, author.id, &one_more(span))?,
        span,
    ))
}

/// A page of the posts that mention a user. Those by people whom they mute or block are left out
/// for themselves; what others see tells nothing of it.
pub fn mentions(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    user: &User,
    span: &PageRange,
) -> Result<Page, Fault> {
    let mut page = cut(posts::page_mentioning(tx, user.id, &one_more(span))?, span);
    if viewer.user == Some(user.id) {
        let authors: Vec<UserId> = page.posts.iter().map(|post| post.author_id).collect();
        let silenced = silenced(tx, user.id, &authors)?;
        page.posts
            .retain(|post| !silenced.contains(&post.author_id));
    }
    Ok(page)
}

/// Which of these users a reader mutes or blocks.
fn silenced(tx: &mut Tx<'_>, reader: UserId, users: &[UserId]) -> Result<HashSet<UserId>, Fault> {
    if users.is_empty() {
        return Ok(HashSet::new());
    }
    let mut silenced: HashSet<UserId> = graph::filter_muted(tx, reader, users)?
        .into_iter()
        .collect();
    silenced.extend(graph::filter_blocked(tx, reader, users)?);
    Ok(silenced)
}

/// Leaves out reposts of posts by people whom the reader mutes or blocks.
fn without_silenced(tx: &mut Tx<'_>, reader: UserId, posts: Vec<Post>) -> Result<Vec<Post>, Fault> {
    let originals: Vec<PostId> = posts.iter().filter_map(|post| post.repost_of_id).collect();
    if originals.is_empty() {
        return Ok(posts);
    }
    let originals = posts::find_by_ids(tx, &originals)?;
    let authors: Vec<UserId> = originals.iter().map(|post| post.author_id).collect();
    let silenced = silenced(tx, reader, &authors)?;
    let originals = originals
        .iter()
        .filter(|post| silenced.contains(&post.author_id));
    let unwanted: HashSet<PostId> = originals.map(|post| post.id).collect();
    let wanted = |post: &Post| !post.repost_of_id.is_some_and(|id| unwanted.contains(&id));
    Ok(posts.into_iter().filter(wanted).collect())
}

/// A page of a reader's home timeline.
pub fn home(
    tx: &mut Tx<'_>,
    homes: &Homes,
    reader: &User,
    span: &PageRange,
) -> Result<Page, Fault> {
    merged(tx, homes, Of::Reader(reader), span)
}

/// A page of a list's timeline. Whether the list may be seen is asked before, by
/// [`crate::lists::seen`].
pub fn of_list(
    tx: &mut Tx<'_>,
    homes: &Homes,
    list: &List,
    span: &PageRange,
) -> Result<Page, Fault> {
    merged(tx, homes, Of::List(list), span)
}

fn merged(tx: &mut Tx<'_>, homes: &Homes, of: Of<'_>, span: &PageRange) -> Result<Page, Fault> {
    let wanted = usize::try_from(span.limit).unwrap_or(0);
    let mut rest = *span;
    let mut posts: Vec<Post> = Vec::with_capacity(wanted);
    let mut looked_at = None;
    loop {
        let (ids, more) = homes.page(tx, of, &rest)?;
        let (Some(newest), Some(oldest)) = (ids.first().copied(), ids.last().copied()) else {
            return Ok(Page {
                posts,
                looked_at,
                more: false,
            });
        };
        let found = in_order(&ids, posts::find_by_ids(tx, &ids)?);
        let found = found.into_iter().filter(|post| belongs(post, &of, span));
        let mut found: Vec<Post> = found.collect();
        // What is on a list is there on purpose.
        if let Of::Reader(reader) = of {
            found = without_silenced(tx, reader.id, found)?;
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
            let posts = trimmed(posts, wanted, span.ascending);
            let looked_at = if surplus { ends(&posts) } else { looked_at };
            return Ok(Page {
                posts,
                looked_at,
                more: more || surplus,
            });
        }
    }
}

fn belongs(post: &Post, of: &Of<'_>, span: &PageRange) -> bool {
    // What stays in its community is for those who look at its author, not for every follower.
    let reaches = match of {
        Of::Reader(reader) => !post.unshared || post.author_id == reader.id,
        Of::List(_) => true,
    };
    post.state == PostState::Live
        && reaches
        && !(span.without_replies && post.in_reply_to_user_id.is_some())
        && !(span.without_reposts && post.repost_of_id.is_some())
}

fn in_order(ids: &[PostId], found: Vec<Post>) -> Vec<Post> {
    let mut by_id: HashMap<PostId, Post> = found.into_iter().map(|post| (post.id, post)).collect();
    ids.iter().filter_map(|id| by_id.remove(id)).collect()
}

const fn one_more(span: &PageRange) -> PageRange {
    PageRange {
        limit: span.limit + 1,
        ..*span
    }
}

fn cut(posts: Vec<Post>, span: &PageRange) -> Page {
    let wanted = usize::try_from(span.limit).unwrap_or(0);
    let more = posts.len() > wanted;
    let posts = trimmed(posts, wanted, span.ascending);
    Page {
        looked_at: ends(&posts),
        posts,
        more,
    }
}

fn ends(posts: &[Post]) -> Option<(PostId, PostId)> {
    Some((posts.first()?.id, posts.last()?.id))
}

/// The posts nearest to where the page starts.
fn trimmed(mut posts: Vec<Post>, wanted: usize, rising: bool) -> Vec<Post> {
    if rising {
        let surplus = posts.len().saturating_sub(wanted);
        posts.drain(..surplus);
    } else {
        posts.truncate(wanted);
    }
    posts
}
