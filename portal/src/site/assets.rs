//! Stylesheet, logo and scripts.

use base::{Error, Refusal};
use http::header::{CACHE_CONTROL, HeaderValue};
use web::reply::HttpReply;
use web::request_context::RequestContext;

const IMMUTABLE_CACHE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Serves the asset that has the path of the endpoint.
pub async fn serve_asset(call: RequestContext) -> Result<HttpReply, Error> {
    let asset = pages::find_asset(call.endpoint().path).ok_or(Refusal::RouteNotFound)?;
    let reply = HttpReply::bytes(200, HeaderValue::from_static(asset.content_type), asset.text);
    Ok(reply.header(CACHE_CONTROL, IMMUTABLE_CACHE))
}
