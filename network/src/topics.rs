//! Topics of public posts, counted by the hour from the event log, and trends.
//!
//! A topic is a hashtag, a cashtag, or two adjacent capitalized words. Only public posts count: no reposts, no posts
//! of protected or suspended authors, and no withheld, nullcast or restricted posts.

mod words;

use std::collections::{BTreeMap, HashSet};

use base::id::first_snowflake_at;
use base::{Error, Fault, PostId, Refusal, Time, UserId, order_by_keys, sorted_distinct};
use store::event_log::{LogEvent, LogReader};
use store::posts::{self, PageRange, Post, PostState};
use store::topics::{self, TopicCount, TrendingTopic};
use store::users::{self, User};
use store::{Tx, follows, graph};

use crate::visibility::{AuthorVisibilities, Viewer, Visibility};

pub use words::{extract_topics, find_topic_spelling};
pub(crate) use words::{significant_words, split_sentences};

pub const TOPICS_READER: LogReader = LogReader::from_start("topics");
const HOUR_MS: i64 = 3_600_000;
/// Hours of the current period, including the running one.
const RECENT_HOURS: i64 = 3;
/// Hours of the baseline before the current period.
const BASELINE_HOURS: i64 = 168;
/// Hours for the post count of a trend.
const DAY_HOURS: i64 = 24;
/// How long hours are stored: the period of news, and the baseline before it.
const RETENTION_HOURS: i64 = 38 * DAY_HOURS;
/// Topics considered for trends.
const MAX_CANDIDATES: i64 = 500;
/// Stored trends.
const MAX_TRENDS: usize = 200;
/// Posts per batch when an author's posts are removed.
const POST_BATCH: i64 = 1_000;

/// Hours since 1970.
pub(crate) const fn hour_number(time: Time) -> i64 {
    time.ms().div_euclid(HOUR_MS)
}

/// Counts the topics of log entries read by [`TOPICS_READER`].
pub fn count_topics(tx: &mut Tx<'_>, events: &[LogEvent]) -> Result<(), Fault> {
    events.iter().try_for_each(|event| apply_event(tx, event))
}

/// Whether the log was processed up to a position.
pub fn has_read(tx: &mut Tx<'_>, seq: i64) -> Result<bool, Fault> {
    Ok(TOPICS_READER.find_cursor(tx)?.unwrap_or(0) >= seq)
}

fn apply_event(tx: &mut Tx<'_>, event: &LogEvent) -> Result<(), Fault> {
    match event.kind.as_str() {
        "post.create" | "post.restore" => {
            let id = PostId::new(event.subject_id);
            let Some(post) = load_public_posts(tx, &[id])?.pop() else {
                return Ok(());
            };
            if let Some(root) = post.edit_root_id {
                for version in posts::list_versions(tx, root)? {
                    topics::remove_post(tx, version)?;
                }
            }
            for topic in extract_topics(&post.text) {
                topics::insert_topic_post(tx, &topic, id, post.author_id, hour_number(post.created_at))?;
            }
            Ok(())
        }
        "post.delete" => topics::remove_post(tx, PostId::new(event.subject_id)).map(|_| ()),
        "post.withheld" if !event.body.is_empty() => topics::remove_post(tx, PostId::new(event.subject_id)).map(|_| ()),
        "post.limit" => remove_limited_post(tx, PostId::new(event.subject_id)),
        "user.suspend" | "user.delete" | "user.protect" | "user.withheld" | "user.limit" => {
            remove_hidden_author(tx, UserId::new(event.subject_id))
        }
        _ => Ok(()),
    }
}

fn remove_limited_post(tx: &mut Tx<'_>, id: PostId) -> Result<(), Fault> {
    if posts::find_by_id(tx, id)?.is_some_and(|post| post.limited) {
        topics::remove_post(tx, id)?;
    }
    Ok(())
}

/// Removes the posts of an author who is no longer public.
fn remove_hidden_author(tx: &mut Tx<'_>, author: UserId) -> Result<(), Fault> {
    let user = users::find_by_id(tx, author)?;
    if user.is_some_and(|user| is_public_user(&user)) {
        return Ok(());
    }
    loop {
        let found = topics::list_posts_by_author(tx, author, POST_BATCH)?;
        if found.is_empty() {
            return Ok(());
        }
        for post in found {
            topics::remove_post(tx, post)?;
        }
    }
}

fn is_public_user(user: &User) -> bool {
    user.state == users::UserState::Active && !user.protected && !user.limited && user.withheld.is_empty()
}

/// Those of some posts that are public, in the order of `ids`.
pub(crate) fn load_public_posts(tx: &mut Tx<'_>, ids: &[PostId]) -> Result<Vec<Post>, Fault> {
    let mut found = posts::find_by_ids(tx, ids)?;
    let authors = sorted_distinct(found.iter().map(|post| post.author_id));
    let mut authors = users::find_by_ids(tx, &authors)?;
    authors.retain(is_public_user);
    let visibilities = AuthorVisibilities::load(tx, Viewer::anonymous(), &authors)?;
    found.retain(|post| {
        let is_regular = post.state == PostState::Live && !post.nullcast && !post.limited && post.withheld.is_empty();
        is_regular && post.repost_of_id.is_none() && visibilities.post_visibility(post) == Visibility::Visible
    });
    order_by_keys(&mut found, ids, |post| post.id);
    Ok(found)
}

/// A topic's lift above its baseline, and its number of authors.
#[derive(Clone, Debug)]
pub(crate) struct RisingTopic {
    pub(crate) topic: String,
    pub(crate) authors: i64,
    /// In thousandths.
    pub(crate) lift: i64,
}

