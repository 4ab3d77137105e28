//! The OpenAPI document of the control API.

use web::HttpReply;
use web::endpoint::{Endpoint, HandlerFuture};
use web::openapi;
use web::request_context::RequestContext;

use super::control_operation;

pub(super) static ENDPOINTS: &[Endpoint] =
    &[control_operation("showControlApi", "GET", "/control/v1/openapi.json").handler(show).summary("This document.")];

fn show(_call: RequestContext) -> HandlerFuture {
    Box::pin(async { Ok(HttpReply::json(200, &openapi::document(super::ENDPOINTS, false))) })
}
