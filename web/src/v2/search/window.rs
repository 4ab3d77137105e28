//! The time and the ids that a search is bounded by.

use base::id::{first_snowflake_at, snowflake_time};
use base::{Error, PostId, Refusal, Time};
use network::search::SearchWindow;
use query::QueryProduct;

use crate::call::Call;
use crate::v2::timelines::wrong_order;

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
pub(super) const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// How far recent search looks back.
const RECENT_MS: i64 = 7 * DAY_MS;
/// How far the full archive looks back when nothing is said.
const USUAL_MS: i64 = 30 * DAY_MS;
/// How long ago a named time must be.
const PAST_MS: i64 = 10 * SECOND_MS;
/// The first second of the full archive, 2006-03-26T00:00:01Z.
const FIRST: Time = Time::from_seconds(1_143_331_201);

/// What a request bounds a search by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// From then on.
    pub(super) from: Time,
    /// Until then, excluded; none: until now.
    pub(super) to: Option<Time>,
    since: Option<PostId>,
    until: Option<PostId>,
}

impl Bounds {
    pub(super) fn window(&self) -> SearchWindow {
        SearchWindow {
            after_id: self.since.map_or(i64::MIN, PostId::get),
            before_id: self.until.map_or(i64::MAX, PostId::get),
            since_ms: self.from.ms(),
            until_ms: self.to.map_or(i64::MAX, Time::ms),
        }
    }

    /// The moments between which posts may be, for whom one looks now.
    pub(super) fn span(&self, now: Time) -> (i64, i64) {
        let whole = |ms: i64| ms - ms.rem_euclid(SECOND_MS);
        let since = self
            .since
            .map_or(i64::MIN, |id| whole(id.created_at().ms()));
        let from = whole(self.from.ms()).max(since);
        let end = self
            .to
            .map_or_else(|| whole(now.ms()) + SECOND_MS, Time::ms);
        let until = self
            .until
            .map_or(i64::MAX, |id| whole(id.created_at().ms()) + SECOND_MS);
        (from, end.min(until))
    }
}

/// Reads the bounds of a search and judges them.
pub(super) fn read(call: &Call, product: QueryProduct) -> Result<Bounds, Error> {
    let now = call.now();
    let recent = matches!(
        product,
        QueryProduct::RecentSearch | QueryProduct::RecentCounts
    );
    let earliest = if recent {
        now.plus_ms(-RECENT_MS)
    } else {
        FIRST
    };
    let (start, end) = (time(call, "start_time"), time(call, "end_time"));
    let (since, until): (Option<PostId>, Option<PostId>) =
        (call.id("since_id"), call.id("until_id"));
    either(call, "start_time", "since_id")?;
    either(call, "end_time", "until_id")?;
    for (name, time) in [("start_time", start), ("end_time", end)] {
        if let Some(time) = time {
            named(call, name, time, (earliest, now))?;
        }
    }
    if recent {
        for (name, id) in [("since_id", since), ("until_id", until)] {
            if id.is_some_and(|id| id.get() < first_snowflake_at(minute(earliest))) {
                return Err(too_old(call, name, minute(earliest)).into());
            }
        }
    }
    if start.zip(end).is_some_and(|(start, end)| start >= end) {
        return Err(wrong_order(call, "start_time", "end_time").into());
    }
    if since
        .zip(until)
        .is_some_and(|(since, until)| since >= until)
    {
        return Err(wrong_order(call, "since_id", "until_id").into());
    }
    let from = start.unwrap_or_else(|| {
        let latest = end.or(until.map(PostId::created_at)).unwrap_or(now);
        match since {
            _ if recent => earliest,
            Some(_) => FIRST,
            None => latest.plus_ms(-USUAL_MS),
        }
    });
    Ok(Bounds {
        from,
        to: end,
        since,
        until,
    })
}

/// A time, to the second.
fn time(call: &Call, name: &str) -> Option<Time> {
    let time = call.time(name)?;
    Some(Time::from_seconds(time.seconds()))
}

/// Of two ways to bound the same end one can be used.
fn either(call: &Call, one: &'static str, other: &'static str) -> Result<(), Refusal> {
    let (first, second) = (call.raw(one), call.raw(other));
    if first.is_empty() || second.is_empty() {
        return Ok(());
    }
    let message = format!("Only one of `{one}` and `{other}` can be given");
    Err(Refusal::invalid_parameter(one, first, message))
}

fn named(
    call: &Call,
    name: &'static str,
    time: Time,
    (earliest, now): (Time, Time),
) -> Result<(), Refusal> {
    let value = call.raw(name);
    let why = if time > now.plus_ms(-PAST_MS) {
        format!("'{name}' must be a minimum of 10 seconds prior to the request time.")
    } else if time < minute(earliest) {
        format!("'{name}' must be on or after {}.", to_minute(earliest))
    } else {
        return Ok(());
    };
    Err(Refusal::invalid_parameter(
        name,
        value,
        format!("Invalid '{name}':'{value}'. {why}"),
    ))
}

fn too_old(call: &Call, name: &'static str, earliest: Time) -> Refusal {
    let message = format!(
        "'{name}' must be a tweet id created after {}. Please use a '{name}' that is larger than {}",
        to_minute(earliest),
        first_snowflake_at(earliest)
    );
    debug_assert!(snowflake_time(first_snowflake_at(earliest)) <= earliest);
    Refusal::invalid_parameter(name, call.raw(name), message)
}

/// The beginning of a minute: whoever works out the bound just before asking is not refused.
fn minute(time: Time) -> Time {
    time.plus_ms(-time.ms().rem_euclid(MINUTE_MS))
}

/// `2026-11-14T10:32Z`.
fn to_minute(time: Time) -> String {
    let text = time.to_string();
    let end = text.len().min("2026-11-14T10:32".len());
    format!("{}Z", text.get(..end).unwrap_or_default())
}
