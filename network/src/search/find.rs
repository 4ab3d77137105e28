//! What a query finds.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ::search::{IndexSnapshot, QueryPlan, SearchHit, SearchLookups, SearchWindow};
use base::{Fault, PostId, UserId};
use query::{MatchMode, ParsedQuery, PostCounter};
use store::posts::{self, Post, PostState};
use store::{Tx, lists, users};

use crate::post_facts;
use crate::visibility::{AuthorVisibilities, Viewer, Visibility};

/// Posts that are looked at for one page where the index alone does not decide.
const MAX_VERIFIED_POSTS: usize = 5_000;
/// The same at once.
const BATCH_SIZE: usize = 500;
/// The newest posts that are ranked among each other.
const MAX_RANKED_POSTS: usize = 1_000;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct PostSearchRequest {
    /// The query.
    pub query: Arc<ParsedQuery>,
    /// Which posts.
    pub window: SearchWindow,
    /// At most so many.
    pub limit: usize,
}

/// A page of what was found.
#[derive(Debug, Default)]
pub struct PostSearchPage {
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
    snapshot: &IndexSnapshot,
    viewer: Viewer,
    asked: &PostSearchRequest,
) -> Result<PostSearchPage, Fault> {
    let plan = QueryPlan::new(&asked.query, &resolve_query_names(tx, &asked.query)?);
    let (mut window, mut found) = (asked.window, PostSearchPage::default());
    let (mut looked_at, mut count) = (0, asked.limit + 1);
    if !plan.is_exact() {
        count = count.max(BATCH_SIZE);
    }
    loop {
        let hits = snapshot.newest_hits(&plan, &window, count)?;
        looked_at += hits.len();
        for post in filter_visible_hits(tx, viewer, asked, plan.is_exact(), &hits)? {
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
        window.before_id = last.id;
        if found.posts.len() == asked.limit || looked_at >= MAX_VERIFIED_POSTS {
            found.next = Some([last.id, 0, 0]);
            return Ok(found);
        }
        count = count.saturating_mul(2).min(BATCH_SIZE.max(count));
    }
}

/// Posts that a query matches and a viewer may see, those first that people took up, and newer ones
/// before older ones. The newest thousand below `after`'s first number are ranked; then the next.
pub fn find_ranked(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    viewer: Viewer,
    asked: &PostSearchRequest,
    after: Option<[i64; 3]>,
) -> Result<PostSearchPage, Fault> {
    let plan = QueryPlan::new(&asked.query, &resolve_query_names(tx, &asked.query)?);
    let mut window = asked.window;
    let behind = after.map(|[bound, score, id]| {
        window.before_id = window.before_id.min(bound);
        Reverse((score, id))
    });
    let hits = snapshot.newest_hits(&plan, &window, MAX_RANKED_POSTS)?;
    let posts = filter_visible_hits(tx, viewer, asked, plan.is_exact(), &hits)?;
    // What comes later does not move what was ranked.
    let bound = hits.first().map_or(window.before_id, |first| {
        window.before_id.min(first.id.saturating_add(1))
    });
    let mut order: Vec<(Reverse<(i64, i64)>, Post)> = posts
        .into_iter()
        .map(|post| (Reverse((ranking_score(&post), post.id.get())), post))
        .filter(|(place, _)| behind.is_none_or(|behind| *place > behind))
        .collect();
    order.sort_unstable_by_key(|(place, _)| *place);
    let more = order.len() > asked.limit;
    order.truncate(asked.limit);
    let next = if more {
        let last = order.last();
        last.map(|(Reverse((score, id)), _)| [bound, *score, *id])
    } else {
        let oldest = hits.last().filter(|_| hits.len() == MAX_RANKED_POSTS);
        oldest.map(|oldest| [oldest.id, i64::MAX, i64::MAX])
    };
    let posts = order.into_iter().map(|(_, post)| post).collect();
    Ok(PostSearchPage { posts, next })
}

/// How far up a post stands: when it was written, moved half a day for each doubling of the
/// response.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a rank, not a figure"
)]
fn ranking_score(post: &Post) -> i64 {
    const HALF_DAY_MS: i64 = 12 * 3_600_000;
    let response =
        post.like_count + post.reply_count + 2 * (post.repost_count + post.quote_count) + post.bookmark_count;
    let doublings = ((1 + response.max(0)) as f64).log2();
    (doublings * HALF_DAY_MS as f64) as i64 + post.created_at.ms()
}

