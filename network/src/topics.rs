//! Topics of public posts, counted by the hour as the log tells of posts; and what trends.
//!
//! A topic is a hashtag, a cashtag, or two words that stand together and both begin with a capital
//! letter. Only posts that everyone may see count: no reposts, none of protected or suspended
//! authors, none that is withheld anywhere, promoted, or for some only.

mod words;

use std::collections::{BTreeMap, HashSet};

use base::id::first_snowflake_at;
use base::{Error, Fault, PostId, Refusal, Time, UserId};
use store::event_log::LogEvent;
use store::posts::{self, PageRange, Post, PostState};
use store::topics::{self, TopicCount, TrendingTopic};
use store::users::{self, User};
use store::{Tx, event_log, follows, graph};

use crate::visibility::{AuthorVisibilities, Viewer, Visibility};

pub use words::{extract_topics, find_topic_spelling};
pub(crate) use words::{significant_words, split_sentences, split_words};

/// The reader's name in the log.
pub(crate) const TOPICS_READER: &str = "topics";
const HOUR_MS: i64 = 3_600_000;
/// Hours that count as now, the one under way among them.
const RECENT_HOURS: i64 = 3;
/// Hours before those that tell what is usual.
const BASELINE_HOURS: i64 = 168;
/// Hours whose posts a trend is said to have.
const DAY_HOURS: i64 = 24;
/// How long hours are kept: as long as news may be asked for, and what is usual before.
const RETENTION_HOURS: i64 = 38 * DAY_HOURS;
/// Topics that are looked at for trends.
const MAX_CANDIDATES: i64 = 500;
/// Trends that are kept.
const MAX_TRENDS: usize = 200;
/// Posts of an author that are taken away at once.
const POST_BATCH: i64 = 1_000;

/// The hour since 1970.
pub(crate) const fn hour_number(time: Time) -> i64 {
    time.ms().div_euclid(HOUR_MS)
}

/// Reads what the log tells beyond what was read, in one transaction; how many entries.
pub fn follow_log(tx: &mut Tx<'_>, limit: i64) -> Result<usize, Fault> {
    let from = topics::claim_cursor(tx, TOPICS_READER)?;
    let events = event_log::list_after(tx, from, limit)?;
    for event in &events {
        apply_event(tx, event)?;
    }
    if let Some(last) = events.last() {
        event_log::set_cursor(tx, TOPICS_READER, last.seq)?;
    }
    Ok(events.len())
}

/// Whether everything up to a place of the log was read.
pub fn has_read(tx: &mut Tx<'_>, seq: i64) -> Result<bool, Fault> {
    Ok(event_log::find_cursor(tx, TOPICS_READER)?.unwrap_or(0) >= seq)
}

/// Whether the log tells something that was not read.
pub fn is_behind(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let from = event_log::find_cursor(tx, TOPICS_READER)?.unwrap_or(0);
    Ok(!event_log::list_after(tx, from, 1)?.is_empty())
}

fn apply_event(tx: &mut Tx<'_>, event: &LogEvent) -> Result<(), Fault> {
    match event.kind.as_str() {
        "post.create" => {
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
        "user.suspend" | "user.delete" | "user.protect" | "user.withheld" => {
            remove_hidden_author(tx, UserId::new(event.subject_id))
        }
        _ => Ok(()),
    }
}

/// Takes an author's posts away whose posts not everyone may see any more.
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
    user.state == users::UserState::Active && !user.protected && user.withheld.is_empty()
}

/// Those of some posts that count, in the order given.
pub(crate) fn load_public_posts(tx: &mut Tx<'_>, ids: &[PostId]) -> Result<Vec<Post>, Fault> {
    let mut found = posts::find_by_ids(tx, ids)?;
    let mut authors: Vec<UserId> = found.iter().map(|post| post.author_id).collect();
    authors.sort_unstable();
    authors.dedup();
    let mut authors = users::find_by_ids(tx, &authors)?;
    authors.retain(is_public_user);
    let sights = AuthorVisibilities::load(tx, Viewer::anonymous(), &authors)?;
    found.retain(|post| {
        let plain = post.state == PostState::Live && !post.nullcast && post.withheld.is_empty();
        plain && post.repost_of_id.is_none() && sights.post_visibility(post) == Visibility::Visible
    });
    found.sort_by_cached_key(|post| ids.iter().position(|id| *id == post.id));
    Ok(found)
}

/// How far a topic is above what is usual for it, and how many write about it.
#[derive(Clone, Debug)]
pub(crate) struct RisingTopic {
    pub(crate) topic: String,
    pub(crate) authors: i64,
    /// In thousandths.
    pub(crate) lift: i64,
}

