//! Queries for posts.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ::search::{PostIndexReader, QueryPlan, SearchHit, SearchLookups, SearchWindow};
use base::{Fault, PostId, UserId, sorted_distinct};
use query::{MatchMode, ParsedQuery, PostCounter};
use store::posts::{self, Post, PostState};
use store::{Tx, lists, users};

use network::post_facts;
use network::visibility::{AuthorVisibilities, Viewer, Visibility};

/// Posts examined per page if the index alone cannot decide.
const MAX_VERIFIED_POSTS: usize = 5_000;
/// Posts per batch.
const BATCH_SIZE: usize = 500;
/// The newest matches are ranked in groups of this size.
const MAX_RANKED_POSTS: usize = 1_000;

#[derive(Clone, Debug)]
pub struct PostSearchRequest {
    pub query: Arc<ParsedQuery>,
    pub window: SearchWindow,
    pub limit: usize,
}

#[derive(Debug, Default)]
pub struct PostSearchPage {
    pub posts: Vec<Post>,
    /// The cursor of the next page: an id, or the `after` of [`find_ranked`]. None on the last page.
    pub next: Option<[i64; 3]>,
}

/// Matching posts that the viewer may see, newest first. A page may be short although another follows.
pub fn find(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    viewer: Viewer,
    request: &PostSearchRequest,
) -> Result<PostSearchPage, Fault> {
    let plan = QueryPlan::new(&request.query, &resolve_query_names(tx, &request.query)?);
    let (mut window, mut found) = (request.window, PostSearchPage::default());
    let (mut examined, mut count) = (0, request.limit + 1);
    if !plan.is_exact() {
        count = count.max(BATCH_SIZE);
    }
    loop {
        let hits = index.newest_hits(&plan, &window, count)?;
        examined += hits.len();
        for post in filter_visible_hits(tx, viewer, request, plan.is_exact(), &hits)? {
            if found.posts.len() == request.limit {
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
        if found.posts.len() == request.limit || examined >= MAX_VERIFIED_POSTS {
            found.next = Some([last.id, 0, 0]);
            return Ok(found);
        }
        count = count.saturating_mul(2).min(BATCH_SIZE.max(count));
    }
}

/// Matching posts that the viewer may see, by engagement and age. The newest thousand below the first number of
/// `after` are ranked, then the next thousand.
pub fn find_ranked(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    viewer: Viewer,
    request: &PostSearchRequest,
    after: Option<[i64; 3]>,
) -> Result<PostSearchPage, Fault> {
    let plan = QueryPlan::new(&request.query, &resolve_query_names(tx, &request.query)?);
    let mut window = request.window;
    let after_rank = after.map(|[bound, score, id]| {
        window.before_id = window.before_id.min(bound);
        Reverse((score, id))
    });
    let hits = index.newest_hits(&plan, &window, MAX_RANKED_POSTS)?;
    let posts = filter_visible_hits(tx, viewer, request, plan.is_exact(), &hits)?;
    // Later posts do not change the ranking of the following pages.
    let bound = hits.first().map_or(window.before_id, |first| window.before_id.min(first.id.saturating_add(1)));
    let mut ranked: Vec<(Reverse<(i64, i64)>, Post)> = posts
        .into_iter()
        .map(|post| (Reverse((ranking_score(&post), post.id.get())), post))
        .filter(|(rank, _)| after_rank.is_none_or(|after_rank| *rank > after_rank))
        .collect();
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    let more = ranked.len() > request.limit;
    ranked.truncate(request.limit);
    let next = if more {
        let last = ranked.last();
        last.map(|(Reverse((score, id)), _)| [bound, *score, *id])
    } else {
        let oldest = hits.last().filter(|_| hits.len() == MAX_RANKED_POSTS);
        oldest.map(|oldest| [oldest.id, i64::MAX, i64::MAX])
    };
    let posts = ranked.into_iter().map(|(_, post)| post).collect();
    Ok(PostSearchPage { posts, next })
}

/// The time of the post, plus half a day for each doubling of engagement.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a rank, not a figure"
)]
fn ranking_score(post: &Post) -> i64 {
    const HALF_DAY_MS: i64 = 12 * 3_600_000;
    let engagement =
        post.like_count + post.reply_count + 2 * (post.repost_count + post.quote_count) + post.bookmark_count;
    let doublings = ((1 + engagement.max(0)) as f64).log2();
    (doublings * HALF_DAY_MS as f64) as i64 + post.created_at.ms()
}

/// Matches that the viewer may see, in order.
fn filter_visible_hits(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    request: &PostSearchRequest,
    is_exact: bool,
    hits: &[SearchHit],
) -> Result<Vec<Post>, Fault> {
    let rows = if is_exact {
        load_hit_rows(tx, viewer, hits)?
    } else {
        filter_matching_hits(tx, viewer, &request.query, hits)?
    };
    let authors = sorted_distinct(rows.iter().map(|post| post.author_id));
    let mut authors = users::find_by_ids(tx, &authors)?;
    // Posts of protected authors are not searchable, even for followers.
    authors.retain(|author| !author.protected);
    let mut visibilities = AuthorVisibilities::load(tx, viewer, &authors)?;
    visibilities.admit_posts(tx, &rows)?;
    let mut rows = rows;
    rows.retain(|post| post.state == PostState::Live && visibilities.post_visibility(post) == Visibility::Visible);
    Ok(rows)
}

/// In order.
fn load_hit_rows(tx: &mut Tx<'_>, viewer: Viewer, hits: &[SearchHit]) -> Result<Vec<Post>, Fault> {
    let ids: Vec<PostId> = hits.iter().map(|hit| PostId::new(hit.id)).collect();
    let mut rows = posts::find_by_ids_with_authors(tx, &ids, viewer.user)?;
    rows.sort_unstable_by_key(|post| Reverse(post.id));
    Ok(rows)
}

/// The posts that really match, in order.
pub(super) fn filter_matching_hits(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    query: &ParsedQuery,
    hits: &[SearchHit],
) -> Result<Vec<Post>, Fault> {
    let minimums = query.minimum_counters();
    let mut rows = load_hit_rows(tx, viewer, hits)?;
    rows.retain(|post| minimums.iter().all(|(counter, min)| counter_value(post, *counter) >= *min));
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
        // Counters of users, which search does not support.
        PostCounter::Followers | PostCounter::Following | PostCounter::Posts | PostCounter::Listed => i64::MAX,
    };
    u64::try_from(count).unwrap_or(0)
}

/// The users that a query names, and the current members of its lists.
pub(crate) fn resolve_query_names(tx: &mut Tx<'_>, query: &ParsedQuery) -> Result<SearchLookups, Fault> {
    let names = query.user_names();
    let mut user_ids: HashMap<String, Vec<i64>> = HashMap::new();
    for user in users::find_by_usernames(tx, &names)? {
        let name = user.username.to_ascii_lowercase();
        user_ids.entry(name).or_default().push(user.id.get());
    }
    for name in names {
        if let Ok(id) = name.parse() {
            user_ids.entry(name.to_owned()).or_default().push(id);
        }
    }
    let mut lookups = SearchLookups { people: user_ids, ..SearchLookups::default() };
    let list_ids = query.list_ids();
    for list in lists::find_by_ids(tx, &list_ids)? {
        if list.deleted_at.is_none() && !list.private {
            let members = lists::list_member_ids(tx, list.id)?;
            let members: HashSet<i64> = members.into_iter().map(UserId::get).collect();
            lookups.lists.insert(list.id, Arc::new(members));
        }
    }
    Ok(lookups)
}
