//! Time and id bounds of a search.

use base::id::{first_snowflake_at, snowflake_time};
use base::{Error, PostId, Refusal, Time};
use post_search::SearchWindow;
use query::QueryProduct;
use web::request_context::RequestContext;

use crate::v2::time_param;
use crate::v2::timelines::wrong_order;

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
pub(super) const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// How far back recent search reaches.
const RECENT_REACH_MS: i64 = 7 * DAY_MS;
/// How far back full-archive search reaches by default.
const DEFAULT_REACH_MS: i64 = 30 * DAY_MS;
/// Minimum age of an explicit time.
const MIN_AGE_MS: i64 = 10 * SECOND_MS;
/// The beginning of the full archive, 2006-03-21T00:00:00Z.
const ARCHIVE_START: Time = Time::from_seconds(1_142_899_200);

/// Ids of the years before were counted, up to about 30 billion.
const FIRST_SNOWFLAKE: i64 = 1 << 35;

#[derive(Clone, Copy, Debug)]
pub(super) struct SearchBounds {
    /// Included.
    pub(super) from: Time,
    /// Excluded; none means until now.
    pub(super) to: Option<Time>,
    since: Option<PostId>,
    until: Option<PostId>,
}

impl SearchBounds {
    pub(super) fn to_window(self) -> SearchWindow {
        SearchWindow {
            after_id: self.since.map_or(i64::MIN, PostId::get),
            before_id: self.until.map_or(i64::MAX, PostId::get),
            since_ms: self.from.ms(),
            until_ms: self.to.map_or(i64::MAX, Time::ms),
        }
    }

    /// The range in milliseconds, in whole seconds.
    pub(super) fn time_range(&self, now: Time) -> (i64, i64) {
        let whole = |ms: i64| ms - ms.rem_euclid(SECOND_MS);
        let since = self.since.and_then(time_of_id).map_or(i64::MIN, |at| whole(at.ms()));
        let from = whole(self.from.ms()).max(since);
        let end = self.to.map_or_else(|| whole(now.ms()) + SECOND_MS, Time::ms);
        let until = self.until.and_then(time_of_id).map_or(i64::MAX, |at| whole(at.ms()) + SECOND_MS);
        (from, end.min(until))
    }
}

pub(super) fn parse_bounds(call: &RequestContext, product: QueryProduct) -> Result<SearchBounds, Error> {
    let now = call.now();
    let recent = matches!(product, QueryProduct::RecentSearch | QueryProduct::RecentCounts);
    let earliest = if recent { now.plus_ms(-RECENT_REACH_MS) } else { ARCHIVE_START };
    let (start, end) = (time_param(call, "start_time"), time_param(call, "end_time"));
    let (since, until): (Option<PostId>, Option<PostId>) = (call.query_id("since_id"), call.query_id("until_id"));
    check_exclusive(call, "start_time", "since_id")?;
    check_exclusive(call, "end_time", "until_id")?;
    for (name, time) in [("start_time", start), ("end_time", end)] {
        if let Some(time) = time {
            check_named_time(call, name, time, (earliest, now))?;
        }
    }
    if recent {
        for (name, id) in [("since_id", since), ("until_id", until)] {
            if id.is_some_and(|id| id.get() < first_snowflake_at(floor_to_minute(earliest))) {
                return Err(id_too_old(call, name, floor_to_minute(earliest)).into());
            }
        }
    }
    if start.zip(end).is_some_and(|(start, end)| start >= end) {
        return Err(wrong_order(call, "start_time", "end_time").into());
    }
    if since.zip(until).is_some_and(|(since, until)| since >= until) {
        return Err(wrong_order(call, "since_id", "until_id").into());
    }
    let from = start.unwrap_or_else(|| {
        let latest = end.or(until.and_then(time_of_id)).unwrap_or(now).min(now);
        let is_before_snowflakes = until.is_some_and(|id| time_of_id(id).is_none());
        match since {
            _ if recent => earliest,
            Some(_) => ARCHIVE_START,
            None if is_before_snowflakes => ARCHIVE_START,
            None => latest.plus_ms(-DEFAULT_REACH_MS),
        }
    });
    Ok(SearchBounds { from, to: end, since, until })
}

/// None for an id from before November 2010, when ids had no time.
fn time_of_id(id: PostId) -> Option<Time> {
    (id.get() >= FIRST_SNOWFLAKE).then(|| id.created_at())
}

fn check_exclusive(call: &RequestContext, one: &'static str, other: &'static str) -> Result<(), Refusal> {
    let (first, second) = (call.raw_param(one), call.raw_param(other));
    if first.is_empty() || second.is_empty() {
        return Ok(());
    }
    let message = format!("Only one of `{one}` and `{other}` can be given");
    Err(Refusal::invalid_parameter(one, first, message))
}

fn check_named_time(
    call: &RequestContext,
    name: &'static str,
    time: Time,
    (earliest, now): (Time, Time),
) -> Result<(), Refusal> {
    let value = call.raw_param(name);
    let reason = if time > now.plus_ms(-MIN_AGE_MS) {
        format!("'{name}' must be a minimum of 10 seconds prior to the request time.")
    } else if time < floor_to_minute(earliest) {
        format!("'{name}' must be on or after {}.", format_minute(earliest))
    } else {
        return Ok(());
    };
    Err(Refusal::invalid_parameter(name, value, format!("Invalid '{name}':'{value}'. {reason}")))
}

fn id_too_old(call: &RequestContext, name: &'static str, earliest: Time) -> Refusal {
    let message = format!(
        "'{name}' must be a tweet id created after {}. Please use a '{name}' that is larger than {}",
        format_minute(earliest),
        first_snowflake_at(earliest)
    );
    debug_assert!(snowflake_time(first_snowflake_at(earliest)) <= earliest);
    Refusal::invalid_parameter(name, call.raw_param(name), message)
}

/// Truncated to the minute, so that a bound computed just before the request is accepted.
fn floor_to_minute(time: Time) -> Time {
    time.plus_ms(-time.ms().rem_euclid(MINUTE_MS))
}

/// `2026-11-14T10:32Z`.
fn format_minute(time: Time) -> String {
    let text = time.to_string();
    let end = text.len().min("2026-11-14T10:32".len());
    format!("{}Z", text.get(..end).unwrap_or_default())
}
