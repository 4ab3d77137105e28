//! Traffic of the world's people.

use base::Error;
use emulator::traffic::{MAX_RATE, MAX_SECONDS, TrafficOptions};
use serde_json::json;
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter};
use web::request_context::RequestContext;

use super::control_operation;
use crate::traffic::{DEFAULT_SECONDS, DEFAULT_SEED, report_to_json, start_traffic};

const PATH: &str = "/control/v1/traffic";

pub(super) static ENDPOINTS: &[Endpoint] = &[
    control_operation("showTraffic", "GET", PATH, &show)
        .summary("The current run of traffic, or the last one, with what was done."),
    control_operation("startTraffic", "POST", PATH, &start)
        .summary("Lets people post, reply, like, repost and follow. One run at a time.")
        .body(BodySpec::Json(&[
            Parameter::member("rate", Kind::int(1, MAX_RATE)).as_required(),
            Parameter::member("seconds", Kind::int(1, MAX_SECONDS)),
            Parameter::member("seed", Kind::int(0, i64::MAX)),
        ])),
    control_operation("stopTraffic", "DELETE", PATH, &stop).summary("Ends the run."),
];

async fn show(call: RequestContext) -> Result<HttpReply, Error> {
    let report = call.emulator()?.traffic.report();
    Ok(HttpReply::json(200, &json!({"data": report_to_json(report.as_ref())})))
}

async fn start(call: RequestContext) -> Result<HttpReply, Error> {
    let body = call.body();
    let seconds = body.optional_int("seconds").unwrap_or(DEFAULT_SECONDS);
    let seed = body.optional_int("seed").unwrap_or(DEFAULT_SEED);
    let options = TrafficOptions::new(body.required_int("rate")?, seconds, seed)?;
    let report = start_traffic(&call, options).await?;
    Ok(HttpReply::json(200, &json!({"data": report_to_json(Some(&report))})))
}

async fn stop(call: RequestContext) -> Result<HttpReply, Error> {
    let report = call.emulator()?.traffic.stop();
    Ok(HttpReply::json(200, &json!({"data": report_to_json(report.as_ref())})))
}
