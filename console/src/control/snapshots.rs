//! Resets and snapshots of a world.

use base::Error;
use serde_json::json;
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter};
use web::request_context::RequestContext;

use super::control_operation;
use crate::world_control::world_control;

const NAME: Kind = Kind::text(1, 64);
const SNAPSHOT: Parameter = Parameter::path("name", NAME, "The name of the snapshot.");

pub(super) static ENDPOINTS: &[Endpoint] = &[
    control_operation("resetWorld", "POST", "/control/v1/reset", &reset)
        .summary("Returns the world to its seed: the same ids, keys and tokens as after its creation."),
    control_operation("listSnapshots", "GET", "/control/v1/snapshots", &list).summary("All snapshots, oldest first."),
    control_operation("saveSnapshot", "POST", "/control/v1/snapshots", &save)
        .creates()
        .summary("Saves the world under a name that is not taken, while it is served.")
        .body(BodySpec::Json(&[Parameter::member("name", NAME).as_required()])),
    control_operation("removeSnapshot", "DELETE", "/control/v1/snapshots/{name}", &remove)
        .summary("Removes a snapshot.")
        .params(&[&[SNAPSHOT]]),
    control_operation("loadSnapshot", "POST", "/control/v1/snapshots/{name}/load", &load)
        .summary("Returns the world to a snapshot. Streams end with an operational disconnect.")
        .params(&[&[SNAPSHOT]]),
    control_operation("compareSnapshot", "GET", "/control/v1/snapshots/{name}/diff", &compare)
        .summary("The rows that changed since a snapshot, up to now or up to another snapshot.")
        .params(&[&[SNAPSHOT, Parameter::query("with", NAME, "The other snapshot; the world as it is without one.")]]),
];

async fn reset(call: RequestContext) -> Result<HttpReply, Error> {
    let replaced = world_control(&call)?.reset().await?;
    Ok(HttpReply::json(200, &json!({ "data": replaced })))
}

async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let found = world_control(&call)?.list_snapshots().await?;
    Ok(HttpReply::json(200, &json!({ "data": found })))
}

async fn save(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.body().required_text("name")?.to_owned();
    let saved = world_control(&call)?.save_snapshot(name).await?;
    Ok(HttpReply::json(201, &json!({ "data": saved })))
}

async fn load(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("name")?.to_owned();
    let replaced = world_control(&call)?.load_snapshot(name).await?;
    Ok(HttpReply::json(200, &json!({ "data": replaced })))
}

async fn remove(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("name")?.to_owned();
    world_control(&call)?.remove_snapshot(name).await?;
    Ok(HttpReply::json(200, &json!({"data": {"removed": true}})))
}

async fn compare(call: RequestContext) -> Result<HttpReply, Error> {
    let (name, with) = (call.path_text("name")?.to_owned(), call.query_text("with").map(str::to_owned));
    let found = world_control(&call)?.compare_snapshot(name, with).await?;
    Ok(HttpReply::json(200, &json!({ "data": found })))
}
