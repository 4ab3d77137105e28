//! What a query finds.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ::search::{Hit, Known, Plan, Snapshot, Window};
use base::{Fault, PostId, UserId};
use query::{Counter, Query, Reading};
use store::posts::{self, Post, PostState};
use store::{Tx, lists, users};

use crate::facts;
use crate::visibility::{Sight, Sights, Viewer};

/// Posts that are looked at for one page where the index alone does not decide.
const LOOKED_AT: usize = 5_000;
/// The same at once.
const AT_ONCE: usize = 500;
/// The newest posts that are ranked among each other.
const RANKED: usize = 1_000;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The query.
    pub query: Arc<Query>,
    /// Which posts.
    pub window: Window,
    /// At most so many.
    pub limit: usize,
}

/// A page of what was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The posts, in their order.
    pub posts: Vec<Post>,
    /// What the next page begins behind: an id, or for ranked posts what [`ranked`] takes. None when
    /// there is no more.
    pub next: Option<[i64; 3]>,
}

/// The newest posts that a query matches and a viewer may see, newest first. A page may be short,
/// and yet be followed by another.
pub fn find(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    viewer: Viewer,
    asked: &Asked,
) -> Result<Found, Fault> {
    let plan = Plan::new(&asked.query, &known(tx, &asked.query)?);
    let (mut window, mut found) = (asked.window, Found::default());
    let (mut looked_at, mut count) = (0, asked.limit + 1);
    if !plan.is_decided() {
        count = count.max(AT_ONCE);
    }
    loop {
        let hits = snapshot.newest(&plan, &window, count)?;
        looked_at += hits.len();
        for post in admitted(tx, viewer, asked, plan.is_decided(), &hits)? {
            if found.posts.len() == asked.limit {
                let last = found.posts.last();
                found.next = last.map(|last| [last.id.get(), 0, 0]);
                return Ok(found);
            }
            found.posts.push(post);
        }
        let Some(last) = hits.last().filter(|_| hits.len() == count) else {
            return Ok(found);
        };
        window.below = last.id;
        if found.posts.len() == asked.limit || looked_at >= LOOKED_AT {
            found.next = Some([last.id, 0, 0]);
            return Ok(found);
        }
        count = count.saturating_mul(2).min(AT_ONCE.max(count));
    }
}

/// Posts that a query matches and a viewer may see, those first that people took up, and newer ones
/// before older ones. The newest thousand below `after`'s first number are ranked; then the next.
pub fn ranked(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    viewer: Viewer,
    asked: &Asked,
    after: Option<[i64; 3]>,
) -> Result<Found, Fault> {
    let plan = Plan::new(&asked.query, &known(tx, &asked.query)?);
    let mut window = asked.window;
    let behind = after.map(|[bound, score, id]| {
        window.below = window.below.min(bound);
        Reverse((score, id))
    });
    let hits = snapshot.newest(&plan, &window, RANKED)?;
    let posts = admitted(tx, viewer, asked, plan.is_decided(), &hits)?;
    // What comes later does not move what was ranked.
    let bound = hits.first().map_or(window.below, |first| {
        window.below.min(first.id.saturating_add(1))
    });
    let mut order: Vec<(Reverse<(i64, i64)>, Post)> = posts
        .into_iter()
        .map(|post| (Reverse((score(&post), post.id.get())), post))
        .filter(|(place, _)| behind.is_none_or(|behind| *place > behind))
        .collect();
    order.sort_unstable_by_key(|(place, _)| *place);
    let more = order.len() > asked.limit;
    order.truncate(asked.limit);
    let next = if more {
        let last = order.last();
        last.map(|(Reverse((score, id)), _)| [bound, *score, *id])
    } else {
        let oldest = hits.last().filter(|_| hits.len() == RANKED);
        oldest.map(|oldest| [oldest.id, i64::MAX, i64::MAX])
    };
    let posts = order.into_iter().map(|(_, post)| post).collect();
    Ok(Found { posts, next })
}

