//! Worlds beside the main one.

use base::Error;
use serde_json::json;
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, Kind, Parameter};
use web::request_context::RequestContext;

use super::control_operation;
use crate::world_control::world_control;

const NAME: Kind = Kind::text(1, 64);
const WORLD: Parameter = Parameter::path("name", NAME, "The name of the world.");

pub(super) static ENDPOINTS: &[Endpoint] = &[
    control_operation("listWorlds", "GET", "/control/v1/worlds", &list).summary("All worlds, the main one first."),
    control_operation("createWorld", "POST", "/control/v1/worlds", &create)
        .creates()
        .summary("Creates a world of `demo`, `ads`, `empty`, a snapshot or a world file; returns its keys.")
        .body(BodySpec::Json(&[
            Parameter::member("name", NAME).as_required(),
            Parameter::member("from", Kind::text(1, 4096)),
        ])),
    control_operation("showWorldKeys", "GET", "/control/v1/worlds/{name}/keys", &show_keys)
        .summary("The address and credentials of a world, as variables.")
        .params(&[&[WORLD]]),
    control_operation("removeWorld", "DELETE", "/control/v1/worlds/{name}", &remove)
        .summary("Removes a world and everything in it.")
        .params(&[&[WORLD]]),
];

async fn list(call: RequestContext) -> Result<HttpReply, Error> {
    let found = world_control(&call)?.list_worlds().await?;
    Ok(HttpReply::json(200, &json!({ "data": found })))
}

async fn create(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.body().required_text("name")?.to_owned();
    let from = call.body().optional_text("from").unwrap_or("demo").to_owned();
    let keys = world_control(&call)?.create_world(name, from).await?;
    Ok(HttpReply::json(201, &json!({"data": {"name": keys.name, "variables": object(keys.variables)}})))
}

async fn show_keys(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("name")?.to_owned();
    let keys = world_control(&call)?.find_world_keys(name).await?;
    Ok(HttpReply::json(200, &json!({"data": {"name": keys.name, "variables": object(keys.variables)}})))
}

fn object(variables: Vec<(String, String)>) -> serde_json::Value {
    variables.into_iter().map(|(name, value)| (name, value.into())).collect::<serde_json::Map<_, _>>().into()
}

async fn remove(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("name")?.to_owned();
    world_control(&call)?.remove_world(name).await?;
    Ok(HttpReply::json(200, &json!({"data": {"removed": true}})))
}
