//! Analytics of a user's own posts over time, from likes, reposts, replies, quotes and bookmarks that still
//! exist, and clicks on links outside promotion, which are known by the hour.

use base::refusal::ResourceRef;
use base::{Fault, PostId, Refusal, Time, UserId};
use store::Tx;
use store::analytics::{self, MetricSeries};
use store::posts::{self, Post, PostState};
use store::short_links;

/// Counts of one time interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngagementCounts {
    pub bookmarks: i64,
    pub likes: i64,
    pub quotes: i64,
    pub replies: i64,
    pub reposts: i64,
    pub url_clicks: i64,
}

impl EngagementCounts {
    pub const fn total_engagements(&self) -> i64 {
        self.bookmarks + self.likes + self.quotes + self.replies + self.reposts + self.url_clicks
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

const ALL: [MetricSeries; 5] =
    [MetricSeries::Bookmarks, MetricSeries::Likes, MetricSeries::Quotes, MetricSeries::Replies, MetricSeries::Reposts];

/// A period, divided into buckets.
#[derive(Clone, Copy, Debug)]
pub struct AnalyticsWindow {
    /// Inclusive.
    pub start: Time,
    /// Exclusive.
    pub end: Time,
    /// The length of a bucket in milliseconds; the last may be shorter.
    pub bucket_ms: i64,
}

#[derive(Clone, Debug)]
pub struct PostAnalytics {
    pub id: PostId,
    pub total: EngagementCounts,
    /// One per bucket between the post's creation and now, with its start, oldest first.
    pub buckets: Vec<(Time, EngagementCounts)>,
}

/// Analytics in the order of `ids`, and a refusal for each id that is not a post of the user.
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
    let (start, bucket_ms) = (window.start, window.bucket_ms.max(1));
    let bucket_index = |time: Time| (time.ms() - start.ms()).div_euclid(bucket_ms);
    let end = window.end.min(tx.now().plus_ms(1));
    let first = bucket_index(post.created_at.max(start));
    let last = bucket_index(end.plus_ms(-1));
    let bucket_start = |index: i64| start.plus_ms(index.saturating_mul(bucket_ms));
    let buckets = (first..=last).map(|index| (bucket_start(index), EngagementCounts::default()));
    let mut counted = PostAnalytics { id: post.id, total: EngagementCounts::default(), buckets: buckets.collect() };
    let mut add = |(index, count): (i64, i64), select: &dyn Fn(&mut EngagementCounts) -> &mut i64| {
        *select(&mut counted.total) += count;
        let position = usize::try_from(index - first).unwrap_or(usize::MAX);
        if let Some((_, counts)) = counted.buckets.get_mut(position) {
            *select(counts) += count;
        }
    };
    for series in ALL {
        let rows = analytics::count_post_series(tx, series, post.id, (start, window.end), bucket_ms)?;
        for row in rows {
            add(row, &|counts| counts.series_mut(series));
        }
    }
    for (hour, clicks) in short_links::list_hourly_clicks(tx, post.id, (start, window.end))? {
        let index = bucket_index(hour.max(post.created_at).max(start));
        add((index, clicks), &|counts| &mut counts.url_clicks);
    }
    Ok(counted)
}