/// How far up a post stands: when it was written, moved half a day for each doubling of the
/// response.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a rank, not a figure"
)]
fn score(post: &Post) -> i64 {
    const HALF_DAY_MS: i64 = 12 * 3_600_000;
    let response = post.like_count
        + post.reply_count
        + 2 * (post.repost_count + post.quote_count)
        + post.bookmark_count;
    let doublings = ((1 + response.max(0)) as f64).log2();
    (doublings * HALF_DAY_MS as f64) as i64 + post.created_at.ms()
}

/// Those of the hits that match and that the viewer may see, in their order.
fn admitted(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    asked: &Asked,
    decided: bool,
    hits: &[Hit],
) -> Result<Vec<Post>, Fault> {
    let rows = if decided {
        rows(tx, hits)?
    } else {
        matching(tx, &asked.query, hits)?
    };
    let mut authors: Vec<UserId> = rows.iter().map(|post| post.author_id).collect();
    authors.sort_unstable();
    authors.dedup();
    let mut authors = users::find_by_ids(tx, &authors)?;
    // Not even to followers.
    authors.retain(|author| !author.protected);
    let mut sights = Sights::of_authors(tx, viewer, &authors)?;
    sights.admit(tx, &rows)?;
    let mut rows = rows;
    rows.retain(|post| post.state == PostState::Live && sights.of_post(post) == Sight::Visible);
    Ok(rows)
}

/// The posts of hits, in their order.
fn rows(tx: &mut Tx<'_>, hits: &[Hit]) -> Result<Vec<Post>, Fault> {
    let ids: Vec<PostId> = hits.iter().map(|hit| PostId::new(hit.id)).collect();
    let mut rows = posts::find_by_ids(tx, &ids)?;
    rows.sort_unstable_by_key(|post| Reverse(post.id));
    Ok(rows)
}

/// The posts of hits that match for certain, in their order.
pub(super) fn matching(tx: &mut Tx<'_>, query: &Query, hits: &[Hit]) -> Result<Vec<Post>, Fault> {
    let least = query.least();
    let mut rows = rows(tx, hits)?;
    rows.retain(|post| {
        least
            .iter()
            .all(|(counter, least)| counted(post, *counter) >= *least)
    });
    let with_lists = !query.lists().is_empty();
    let facts = facts::of_rows(tx, rows, with_lists)?;
    let matches = |facts: &facts::PostFacts| {
        facts.lend(|post| query::matches(query, &query::Facts::new(post, Reading::Search)))
    };
    Ok(facts
        .into_iter()
        .filter(matches)
        .map(|facts| facts.row)
        .collect())
}

fn counted(post: &Post, counter: Counter) -> u64 {
    let count = match counter {
        Counter::Likes => post.like_count,
        Counter::Replies => post.reply_count,
        Counter::Reposts => post.repost_count,
        // Not of posts; search does not know them.
        Counter::Followers | Counter::Following | Counter::Posts | Counter::Listed => i64::MAX,
    };
    u64::try_from(count).unwrap_or(0)
}

/// Whom a query names, and who is on the lists that it names, now.
pub(crate) fn known(tx: &mut Tx<'_>, query: &Query) -> Result<Known, Fault> {
    let names = query.people();
    let mut people: HashMap<String, Vec<i64>> = HashMap::new();
    for user in users::find_by_usernames(tx, &names)? {
        let name = user.username.to_ascii_lowercase();
        people.entry(name).or_default().push(user.id.get());
    }
    for name in names {
        if let Ok(id) = name.parse() {
            people.entry(name.to_owned()).or_default().push(id);
        }
    }
    let mut known = Known {
        people,
        ..Known::default()
    };
    let asked = query.lists();
    for list in lists::find_by_ids(tx, &asked)? {
        if list.deleted_at.is_none() && !list.private {
            let members = lists::list_member_ids(tx, list.id)?;
            let members: HashSet<i64> = members.into_iter().map(UserId::get).collect();
            known.lists.insert(list.id, Arc::new(members));
        }
    }
    Ok(known)
}
