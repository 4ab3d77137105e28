//! Rate limits of the running server.

use base::Error;
use serde_json::{Value, json};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, Kind, MAX_SHORT_TEXT, Parameter};
use web::request_context::RequestContext;

use super::control_operation;
use crate::rate_limits::{self, LimitTarget, LimitWindow};

const TEXT: Kind = Kind::text(1, MAX_SHORT_TEXT);
const ENDPOINT: Parameter = Parameter::member("endpoint", TEXT);
const APP: Parameter = Parameter::member("app", TEXT);
const USER: Parameter = Parameter::member("user", TEXT);

pub(super) static ENDPOINTS: &[Endpoint] = &[
    control_operation("listLimits", "GET", "/control/v1/limits", &list)
        .summary("The mode of rate limits, and the windows in which calls were counted.")
        .params(&[&[
            Parameter::query("endpoint", TEXT, "Method and path, such as GET /2/users/me, or an operation id."),
            Parameter::query("app", TEXT, "Id, API key, client id or name."),
            Parameter::query("user", TEXT, "@username or id."),
        ]]),
    control_operation("setLimitMode", "POST", "/control/v1/limits/mode", &change_mode)
        .summary("Turns rate limits on or off, or multiplies them, until the server restarts.")
        .body(BodySpec::Json(&[
            Parameter::member("mode", Kind::one_of(rate_limits::MODES)).as_required(),
            Parameter::member("factor", Kind::int(1, rate_limits::MAX_FACTOR)),
        ])),
    control_operation("exhaustLimit", "POST", "/control/v1/limits/exhaust", &exhaust)
        .summary("Uses up a window of an endpoint, so that the next call is refused.")
        .body(BodySpec::Json(&[
            ENDPOINT.as_required(),
            APP,
            USER,
            Parameter::member("window_seconds", Kind::int(1, 2_592_000)),
        ])),
    control_operation("resetLimits", "POST", "/control/v1/limits/reset", &reset)
        .summary("Forgets the calls that were counted.")
        .body(BodySpec::Json(&[ENDPOINT, APP, USER])),
];

async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let text = |name| call.query_text(name).map(str::to_owned);
    let target = LimitTarget { endpoint: text("endpoint"), app: text("app"), user: text("user") };
    let windows = rate_limits::list_windows(&call, target).await?;
    Ok(reply_with_windows(&call, &windows))
}

async fn change_mode(call: RequestContext) -> Result<HttpReply, Error> {
    let body = call.body();
    rate_limits::change_mode(&call, body.required_text("mode")?, body.optional_int("factor"))?;
    Ok(HttpReply::json(200, &json!({"data": mode_fields(&call)})))
}

async fn exhaust(call: RequestContext) -> Result<HttpReply, Error> {
    let seconds = call.body().optional_int("window_seconds");
    let windows = rate_limits::exhaust(&call, body_target(&call), seconds).await?;
    Ok(reply_with_windows(&call, &windows))
}

async fn reset(call: RequestContext) -> Result<HttpReply, Error> {
    let count = rate_limits::reset(&call, body_target(&call)).await?;
    Ok(HttpReply::json(200, &json!({"data": {"reset": count}})))
}

fn body_target(call: &RequestContext) -> LimitTarget {
    let text = |name| call.body().optional_text(name).map(str::to_owned);
    LimitTarget { endpoint: text("endpoint"), app: text("app"), user: text("user") }
}

fn mode_fields(call: &RequestContext) -> Value {
    let (mode, factor) = rate_limits::current_mode(call);
    json!({"mode": mode, "factor": factor})
}

fn reply_with_windows(call: &RequestContext, windows: &[LimitWindow]) -> HttpReply {
    let (mode, factor) = rate_limits::current_mode(call);
    let windows: Vec<Value> = windows.iter().map(LimitWindow::to_json).collect();
    HttpReply::json(200, &json!({"data": {"mode": mode, "factor": factor, "windows": windows}}))
}