/// The rising topics, strongest first.
///
/// With `n` posts in the last 3 hours and `u` in the 168 hours before, the lift is `(n / 3) / (u / 168 + 1 / 20)`: the
/// current rate relative to the usual one, with one post in twenty hours added to the latter. A topic rises with a
/// lift of at least 2 and two authors; its strength is the lift times the authors.
pub(crate) fn find_rising_topics(tx: &mut Tx<'_>) -> Result<Vec<RisingTopic>, Fault> {
    let now = hour_number(tx.now());
    let from = now - RECENT_HOURS + 1;
    let mut rising = Vec::new();
    for TopicCount { topic, posts } in topics::list_most_used(tx, from, MAX_CANDIDATES)? {
        let baseline = topics::count_posts_between(tx, &topic, from - BASELINE_HOURS, from)?;
        // Both rates times 168 · 20, in thousandths.
        let lift = 1_000 * posts * (BASELINE_HOURS * 20) / RECENT_HOURS / (baseline * 20 + BASELINE_HOURS);
        let authors = topics::count_authors(tx, &topic, from)?;
        if lift >= 2_000 && authors >= 2 {
            rising.push(RisingTopic { topic, authors, lift });
        }
    }
    rising.sort_by_key(|rise| std::cmp::Reverse(rise.lift.saturating_mul(rise.authors)));
    Ok(rising)
}

/// The current trends among the rising topics.
pub(crate) fn compute_trends(tx: &mut Tx<'_>, rising: &[RisingTopic]) -> Result<ComputedTrends, Fault> {
    let now = hour_number(tx.now());
    let before = topics::list_trends(tx, i64::MAX)?;
    let mut trends: Vec<TrendingTopic> = Vec::new();
    for topic in rising {
        if trends.len() >= MAX_TRENDS {
            break;
        }
        let stored = before.iter().find(|trend| trend.topic == topic.topic);
        if let Some(name) = find_topic_name(tx, &topic.topic)? {
            trends.push(TrendingTopic {
                name,
                posts: topics::count_posts_between(tx, &topic.topic, now - DAY_HOURS + 1, now + 1)?,
                authors: topic.authors,
                since: stored.map_or(now, |trend| trend.since),
                topic: topic.topic.clone(),
            });
        }
    }
    Ok(ComputedTrends { is_new: trends != before, trends })
}

/// Computed trends, not stored yet.
#[derive(Clone, Debug)]
pub(crate) struct ComputedTrends {
    pub(crate) trends: Vec<TrendingTopic>,
    /// Whether they differ from the stored ones.
    pub(crate) is_new: bool,
}

/// The spelling of a topic in its newest public post; none if there is no such post.
fn find_topic_name(tx: &mut Tx<'_>, topic: &str) -> Result<Option<String>, Fault> {
    let newest = topics::list_newest_posts(tx, topic, 5)?;
    let found = load_public_posts(tx, &newest)?;
    Ok(found.iter().find_map(|post| find_topic_spelling(&post.text, topic)))
}

/// The WOEID of the whole world, the only place with trends.
const WORLD_WOEID: i64 = 1;

/// Strongest first. Refused for places other than the world.
pub fn list_place_trends(tx: &mut Tx<'_>, woeid: i64, limit: i64) -> Result<Vec<TrendingTopic>, Error> {
    if woeid == WORLD_WOEID {
        return Ok(topics::list_trends(tx, limit)?);
    }
    let message = format!("Could not find trends for WOEID: {woeid}");
    Err(Refusal::Legacy { code: 34, message: message.into() }.into())
}

/// The latest followed users that are considered.
const MAX_FOLLOWED_AUTHORS: i64 = 400;
/// The considered period: a week.
const PERSONAL_WINDOW_MS: i64 = 7 * 24 * HOUR_MS;
const MAX_PERSONAL_TRENDS: usize = 10;

/// Topics that the user and the users they follow wrote about in the last week; first those with the most of these
/// authors, then those with the most posts overall.
pub fn list_personal_trends(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<TrendingTopic>, Fault> {
    let edges = follows::following_page(tx, user, &PageRange::newest(MAX_FOLLOWED_AUTHORS))?;
    let mut authors: Vec<UserId> = edges.into_iter().map(|edge| edge.0).collect();
    let muted: HashSet<UserId> = graph::filter_muted(tx, user, &authors)?.into_iter().collect();
    authors.retain(|author| !muted.contains(author));
    authors.push(user);
    let after = PostId::new(first_snowflake_at(tx.now().plus_ms(-PERSONAL_WINDOW_MS)));
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for topic in topics::list_by_authors(tx, &authors, after)? {
        *counts.entry(topic).or_default() += 1;
    }
    let mut counts: Vec<(String, i64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, authors)| std::cmp::Reverse(*authors));
    // Limits the number of queries for post counts.
    counts.truncate(MAX_PERSONAL_TRENDS * 5);
    let now = hour_number(tx.now());
    let stored = topics::list_trends(tx, i64::MAX)?;
    let mut trends = Vec::new();
    for (topic, authors) in counts {
        let Some(name) = find_topic_name(tx, &topic)? else {
            continue;
        };
        let since = stored.iter().find(|trend| trend.topic == topic);
        trends.push(TrendingTopic {
            posts: topics::count_posts_between(tx, &topic, now - BASELINE_HOURS + 1, now + 1)?,
            since: since.map_or(now, |trend| trend.since),
            topic,
            name,
            authors,
        });
    }
    trends.sort_by_key(|trend| std::cmp::Reverse((trend.authors, trend.posts)));
    trends.truncate(MAX_PERSONAL_TRENDS);
    Ok(trends)
}

/// Deletes hours beyond the retention period; returns how many.
pub(crate) fn prune(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let before = hour_number(tx.now()) - RETENTION_HOURS;
    topics::prune(tx, before, limit)
}
