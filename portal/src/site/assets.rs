//! Stylesheet, logo and script.

use http::header::{CACHE_CONTROL, HeaderValue};
use web::endpoint::HandlerFuture;
use web::reply::HttpReply;
use web::request_context::RequestContext;

const IMMUTABLE_CACHE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

pub(crate) fn serve_stylesheet(_call: RequestContext) -> HandlerFuture {
    serve_asset("text/css; charset=utf-8", pages::STYLE)
}

pub(crate) fn serve_logo(_call: RequestContext) -> HandlerFuture {
    serve_asset("image/svg+xml", pages::MARK)
}

pub(crate) fn serve_script(_call: RequestContext) -> HandlerFuture {
    serve_asset("text/javascript; charset=utf-8", pages::SCRIPT)
}

pub(crate) fn serve_home_script(_call: RequestContext) -> HandlerFuture {
    serve_asset("text/javascript; charset=utf-8", pages::HOME_SCRIPT)
}

pub(crate) fn serve_conversation_script(_call: RequestContext) -> HandlerFuture {
    serve_asset("text/javascript; charset=utf-8", pages::CONVERSATION_SCRIPT)
}

pub(crate) fn serve_passkey_script(_call: RequestContext) -> HandlerFuture {
    serve_asset("text/javascript; charset=utf-8", pages::PASSKEY_SCRIPT)
}

fn serve_asset(kind: &'static str, text: &'static str) -> HandlerFuture {
    let reply = HttpReply::bytes(200, HeaderValue::from_static(kind), text);
    Box::pin(async move { Ok(reply.header(CACHE_CONTROL, IMMUTABLE_CACHE)) })
}
