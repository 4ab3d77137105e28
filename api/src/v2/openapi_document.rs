//! Serves the OpenAPI documents.

use std::sync::LazyLock;

use base::Error;
use bytes::Bytes;
use web::openapi;
use web::request_context::{HttpReply, RequestContext};

use crate::operations;

/// Generated once: it does not change while the process runs.
static V2_DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| openapi::document(&operations::ENDPOINTS, false).to_string().into());

static ADS_DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| openapi::ads_document(&operations::ENDPOINTS).to_string().into());

pub(crate) async fn serve_ads_document(call: RequestContext) -> Result<HttpReply, Error> {
    call.respond_bytes(ADS_DOCUMENT.clone())
}

pub(crate) async fn serve_document(call: RequestContext) -> Result<HttpReply, Error> {
    call.respond_bytes(V2_DOCUMENT.clone())
}
