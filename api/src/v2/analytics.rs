//! Post analytics. Metrics that are not stored, such as expanded details, are omitted.

use base::{Error, PostId, Refusal, Time};
use network::analytics::{self, AnalyticsWindow, EngagementCounts, PostAnalytics};
use serde_json::{Map, Value, json};
use view::ResponsePayload;
use web::endpoint::HandlerFuture;
use web::request_context::{HttpReply, RequestContext};

const HOUR_MS: i64 = 3_600_000;
/// Buckets per post: more than four weeks of hours.
const MAX_BUCKETS: i64 = 1_000;

type NamedFigure = (&'static str, fn(&EngagementCounts) -> i64);

const FIGURES: [NamedFigure; 9] = [
    ("bookmarks", |figures| figures.bookmarks),
    ("engagements", EngagementCounts::total_engagements),
    ("impressions", |figures| figures.impressions),
    ("likes", |figures| figures.likes),
    ("quote_tweets", |figures| figures.quotes),
    ("replies", |figures| figures.replies),
    ("retweets", |figures| figures.reposts),
    ("url_clicks", |figures| figures.url_clicks),
    ("user_profile_clicks", |figures| figures.user_profile_clicks),
];

/// `GET /2/posts/analytics`.
pub(crate) fn get_post_analytics(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let (user, window) = (call.require_user()?, parse_window(&call)?);
        let ids: Vec<PostId> = call.query_ids("ids");
        let found = call.read(move |tx| Ok(analytics::load_post_analytics(tx, user, &ids, &window)?));
        let (counted, errors) = found.await?;
        respond_metrics(&call, &counted, errors, &window)
    })
}

fn parse_window(call: &RequestContext) -> Result<AnalyticsWindow, Error> {
    let missing = |name| Error::from(Refusal::missing_parameter(name));
    let start = call.query_time("start_time").ok_or_else(|| missing("start_time"))?;
    let end = call.query_time("end_time").ok_or_else(|| missing("end_time"))?;
    if start >= end {
        return Err(super::timelines::wrong_order(call, "start_time", "end_time").into());
    }
    let range_ms = end.ms() - start.ms();
    let bucket_ms = match call.query_text("granularity") {
        Some("hourly") => HOUR_MS,
        Some("daily") => 24 * HOUR_MS,
        Some("weekly") => 7 * 24 * HOUR_MS,
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

fn respond_metrics(
    call: &RequestContext,
    counted: &[PostAnalytics],
    errors: Vec<Refusal>,
    window: &AnalyticsWindow,
) -> Result<HttpReply, Error> {
    let fields = call.query_texts("analytics.fields");
    let is_requested = |name: &str| fields.iter().any(|field| field == name);
    let no_metric_requested = !FIGURES.iter().any(|(name, _)| is_requested(name));
    let figures = |figures: &EngagementCounts| -> Map<String, Value> {
        let shown = FIGURES.iter().filter(|(name, _)| no_metric_requested || is_requested(name));
        shown.map(|(name, of)| ((*name).to_owned(), json!(of(figures)))).collect()
    };
    let bucket =
        |(start, of): &(Time, EngagementCounts)| json!({ "timestamp": start.to_string(), "metrics": figures(of) });
    let analytics_json = |one: &PostAnalytics| {
        let mut members = if fields.is_empty() || !no_metric_requested { figures(&one.total) } else { Map::new() };
        members.insert("id".to_owned(), json!(one.id.to_string()));
        if fields.is_empty() || is_requested("timestamp") {
            members.insert("timestamp".to_owned(), json!(window.start.to_string()));
        }
        if (fields.is_empty() || is_requested("timestamped_metrics")) && !one.buckets.is_empty() {
            let buckets = one.buckets.iter().map(bucket).collect();
            members.insert("timestamped_metrics".to_owned(), Value::Array(buckets));
        }
        Value::Object(members)
    };
    let data: Vec<Value> = counted.iter().map(analytics_json).collect();
    let answer = ResponsePayload {
        count: data.len(),
        data: if data.is_empty() { String::new() } else { Value::Array(data).to_string() },
        errors,
        ..ResponsePayload::default()
    };
    call.respond(&answer)
}
