//! Analytics of a user's own posts over time: likes, reposts, replies, quotes and bookmarks that still exist, and what is
//! counted by hour.

use base::refusal::ResourceRef;
use base::{Fault, PostId, Refusal, Time, UserId};
use store::Tx;
use store::analytics::{self, MetricSeries};
use store::ledger::{self, Metric};
use store::posts::{self, Post, PostState};
use store::views::{self, HOUR_MS, hour_number};

/// Counts of one time interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngagementCounts {
    pub bookmarks: i64,
    pub likes: i64,
    pub quotes: i64,
    pub replies: i64,
    pub reposts: i64,
    pub impressions: i64,
    pub url_clicks: i64,
    pub user_profile_clicks: i64,
    /// All engagements that leave no rows, of which clicks are a part.
    engagements_without_rows: i64,
}

impl EngagementCounts {
    pub const fn total_engagements(&self) -> i64 {
        self.bookmarks + self.likes + self.quotes + self.replies + self.reposts + self.engagements_without_rows
    }

    const fn merge(&mut self, other: &Self) {
        self.bookmarks += other.bookmarks;
        self.likes += other.likes;
        self.quotes += other.quotes;
        self.replies += other.replies;
        self.reposts += other.reposts;
        self.impressions += other.impressions;
        self.url_clicks += other.url_clicks;
        self.user_profile_clicks += other.user_profile_clicks;
        self.engagements_without_rows += other.engagements_without_rows;
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

impl AnalyticsWindow {
    fn bucket_index(&self, time: Time) -> i64 {
        (time.ms() - self.start.ms()).div_euclid(self.bucket_ms.max(1))
    }

    /// The index of the first bucket after `since`, and the starts of the buckets from there until now.
    pub(crate) fn buckets<T: Default>(&self, since: Time, now: Time) -> (i64, Vec<(Time, T)>) {
        let end = self.end.min(now.plus_ms(1));
        let (first, last) = (self.bucket_index(since.max(self.start)), self.bucket_index(end.plus_ms(-1)));
        let start = |index: i64| self.start.plus_ms(index.saturating_mul(self.bucket_ms.max(1)));
        (first, (first..=last).map(|index| (start(index), T::default())).collect())
    }

    /// Numbers of the hours (since 1970) of the window, the first of which may begin before it.
    pub(crate) fn hours(&self) -> (i64, i64) {
        (hour_number(self.start), hour_number(self.end.plus_ms(HOUR_MS - 1)))
    }

    /// The bucket in which an hour (since 1970) is counted.
    pub(crate) fn bucket_of_hour(&self, hour: i64) -> i64 {
        self.bucket_index(Time::from_ms(hour.saturating_mul(HOUR_MS)).max(self.start))
    }
}

fn count_post_engagements(tx: &mut Tx<'_>, post: &Post, window: &AnalyticsWindow) -> Result<PostAnalytics, Fault> {
    let (first, buckets) = window.buckets(post.created_at, tx.now());
    let mut counted = PostAnalytics { id: post.id, total: EngagementCounts::default(), buckets };
    for (index, counts) in load_counts(tx, post.id, window)? {
        counted.total.merge(&counts);
        // An hour may begin before the post.
        let position = usize::try_from((index - first).max(0)).unwrap_or(usize::MAX);
        if let Some((_, bucket)) = counted.buckets.get_mut(position) {
            bucket.merge(&counts);
        }
    }
    Ok(counted)
}

/// With the index of their bucket, in no order.
fn load_counts(tx: &mut Tx<'_>, post: PostId, window: &AnalyticsWindow) -> Result<Vec<(i64, EngagementCounts)>, Fault> {
    let (period, mut found) = ((window.start, window.end), Vec::new());
    for series in ALL {
        for (index, count) in analytics::count_post_series(tx, series, post, period, window.bucket_ms.max(1))? {
            let mut counts = EngagementCounts::default();
            *counts.series_mut(series) += count;
            found.push((index, counts));
        }
    }
    for (hourly, hour) in views::hourly_counts(tx, post, window.hours())? {
        let counts = EngagementCounts {
            impressions: hourly.impressions,
            url_clicks: hourly.link_clicks,
            user_profile_clicks: hourly.profile_clicks,
            engagements_without_rows: hourly.link_clicks + hourly.profile_clicks,
            ..EngagementCounts::default()
        };
        found.push((window.bucket_of_hour(hour), counts));
    }
    let (from, _) = window.hours();
    let period = (Time::from_ms(from.saturating_mul(HOUR_MS)), window.end);
    for (start, sums) in ledger::hourly_sums_of_post(tx, post, period)? {
        let counts = EngagementCounts {
            url_clicks: sums.get(Metric::UrlClicks),
            engagements_without_rows: sums.engagements_without_rows(),
            ..EngagementCounts::default()
        };
        found.push((window.bucket_index(start.max(window.start)), counts));
    }
    Ok(found)
}
