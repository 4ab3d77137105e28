//! Stream connections.

use base::Error;
use serde_json::{Value, json};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, Kind, MAX_SHORT_TEXT, Parameter};
use web::request_context::RequestContext;

use super::control_operation;
use crate::stream_connections::{self as connections, OpenStream, StreamHistoryItem};

const TEXT: Kind = Kind::text(1, MAX_SHORT_TEXT);
const APP: Parameter = Parameter::query("app", TEXT, "Id, API key, client id or name.");
const REASON: Parameter = Parameter::query(
    "reason",
    TEXT,
    "What clients are told: force-disconnect, operational-disconnect, slow-reader, \
     client-application-state-degraded or internal-error.",
);

pub(super) static ENDPOINTS: &[Endpoint] = &[
    control_operation("listStreams", "GET", "/control/v1/streams", &list)
        .summary("Open connections, and the last ones that ended.")
        .params(&[&[APP]]),
    control_operation("killStreams", "DELETE", "/control/v1/streams", &kill_all)
        .summary("Ends all connections, or those of one app.")
        .params(&[&[APP, REASON]]),
    control_operation("killStream", "DELETE", "/control/v1/streams/{id}", &kill)
        .summary("Ends a connection.")
        .params(&[&[Parameter::path("id", TEXT, "The id of the connection."), REASON]]),
    control_operation("createStreamAccess", "POST", "/control/v1/streams/access", &create_access)
        .summary("The URL and the app-only token with which an app opens a stream.")
        .body(BodySpec::Json(&[
            Parameter::member("endpoint", TEXT).as_required(),
            Parameter::member("partition", Kind::int(1, 20)),
            Parameter::member("app", TEXT),
        ])),
];

async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let (open, ended) = connections::list_streams(&call, call.query_text("app").map(str::to_owned)).await?;
    let open: Vec<Value> = open.iter().map(OpenStream::to_json).collect();
    let ended: Vec<Value> = ended.iter().map(StreamHistoryItem::to_json).collect();
    Ok(HttpReply::json(200, &json!({"data": {"open": open, "ended": ended}})))
}

async fn kill_all(call: RequestContext) -> Result<HttpReply, Error> {
    let reason = connections::parse_reason(call.query_text("reason"))?;
    let app = call.query_text("app").map(str::to_owned);
    let count = connections::kill_streams(&call, app, reason).await?;
    Ok(reply_with_count(count))
}

async fn kill(call: RequestContext) -> Result<HttpReply, Error> {
    let reason = connections::parse_reason(call.query_text("reason"))?;
    let count = connections::kill_stream(&call, call.path_text("id")?, reason).await?;
    Ok(reply_with_count(count))
}

fn reply_with_count(count: usize) -> HttpReply {
    HttpReply::json(200, &json!({"data": {"ended": count}}))
}

async fn create_access(call: RequestContext) -> Result<HttpReply, Error> {
    let body = call.body();
    let (partition, app) = (body.optional_int("partition").unwrap_or(1), body.optional_text("app"));
    let endpoint = body.required_text("endpoint")?;
    let access = connections::find_stream_access(&call, endpoint, partition, app.map(str::to_owned)).await?;
    Ok(HttpReply::json(200, &json!({"data": access.to_json()})))
}
