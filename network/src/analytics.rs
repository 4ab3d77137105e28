//! What happened to a user's own posts over time. Only what has a stored time is counted: likes,
//! reposts, replies, quotes and bookmarks that are still there.

use base::refusal::ResourceRef;
use base::{Fault, PostId, Refusal, Time, UserId};
use store::Tx;
use store::analytics::{self, MetricSeries};
use store::posts::{self, Post, PostState};

/// Counts of one span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngagementCounts {
    /// Bookmarks.
    pub bookmarks: i64,
    /// Likes.
    pub likes: i64,
    /// Quotes.
    pub quotes: i64,
    /// Replies.
    pub replies: i64,
    /// Reposts.
    pub reposts: i64,
}

impl EngagementCounts {
    /// All of them together.
    pub const fn total_engagements(&self) -> i64 {
        self.bookmarks + self.likes + self.quotes + self.replies + self.reposts
    }

    const fn series_mut(&mut self, series: MetricSeries) -> &mut i64 {
        match series {
            MetricSeries::Bookmarks => &mut self.bookmarks,
            MetricSeries::Likes => &mut self.likes,
            MetricSeries::Quotes => &mut self.quotes,
            MetricSeries::Replies => &mut self.replies,
            MetricSeries::Reposts => &mut self.reposts,
        }
    }
}

const ALL: [MetricSeries; 5] = [
    MetricSeries::Bookmarks,
    MetricSeries::Likes,
    MetricSeries::Quotes,
    MetricSeries::Replies,
    MetricSeries::Reposts,
];

/// What is counted: from a time on, up to another, in spans of so many milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct AnalyticsWindow {
    /// Included.
    pub start: Time,
    /// Excluded.
    pub end: Time,
    /// Of one span; the last may be shorter.
    pub bucket_ms: i64,
}

/// A post's figures.
#[derive(Clone, Debug)]
pub struct PostAnalytics {
    /// The post.
    pub id: PostId,
    /// Of the whole window.
    pub total: EngagementCounts,
    /// Of each span between the post's creation and now, by its start, oldest first.
    pub buckets: Vec<(Time, EngagementCounts)>,
}

/// The figures of a user's posts in the order of asking, and what of `ids` is none of them.
pub fn load_post_analytics(
    tx: &mut Tx<'_>,
    user: UserId,
    ids: &[PostId],
    window: &AnalyticsWindow,
) -> Result<(Vec<PostAnalytics>, Vec<Refusal>), Fault> {
    let found = posts::find_by_ids(tx, ids)?;
    let (mut counted, mut refused): (Vec<PostAnalytics>, Vec<Refusal>) = Default::default();
    for id in ids {
        let subject = ResourceRef::new("tweet", "ids", id);
        let post = found.iter().find(|post| post.id == *id);
        let post = post.filter(|post| matches!(post.state, PostState::Live | PostState::Superseded));
        let refusal = match post {
            Some(post) if post.author_id == user => {
                if !counted.iter().any(|one| one.id == *id) {
                    counted.push(count_post_engagements(tx, post, window)?);
                }
                continue;
            }
            Some(_) => Refusal::NotVisible(subject),
            None => Refusal::NotFound(subject),
        };
        if !refused.contains(&refusal) {
            refused.push(refusal);
        }
    }
    Ok((counted, refused))
}

fn count_post_engagements(tx: &mut Tx<'_>, post: &Post, window: &AnalyticsWindow) -> Result<PostAnalytics, Fault> {
    let (start, length) = (window.start, window.bucket_ms.max(1));
    let number = |time: Time| (time.ms() - start.ms()).div_euclid(length);
    let end = window.end.min(tx.now().plus_ms(1));
    let first = number(post.created_at.max(start));
    let last = number(end.plus_ms(-1));
    let begin = |span: i64| start.plus_ms(span.saturating_mul(length));
    let spans = (first..=last).map(|span| (begin(span), EngagementCounts::default()));
    let mut counted = PostAnalytics {
        id: post.id,
        total: EngagementCounts::default(),
        buckets: spans.collect(),
    };
    for series in ALL {
        let rows = analytics::count_post_series(tx, series, post.id, (start, window.end), length)?;
        for (span, many) in rows {
            *counted.total.series_mut(series) += many;
            let place = usize::try_from(span - first).unwrap_or(usize::MAX);
            if let Some((_, figures)) = counted.buckets.get_mut(place) {
                *figures.series_mut(series) += many;
            }
        }
    }
    Ok(counted)
}
