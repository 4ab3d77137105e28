//! What all pages look like.

use http::header::{CACHE_CONTROL, HeaderValue};

use crate::endpoint::HandlerFuture;
use crate::reply::HttpReply;
use crate::request_context::RequestContext;

/// Its path changes with its content.
const IMMUTABLE_CACHE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The stylesheet.
pub(crate) fn serve_stylesheet(_call: RequestContext) -> HandlerFuture {
    serve_asset("text/css; charset=utf-8", pages::STYLE)
}

/// The mark.
pub(crate) fn serve_logo(_call: RequestContext) -> HandlerFuture {
    serve_asset("image/svg+xml", pages::MARK)
}

/// The script of the page that shows a stream.
pub(crate) fn serve_script(_call: RequestContext) -> HandlerFuture {
    serve_asset("text/javascript; charset=utf-8", pages::SCRIPT)
}

fn serve_asset(kind: &'static str, text: &'static str) -> HandlerFuture {
    let reply = HttpReply::bytes(200, HeaderValue::from_static(kind), text);
    Box::pin(async move { Ok(reply.header(CACHE_CONTROL, IMMUTABLE_CACHE)) })
}