/// The topics that rise, the strongest first.
///
/// With `n` posts in the last 3 hours and `u` in the 168 before, the lift is
/// `(n / 3) / (u / 168 + 1 / 20)`: how many times the usual rate the present one is, where one post
/// in twenty hours counts as usual for what was never heard of. A topic rises with a lift of 2 or
/// more and two authors or more; the strength is the lift times the authors.
pub(crate) fn find_rising_topics(tx: &mut Tx<'_>) -> Result<Vec<RisingTopic>, Fault> {
    let now = hour_number(tx.now());
    let from = now - RECENT_HOURS + 1;
    let mut rising = Vec::new();
    for TopicCount { topic, posts } in topics::list_most_used(tx, from, MAX_CANDIDATES)? {
        let usual = topics::count_posts_between(tx, &topic, from - BASELINE_HOURS, from)?;
        // Both rates times 168 · 20, in thousandths.
        let lift = 1_000 * posts * (BASELINE_HOURS * 20) / RECENT_HOURS / (usual * 20 + BASELINE_HOURS);
        let authors = topics::count_authors(tx, &topic, from)?;
        if lift >= 2_000 && authors >= 2 {
            rising.push(RisingTopic { topic, authors, lift });
        }
    }
    rising.sort_by_key(|rise| std::cmp::Reverse(rise.lift.saturating_mul(rise.authors)));
    Ok(rising)
}

/// What trends now, of the topics that rise; none where it is what trended before.
pub(crate) fn compute_trends(tx: &mut Tx<'_>, rising: &[RisingTopic]) -> Result<ComputedTrends, Fault> {
    let now = hour_number(tx.now());
    let before = topics::list_trends(tx, i64::MAX)?;
    let mut trends: Vec<TrendingTopic> = Vec::new();
    for rise in rising {
        if trends.len() >= MAX_TRENDS {
            break;
        }
        let known = before.iter().find(|trend| trend.topic == rise.topic);
        if let Some(name) = find_topic_name(tx, &rise.topic)? {
            trends.push(TrendingTopic {
                name,
                posts: topics::count_posts_between(tx, &rise.topic, now - DAY_HOURS + 1, now + 1)?,
                authors: rise.authors,
                since: known.map_or(now, |known| known.since),
                topic: rise.topic.clone(),
            });
        }
    }
    Ok(ComputedTrends {
        is_new: trends != before,
        trends,
    })
}

/// What trends, worked out and not yet stored.
#[derive(Clone, Debug)]
pub(crate) struct ComputedTrends {
    pub(crate) trends: Vec<TrendingTopic>,
    /// Something else is stored.
    pub(crate) is_new: bool,
}

/// A topic as the newest post about it writes it; none when no post may be seen.
fn find_topic_name(tx: &mut Tx<'_>, topic: &str) -> Result<Option<String>, Fault> {
    let newest = topics::list_newest_posts(tx, topic, 5)?;
    let found = load_public_posts(tx, &newest)?;
    Ok(found.iter().find_map(|post| find_topic_spelling(&post.text, topic)))
}

/// The place that stands for the whole world.
const WORLD_WOEID: i64 = 1;

/// What trends in a place, the strongest first. There is one place: the world.
pub fn list_place_trends(tx: &mut Tx<'_>, woeid: i64, limit: i64) -> Result<Vec<TrendingTopic>, Error> {
    if woeid == WORLD_WOEID {
        return Ok(topics::list_trends(tx, limit)?);
    }
    let message = format!("Could not find trends for WOEID: {woeid}");
    Err(Refusal::Legacy {
        code: 34,
        message: message.into(),
    }
    .into())
}

/// How many users one follows are listened to: the latest.
const MAX_FOLLOWED_AUTHORS: i64 = 400;
/// How long they are listened to: a week.
const PERSONAL_WINDOW_MS: i64 = 7 * 24 * HOUR_MS;
/// Trends of a person.
const MAX_PERSONAL_TRENDS: usize = 10;

/// What trends for a user: topics that those whom the user follows, and the user, wrote about in
/// the last week; those of most of them first, then those of most posts in the network.
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
    // Only so many are counted in the whole network.
    counts.truncate(MAX_PERSONAL_TRENDS * 5);
    let now = hour_number(tx.now());
    let known = topics::list_trends(tx, i64::MAX)?;
    let mut trends = Vec::new();
    for (topic, authors) in counts {
        let Some(name) = find_topic_name(tx, &topic)? else {
            continue;
        };
        let since = known.iter().find(|trend| trend.topic == topic);
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

/// Forgets hours that have had their time; how many.
pub(crate) fn prune(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let before = hour_number(tx.now()) - RETENTION_HOURS;
    topics::prune(tx, before, limit)
}
