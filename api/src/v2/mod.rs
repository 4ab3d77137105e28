//! The v2 operations, one file per noun.

pub(crate) mod account_activity;
pub(crate) mod activity;
pub(crate) mod analytics;
pub(crate) mod blocks;
pub(crate) mod bookmarks;
pub(crate) mod communities;
pub(crate) mod compliance;
pub(crate) mod connections;
mod edge_pages;
pub(crate) mod follows;
pub(crate) mod likes;
pub(crate) mod lists;
pub(crate) mod media;
pub(crate) mod messages;
pub(crate) mod mutes;
pub(crate) mod news;
pub(crate) mod notes;
pub(crate) mod openapi_document;
pub(crate) mod posts;
pub(crate) mod powerstream;
pub(crate) mod reposts;
mod rules;
pub(crate) mod search;
pub(crate) mod spaces;
pub(crate) mod stream_rules;
pub(crate) mod streams;
pub(crate) mod timelines;
pub(crate) mod trends;
pub(crate) mod usage;
mod user_edges;
pub(crate) mod user_search;
pub(crate) mod users;
pub(crate) mod webhooks;

use base::{Id, Time, VocabularyWord};
use deliver::activity::wait_until_read;
use store::posts::PageRange;
use web::pagination::{PageDirection, PageRequest, PageTokens, SortKeys};
use web::request_context::RequestContext;

const POST_ID: VocabularyWord = VocabularyWord::new("post_id", "tweet_id");

/// Truncated to the second.
fn time_param(call: &RequestContext, name: &str) -> Option<Time> {
    let time = call.query_time(name)?;
    Some(Time::from_seconds(time.seconds()))
}

/// What is older was delivered long ago.
const NEW_OBJECT_MS: i64 = 10_000;

/// Before a post or message is deleted, which its events contain.
async fn wait_for_events_of<K>(call: &RequestContext, id: Id<K>) {
    if id.created_at().plus_ms(NEW_OBJECT_MS) > call.store_context().clock.now() {
        wait_until_read(call.store(), call.stream_hub()).await;
    }
}

/// The part of a collection, ordered by one descending key, that a page covers.
fn page_range(page: &PageRequest, (above, below): (i64, i64)) -> PageRange {
    let (newer, older) = page.descending_bounds();
    PageRange {
        above: above.max(newer),
        below: below.min(older),
        ascending: page.is_backward(),
        limit: i64::try_from(page.limit).unwrap_or(i64::MAX),
        without_replies: false,
        without_reposts: false,
    }
}

/// From the first and last key that were scanned.
fn neighbour_tokens<K: Into<SortKeys>>(page: &PageRequest, scanned: Option<(K, K)>, more: bool) -> PageTokens {
    let Some((first, last)) = scanned else {
        return page.tokens_of_empty_page();
    };
    let (is_backward, is_continued) = (page.is_backward(), page.after.is_some());
    let (has_next, has_previous) = if is_backward { (is_continued, more) } else { (more, is_continued) };
    PageTokens {
        next: has_next.then(|| page.page_token(PageDirection::Next, last)),
        previous: has_previous.then(|| page.page_token(PageDirection::Previous, first)),
    }
}
