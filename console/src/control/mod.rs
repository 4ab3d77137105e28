//! `/control/v1`: one module for each group of operations.

mod clock;
mod costs;
mod faults;
mod limits;
mod openapi_document;
mod requests;
mod snapshots;
mod streams;
mod traffic;
mod worlds;

use web::endpoint::{Endpoint, EndpointHandler, EndpointLimits, ErrorFormat};

pub static ENDPOINTS: &[&[Endpoint]] = &[
    clock::ENDPOINTS,
    costs::ENDPOINTS,
    faults::ENDPOINTS,
    limits::ENDPOINTS,
    openapi_document::ENDPOINTS,
    requests::ENDPOINTS,
    snapshots::ENDPOINTS,
    streams::ENDPOINTS,
    traffic::ENDPOINTS,
    worlds::ENDPOINTS,
];

/// The control address has checked the token.
pub(crate) const fn control_operation(
    id: &'static str,
    method: &'static str,
    path: &'static str,
    handler: &'static dyn EndpointHandler,
) -> Endpoint {
    let limits = EndpointLimits { app: &[], user: &[], shared: None };
    Endpoint {
        limits,
        error_format: ErrorFormat::V2,
        ..Endpoint::new(id, method, path).handler(handler).allow_anonymous()
    }
}
