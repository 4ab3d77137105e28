//! The world's clock.

use base::clock::wall_time;
use base::clock_mode::{ClockMode, describe_clock};
use base::{Error, Refusal};
use emulator::clock::{ClockOrder, ClockReport, DueInstant};
use serde_json::{Value, json};
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter};
use web::request_context::RequestContext;

use super::control_operation;
use crate::world_clock::find_clock;

pub(super) static ENDPOINTS: &[Endpoint] = &[
    control_operation("showClock", "GET", "/control/v1/clock", &show)
        .summary("The world's time, how its clock runs, what is due next, and the report of the last movement."),
    control_operation("freezeClock", "POST", "/control/v1/clock/freeze", &freeze)
        .body(BodySpec::Json(&[TIME]))
        .summary("Stops the clock, after moving it to a time if one is given."),
    control_operation("setClock", "POST", "/control/v1/clock/set", &set)
        .body(BodySpec::Json(&[TIME.as_required()]))
        .summary("Moves the clock forward to a time, through everything that is due before it."),
    control_operation("advanceClock", "POST", "/control/v1/clock/advance", &advance)
        .body(BodySpec::Json(&[Parameter::member("by", Kind::text(1, 40)).as_required()]))
        .summary("Moves the clock forward by a span such as `8d`, through everything that is due before its end."),
    control_operation("scaleClock", "POST", "/control/v1/clock/scale", &scale)
        .body(BodySpec::Json(&[Parameter::member("factor", Kind::JSON).as_required()]))
        .summary("Makes the clock run faster or slower than the machine's."),
    control_operation("resumeClock", "POST", "/control/v1/clock/live", &resume)
        .body(BodySpec::Json(&[]))
        .summary("Makes the clock run with the machine's, or as fast if it is ahead."),
];

/// RFC 3339, or `now`.
const TIME: Parameter = Parameter::member("time", Kind::text(1, 40));

async fn show(call: RequestContext) -> Result<HttpReply, Error> {
    let clock = find_clock(&call)?;
    let due = clock.list_due_instants().await?;
    let report = clock.last_report();
    let mut data = render_state(&call)?;
    if let Some(data) = data.as_object_mut() {
        data.insert("due".to_owned(), due.iter().map(render_due).collect());
        data.insert("last_report".to_owned(), report.as_ref().map(render_report).unwrap_or_default());
    }
    Ok(HttpReply::json(200, &json!({ "data": data })))
}

async fn freeze(call: RequestContext) -> Result<HttpReply, Error> {
    give_order(call, |call| ClockOrder::parse_freeze(call.body().optional_text("time"))).await
}

async fn set(call: RequestContext) -> Result<HttpReply, Error> {
    give_order(call, |call| ClockOrder::parse_set(call.body().optional_text("time").unwrap_or_default())).await
}

async fn advance(call: RequestContext) -> Result<HttpReply, Error> {
    give_order(call, |call| ClockOrder::parse_advance(call.body().optional_text("by").unwrap_or_default())).await
}

async fn scale(call: RequestContext) -> Result<HttpReply, Error> {
    give_order(call, |call| {
        let factor = call.body().get("factor").cloned().unwrap_or_default();
        ClockOrder::parse_scale(factor.as_str().map_or_else(|| factor.to_string(), str::to_owned).as_str())
    })
    .await
}

async fn resume(call: RequestContext) -> Result<HttpReply, Error> {
    give_order(call, |_| Ok(ClockOrder::Live)).await
}

async fn give_order(
    call: RequestContext,
    read: fn(&RequestContext) -> Result<ClockOrder, Refusal>,
) -> Result<HttpReply, Error> {
    let order = read(&call)?;
    let report = find_clock(&call)?.apply(order).await?;
    let mut data = render_state(&call)?;
    if let Some(data) = data.as_object_mut() {
        data.insert("report".to_owned(), render_report(&report));
    }
    Ok(HttpReply::json(200, &json!({ "data": data })))
}

fn render_state(call: &RequestContext) -> Result<Value, Error> {
    let clock = find_clock(call)?;
    let (mode, wall) = (clock.mode(), wall_time());
    let now = mode.time_at(wall);
    let factor = match mode {
        ClockMode::Frozen { .. } => 0.0,
        ClockMode::Scaled { factor, .. } => factor,
        ClockMode::Live | ClockMode::Offset { .. } => 1.0,
    };
    Ok(json!({
        "mode": mode.name(),
        "moving": clock.is_moving(),
        "now": now.to_string(),
        "machine_time": wall.to_string(),
        "ahead_ms": now.ms().saturating_sub(wall.ms()),
        "factor": factor,
        "description": describe_clock(mode, wall),
    }))
}

fn render_due(due: &DueInstant) -> Value {
    json!({ "what": due.what, "at": due.at.to_string() })
}

fn render_report(report: &ClockReport) -> Value {
    let jobs: serde_json::Map<String, Value> =
        report.jobs.iter().map(|job| (job.name.to_owned(), job.count.into())).collect();
    json!({
        "from": report.from.to_string(),
        "to": report.to.to_string(),
        "steps": report.steps,
        "events": report.events,
        "jobs": jobs,
        "notes": report.notes,
        "duration_ms": u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
    })
}
