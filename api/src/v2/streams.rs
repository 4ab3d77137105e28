//! Connects apps to streams of posts, likes and compliance events (contract core §9).

use base::refusal::StreamConnectionRefusal;
use base::{Error, Refusal, Time};
use bytes::Bytes;
use deliver::streams::{ConnectionRequest, ReplayWindow, StreamEndpoint, StreamFormat};
use futures_util::StreamExt as _;
use http::{HeaderName, HeaderValue};
use serde_json::json;
use store::rules as stored;
use view::ObjectKind;
use web::request_context::{HttpReply, RequestContext};

use super::rules::{self, is_enterprise};

/// The powerstream's names of [`REPLAY_PARAMS`].
const POWERSTREAM_PARAMS: [&str; 3] = ["backfillMinutes", "startTime", "endTime"];
const REPLAY_PARAMS: [&str; 3] = ["backfill_minutes", "start_time", "end_time"];
const LOCAL_DC_PARAM: &str = "localDcOnly";
const DATACENTER: &str = "local";
/// Limit of a connection of a self-serve app.
const MAX_POSTS_PER_SECOND: u32 = 250;
/// Simultaneous replays per app.
const MAX_REPLAYS: usize = 2;
/// How far back a replay may start.
const REPLAY_REACH_MS: i64 = 24 * 3600 * 1000;
const REPLAY_MIN_AGE_MS: i64 = 10_000;
const MINUTE_MS: i64 = 60_000;

macro_rules! streams {
    ($($name:ident, $endpoint:ident, $about:literal;)*) => {$(
        #[doc = $about]
        pub(crate) async fn $name(call: RequestContext) -> Result<HttpReply, Error> {
            connect(call, StreamEndpoint::$endpoint).await
        }
    )*};
}

streams! {
    powerstream, Powerstream, "`GET /2/powerstream`.";
    filtered, Filtered, "`GET /2/posts/search/stream`.";
    sample, Sample, "`GET /2/posts/sample/stream`.";
    sample10, Sample10, "`GET /2/posts/sample10/stream`.";
    firehose, Firehose, "`GET /2/posts/firehose/stream`.";
    firehose_en, FirehoseEn, "`GET /2/posts/firehose/stream/lang/en`.";
    firehose_ja, FirehoseJa, "`GET /2/posts/firehose/stream/lang/ja`.";
    firehose_ko, FirehoseKo, "`GET /2/posts/firehose/stream/lang/ko`.";
    firehose_pt, FirehosePt, "`GET /2/posts/firehose/stream/lang/pt`.";
    posts_compliance, PostsCompliance, "`GET /2/posts/compliance/stream`.";
    users_compliance, UsersCompliance, "`GET /2/users/compliance/stream`.";
    labels, Labels, "`GET /2/posts/label/stream`: posts have no labels here.";
    likes_firehose, LikesFirehose, "`GET /2/likes/firehose/stream`.";
    likes_sample10, LikesSample10, "`GET /2/likes/sample10/stream`.";
    likes_compliance, LikesCompliance, "`GET /2/likes/compliance/stream`.";
}

async fn connect(call: RequestContext, endpoint: StreamEndpoint) -> Result<HttpReply, Error> {
    let (app, enterprise) = (call.require_caller()?.app_id, is_enterprise(&call)?);
    let open = [StreamEndpoint::Filtered, StreamEndpoint::Sample].contains(&endpoint);
    if !enterprise && !open {
        return Err(rules::enterprise_required());
    }
    let names = if endpoint == StreamEndpoint::Powerstream { POWERSTREAM_PARAMS } else { REPLAY_PARAMS };
    let replay_window = parse_replay_params(&call, enterprise, names)?;
    if let Some(product) = endpoint.rule_product() {
        let count = call.read(move |tx| Ok(stored::count(tx, app, product)?));
        if count.await? == 0 {
            return Err(Refusal::Connection(StreamConnectionRefusal::NoRules).into());
        }
    }
    let replay = replay_window.is_some_and(|replay_window| replay_window.until.is_some());
    let max_connections = if replay { MAX_REPLAYS } else { endpoint.max_connections(enterprise) };
    let request = ConnectionRequest {
        app,
        endpoint,
        partition: partition_param(&call),
        replay,
        max_connections,
        max_per_second: (!enterprise).then_some(MAX_POSTS_PER_SECOND),
        client: call.client_address(),
    };
    let session = call.stream_hub().open(request).await?;
    let feed = session.feed();
    let format = feed_format(&call, endpoint);
    let streams = &call.state.post_streams;
    let local = call.endpoint().has_param(LOCAL_DC_PARAM) && call.query_flag(LOCAL_DC_PARAM);
    let first = futures_util::stream::iter(local.then(|| connection_metadata(call.now())));
    let feed = if let Some(replay_window) = replay_window {
        feed.after_backfill(first.chain(streams.replay_posts(&session, format, replay_window)))
    } else {
        // Join before the response starts, so that nothing is missed.
        streams.join(&session, format, None).await;
        feed.after_backfill(first)
    };
    let reply = call.respond_stream(feed);
    Ok(if local { add_datacenter_headers(reply) } else { reply })
}

