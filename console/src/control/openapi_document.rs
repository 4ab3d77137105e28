//! The OpenAPI document of the control API.

use base::Error;
use web::HttpReply;
use web::endpoint::Endpoint;
use web::openapi;
use web::request_context::RequestContext;

use super::control_operation;

pub(super) static ENDPOINTS: &[Endpoint] =
    &[control_operation("showControlApi", "GET", "/control/v1/openapi.json", &show).summary("This document.")];

async fn show(_call: RequestContext) -> Result<HttpReply, Error> {
    Ok(HttpReply::json(200, &openapi::document(super::ENDPOINTS, false)))
}
