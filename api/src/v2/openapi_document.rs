//! Serves the OpenAPI documents.

use std::sync::LazyLock;

use bytes::Bytes;
use web::endpoint::HandlerFuture;
use web::openapi;
use web::request_context::RequestContext;

use crate::operations;

/// Generated once: it does not change while the process runs.
static V2_DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| openapi::document(&operations::ENDPOINTS, false).to_string().into());

static ADS_DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| openapi::ads_document(&operations::ENDPOINTS).to_string().into());

pub(crate) fn serve_ads_document(call: RequestContext) -> HandlerFuture {
    Box::pin(async move { call.respond_bytes(ADS_DOCUMENT.clone()) })
}

pub(crate) fn serve_document(call: RequestContext) -> HandlerFuture {
    Box::pin(async move { call.respond_bytes(V2_DOCUMENT.clone()) })
}
