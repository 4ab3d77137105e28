//! Analytics of posts and media. Metrics that are not stored, such as expanded details, are omitted.

use base::{Error, PostId, Refusal, Time, Vocabulary};
use network::analytics::{self, AnalyticsWindow, EngagementCounts};
use network::playbacks;
use serde_json::{Map, Value, json};
use store::playbacks::PlaybackCounts;
use view::ResponsePayload;
use web::request_context::{HttpReply, RequestContext};

const HOUR_MS: i64 = 3_600_000;
/// Buckets per object: more than four weeks of hours.
const MAX_BUCKETS: i64 = 1_000;

type NamedFigure<T> = (&'static str, fn(&T) -> i64);

/// What the analytics of one kind of object are called.
struct AnalyticsForm<T: 'static> {
    fields_param: &'static str,
    /// The member that identifies an object.
    key: &'static str,
    figures: &'static [NamedFigure<T>],
}

const POST_FORM: AnalyticsForm<EngagementCounts> = AnalyticsForm {
    fields_param: "analytics.fields",
    key: "id",
    figures: &[
        ("bookmarks", |figures| figures.bookmarks),
        ("engagements", EngagementCounts::total_engagements),
        ("impressions", |figures| figures.impressions),
        ("likes", |figures| figures.likes),
        ("quote_tweets", |figures| figures.quotes),
        ("replies", |figures| figures.replies),
        ("retweets", |figures| figures.reposts),
        ("url_clicks", |figures| figures.url_clicks),
        ("user_profile_clicks", |figures| figures.user_profile_clicks),
    ],
};

const MEDIA_FORM: AnalyticsForm<PlaybackCounts> = AnalyticsForm {
    fields_param: "media_analytics.fields",
    key: "media_key",
    figures: &[
        ("playback25", |figures| figures.quarters),
        ("playback50", |figures| figures.halves),
        ("playback75", |figures| figures.three_quarters),
        ("playback_complete", |figures| figures.completions),
        ("playback_start", |figures| figures.starts),
        ("video_views", |figures| figures.views),
        ("watch_time_ms", |figures| figures.watch_time_ms),
    ],
};

/// Key, total and buckets with their starts.
type AnalyticsRow<T> = (String, T, Vec<(Time, T)>);

pub(crate) async fn get_post_analytics(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, window) = (call.require_user()?, parse_window(&call)?);
    let ids: Vec<PostId> = call.query_ids("ids");
    let found = call.read(move |tx| Ok(analytics::load_post_analytics(tx, user, &ids, &window)?));
    let (counted, errors) = found.await?;
    let rows = counted.into_iter().map(|one| (one.id.to_string(), one.total, one.buckets));
    respond_metrics(&call, &POST_FORM, rows, errors, window.start)
}

pub(crate) async fn get_media_analytics(call: RequestContext) -> Result<HttpReply, Error> {
    let (user, window) = (call.require_user()?, parse_window(&call)?);
    let keys = call.query_texts("media_keys");
    let found = call.read(move |tx| Ok(playbacks::load_media_analytics(tx, user, &keys, &window)?));
    let (counted, errors) = found.await?;
    let rows = counted.into_iter().map(|one| (one.media_key, one.total, one.buckets));
    respond_metrics(&call, &MEDIA_FORM, rows, errors, window.start)
}

fn parse_window(call: &RequestContext) -> Result<AnalyticsWindow, Error> {
    let missing = |name| Error::from(Refusal::missing_parameter(name));
    let start = call.query_time("start_time").ok_or_else(|| missing("start_time"))?;
    let end = call.query_time("end_time").ok_or_else(|| missing("end_time"))?;
    if start >= end {
        return Err(super::timelines::wrong_order(call, "start_time", "end_time").into());
    }
    let range_ms = end.ms() - start.ms();
    let bucket_ms = match call.query_word("granularity") {
        "hourly" => HOUR_MS,
        "daily" => 24 * HOUR_MS,
        "weekly" => 7 * 24 * HOUR_MS,
        _ => range_ms,
    };
    if range_ms.div_euclid(bucket_ms) > MAX_BUCKETS {
        let value = call.raw_param("granularity");
        let message = format!(
            "The `granularity` query parameter value [{value}] is not between 1 and {MAX_BUCKETS} \
             spans from `start_time` to `end_time`"
        );
        return Err(Refusal::invalid_parameter("granularity", value, message).into());
    }
    Ok(AnalyticsWindow { start, end, bucket_ms })
}

fn respond_metrics<T>(
    call: &RequestContext,
    form: &AnalyticsForm<T>,
    rows: impl Iterator<Item = AnalyticsRow<T>>,
    errors: Vec<Refusal>,
    start: Time,
) -> Result<HttpReply, Error> {
    let fields = call.query_texts(form.fields_param);
    let is_requested = |name: &str| fields.iter().any(|field| field == name);
    let no_metric_requested = !form.figures.iter().any(|(name, _)| is_requested(name));
    // In the older vocabulary, the metrics that can be requested are members of the series only.
    let shows_series = fields.is_empty() || is_requested("timestamped_metrics") || {
        call.answer_vocabulary().vocabulary == Vocabulary::Tweet && !no_metric_requested
    };
    let figures = |figures: &T| -> Map<String, Value> {
        let shown = form.figures.iter().filter(|(name, _)| no_metric_requested || is_requested(name));
        shown.map(|(name, of)| ((*name).to_owned(), json!(of(figures)))).collect()
    };
    let bucket = |(start, of): &(Time, T)| json!({ "timestamp": start.to_string(), "metrics": figures(of) });
    let analytics_json = |(key, total, buckets): AnalyticsRow<T>| {
        let mut members = if fields.is_empty() || !no_metric_requested { figures(&total) } else { Map::new() };
        members.insert(form.key.to_owned(), Value::String(key));
        if fields.is_empty() || is_requested("timestamp") {
            members.insert("timestamp".to_owned(), json!(start.to_string()));
        }
        if shows_series && !buckets.is_empty() {
            let buckets = buckets.iter().map(bucket).collect();
            members.insert("timestamped_metrics".to_owned(), Value::Array(buckets));
        }
        Value::Object(members)
    };
    let data: Vec<Value> = rows.map(analytics_json).collect();
    let answer = ResponsePayload {
        count: data.len(),
        data: if data.is_empty() { String::new() } else { Value::Array(data).to_string() },
        errors,
        ..ResponsePayload::default()
    };
    call.respond(&answer)
}