fn feed_format(call: &RequestContext, endpoint: StreamEndpoint) -> StreamFormat {
    let object = if endpoint.carries_likes() { ObjectKind::LIKE } else { ObjectKind::POST };
    StreamFormat { selection: call.field_selection(object), options: call.answer_vocabulary() }
}

fn add_datacenter_headers(reply: HttpReply) -> HttpReply {
    let datacenter = HeaderName::from_static("x-powerstream-datacenter");
    let local = HeaderName::from_static("x-powerstream-localdconly");
    reply.header(datacenter, HeaderValue::from_static(DATACENTER)).header(local, HeaderValue::from_static("true"))
}

/// The first line of a powerstream with `localDcOnly`.
fn connection_metadata(now: Time) -> Bytes {
    let line = json!({
        "type": "connection_metadata",
        "datacenter": DATACENTER,
        "timestamp": now.ms(),
    });
    Bytes::from(format!("{line}\r\n"))
}

fn partition_param(call: &RequestContext) -> u8 {
    if !call.endpoint().has_param("partition") {
        return 1;
    }
    u8::try_from(call.query_int("partition")).unwrap_or(1)
}

pub(super) fn parse_replay(call: &RequestContext, enterprise: bool) -> Result<Option<ReplayWindow>, Error> {
    parse_replay_params(call, enterprise, REPLAY_PARAMS)
}

fn parse_replay_params(
    call: &RequestContext,
    enterprise: bool,
    names: [&'static str; 3],
) -> Result<Option<ReplayWindow>, Error> {
    let [back, from, until] = names;
    let (minutes, now) = (call.query_int(back), call.now());
    let refuse = |name: &'static str, message: String| {
        Err(Refusal::invalid_parameter(call.param_name_used(name), call.raw_param(name), message).into())
    };
    let takes_range = call.endpoint().has_param(from);
    let (start, end) = if takes_range { (call.query_time(from), call.query_time(until)) } else { (None, None) };
    let requested = minutes > 0 || start.is_some() || end.is_some();
    if requested && !enterprise {
        let name = match (minutes, start) {
            (1.., _) => back,
            (_, Some(_)) => from,
            _ => until,
        };
        return refuse(name, format!("`{name}` needs enterprise access"));
    }
    let (start, end) = match (start, end) {
        (None, None) if minutes == 0 => return Ok(None),
        (None, None) => {
            let from = now.plus_ms(-minutes * MINUTE_MS);
            return Ok(Some(ReplayWindow { from, until: None }));
        }
        (Some(start), Some(end)) => (start, end),
        (None, _) => return Err(Refusal::missing_parameter(from).into()),
        (_, None) => return Err(Refusal::missing_parameter(until).into()),
    };
    if minutes > 0 {
        let message = format!("`{back}` does not go with `{from}` and `{until}`");
        return refuse(back, message);
    }
    check_replay_range(call, names, (start, end), now)?;
    Ok(Some(ReplayWindow { from: start, until: Some(end) }))
}

fn check_replay_range(
    call: &RequestContext,
    [_, from, until]: [&'static str; 3],
    (start, end): (Time, Time),
    now: Time,
) -> Result<(), Error> {
    let invalid_time = |name: &'static str, rule: &str| -> Error {
        let raw = call.raw_param(name);
        let message = format!("Invalid '{name}':'{raw}'. {rule}");
        Refusal::invalid_parameter(name, raw, message).into()
    };
    if start < now.plus_ms(-REPLAY_REACH_MS) {
        let rule = format!("'{from}' must be on or after 24 hours before the request time.");
        return Err(invalid_time(from, &rule));
    }
    if end > now.plus_ms(-REPLAY_MIN_AGE_MS) {
        let rule = format!("'{until}' must be a minimum of 10 seconds prior to the request time.");
        return Err(invalid_time(until, &rule));
    }
    if end <= start {
        return Err(invalid_time(until, &format!("'{until}' must be after '{from}'.")));
    }
    Ok(())
}
