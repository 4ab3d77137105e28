//! Counts of matching posts per time bucket.

use base::{Error, Time};
use post_search::{self, PostSearchRequest, TimeBuckets};
use query::QueryProduct;
use serde_json::{Map, json};
use view::CountBucket;
use web::pagination::PageDirection;
use web::request_context::{HttpReply, RequestContext};

use super::window::{self, DAY_MS};
use super::{check_single_token, parse_query};

/// The time range of one page.
const PAGE_MS: i64 = 31 * DAY_MS;

/// Buckets of one length in milliseconds, aligned to the clock; the first and the last may be shorter.
#[derive(Clone, Copy, Debug)]
struct CountBuckets {
    from: i64,
    to: i64,
    step: i64,
}

impl CountBuckets {
    fn bucket_index(&self, at: i64) -> Option<usize> {
        let place = at.div_euclid(self.step) - self.from.div_euclid(self.step);
        usize::try_from(place).ok()
    }

    fn bucket_count(&self) -> usize {
        if self.from >= self.to {
            return 0;
        }
        self.bucket_index(self.to - 1).map_or(0, |last| last + 1)
    }

    fn to_time_buckets(self) -> TimeBuckets {
        let start_ms = self.from - self.from.rem_euclid(self.step);
        TimeBuckets { start_ms, step_ms: self.step, count: self.bucket_count() }
    }

    fn to_counts(self, figures: &[u64]) -> Vec<CountBucket> {
        let mut start = self.from;
        let buckets = figures.iter().map(|posts| {
            let end = (start.div_euclid(self.step) + 1) * self.step;
            let count = CountBucket {
                start: Time::from_ms(start),
                end: Time::from_ms(end.min(self.to)),
                posts: i64::try_from(*posts).unwrap_or(i64::MAX),
            };
            start = end;
            count
        });
        buckets.collect()
    }
}

/// A range that one page cannot cover is continued on the next.
pub(super) async fn respond_counts(call: &RequestContext, product: QueryProduct) -> Result<HttpReply, Error> {
    let query = parse_query(call, product)?;
    check_single_token(call)?;
    let page = call.page_request_with_limit(1)?;
    let bounds = window::parse_bounds(call, product)?;
    let (mut from, mut to) = bounds.time_range(call.now());
    if let Some(keys) = page.after {
        // The token carries the original start, so that the range does not move between pages.
        (to, from) = keys.first_two();
    }
    let step = bucket_length(call);
    let original_start = from;
    if product == QueryProduct::FullCounts && to - from > PAGE_MS {
        let earliest = to - PAGE_MS;
        from = earliest + (step - earliest.rem_euclid(step)) % step;
    }
    let next = (from > original_start).then(|| page.page_token(PageDirection::Next, (from, original_start)));
    let buckets = CountBuckets { from, to, step };
    let mut window = bounds.to_window();
    window.since_ms = window.since_ms.max(from);
    window.until_ms = window.until_ms.min(to);
    let request = PostSearchRequest { query, window, limit: 0 };
    let index = call.search_backend()?.catch_up(call.store()).await?;
    let counted = call.read(move |tx| post_search::count(tx, &*index, &request, buckets.to_time_buckets()));
    let figures = counted.await?;
    render_counts(call, &buckets.to_counts(&figures), next)
}

fn bucket_length(call: &RequestContext) -> i64 {
    match call.query_word("granularity") {
        "minute" => 60_000,
        "day" => DAY_MS,
        _ => 3_600_000,
    }
}

fn render_counts(call: &RequestContext, counts: &[CountBucket], next: Option<String>) -> Result<HttpReply, Error> {
    let options = call.answer_vocabulary();
    let total: i64 = counts.iter().map(|count| count.posts).sum();
    let mut meta = Map::new();
    let (post, tweet) = ("total_post_count", "total_tweet_count");
    for (name, vocabulary) in [(post, base::Vocabulary::Post), (tweet, base::Vocabulary::Tweet)] {
        if options.both_metric_names || options.vocabulary == vocabulary {
            meta.insert(name.to_owned(), json!(total));
        }
    }
    if let Some(token) = next {
        meta.insert("next_token".to_owned(), json!(token));
    }
    call.respond_with_meta(&view::render_counts(counts, options), Some(meta))
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::CountBuckets;

    #[test]
    fn spans_stand_on_the_clock_and_the_ends_are_cut() {
        let spans = CountBuckets { from: 3_599_000, to: 7_300_000, step: 3_600_000 };
        assert_eq!(spans.bucket_count(), 3);
        let shown = spans.to_counts(&[1, 2, 3]);
        let ends: Vec<(i64, i64, i64)> =
            shown.iter().map(|count| (count.start.ms(), count.end.ms(), count.posts)).collect();
        let expected = [(3_599_000, 3_600_000, 1), (3_600_000, 7_200_000, 2), (7_200_000, 7_300_000, 3)];
        assert_eq!(ends, expected);
        assert_eq!(spans.bucket_index(7_199_999), Some(1));
        assert_eq!(CountBuckets { from: 5, to: 5, step: 9 }.bucket_count(), 0);
        assert_eq!(Time::from_ms(0).ms(), 0);
    }
}