/// Those of the hits that match and that the viewer may see, in their order.
fn filter_visible_hits(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    asked: &PostSearchRequest,
    decided: bool,
    hits: &[SearchHit],
) -> Result<Vec<Post>, Fault> {
    let rows = if decided {
        load_hit_rows(tx, hits)?
    } else {
        filter_matching_hits(tx, &asked.query, hits)?
    };
    let mut authors: Vec<UserId> = rows.iter().map(|post| post.author_id).collect();
    authors.sort_unstable();
    authors.dedup();
    let mut authors = users::find_by_ids(tx, &authors)?;
    // Not even to followers.
    authors.retain(|author| !author.protected);
    let mut sights = AuthorVisibilities::load(tx, viewer, &authors)?;
    sights.admit_posts(tx, &rows)?;
    let mut rows = rows;
    rows.retain(|post| post.state == PostState::Live && sights.post_visibility(post) == Visibility::Visible);
    Ok(rows)
}

/// The posts of hits, in their order.
fn load_hit_rows(tx: &mut Tx<'_>, hits: &[SearchHit]) -> Result<Vec<Post>, Fault> {
    let ids: Vec<PostId> = hits.iter().map(|hit| PostId::new(hit.id)).collect();
    let mut rows = posts::find_by_ids(tx, &ids)?;
    rows.sort_unstable_by_key(|post| Reverse(post.id));
    Ok(rows)
}

/// The posts of hits that match for certain, in their order.
pub(super) fn filter_matching_hits(
    tx: &mut Tx<'_>,
    query: &ParsedQuery,
    hits: &[SearchHit],
) -> Result<Vec<Post>, Fault> {
    let least = query.minimum_counters();
    let mut rows = load_hit_rows(tx, hits)?;
    rows.retain(|post| {
        least
            .iter()
            .all(|(counter, least)| counter_value(post, *counter) >= *least)
    });
    let with_lists = !query.list_ids().is_empty();
    let facts = post_facts::load_facts_of_rows(tx, rows, with_lists)?;
    let matches = |facts: &post_facts::StoredPostFacts| {
        facts.map_query_post(|post| query::matches(query, &query::PostFeatures::new(post, MatchMode::Search)))
    };
    Ok(facts.into_iter().filter(matches).map(|facts| facts.row).collect())
}

fn counter_value(post: &Post, counter: PostCounter) -> u64 {
    let count = match counter {
        PostCounter::Likes => post.like_count,
        PostCounter::Replies => post.reply_count,
        PostCounter::Reposts => post.repost_count,
        // Not of posts; search does not know them.
        PostCounter::Followers | PostCounter::Following | PostCounter::Posts | PostCounter::Listed => i64::MAX,
    };
    u64::try_from(count).unwrap_or(0)
}

/// Whom a query names, and who is on the lists that it names, now.
pub(crate) fn resolve_query_names(tx: &mut Tx<'_>, query: &ParsedQuery) -> Result<SearchLookups, Fault> {
    let names = query.user_names();
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
    let mut known = SearchLookups {
        people,
        ..SearchLookups::default()
    };
    let asked = query.list_ids();
    for list in lists::find_by_ids(tx, &asked)? {
        if list.deleted_at.is_none() && !list.private {
            let members = lists::list_member_ids(tx, list.id)?;
            let members: HashSet<i64> = members.into_iter().map(UserId::get).collect();
            known.lists.insert(list.id, Arc::new(members));
        }
    }
    Ok(known)
}
