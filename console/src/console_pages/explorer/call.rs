//! Calls an operation through the server itself, and renders the response.

use std::time::Duration;

use base::clock::monotonic_now;
use base::{Error, Fault, Secret};
use edge::{Body, BodyError};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT};
use http::{Request, Response};
use pages::console::ExplorerResponse;
use web::request_context::RequestContext;

use super::curl::curl_command;
use super::request::ApiRequest;
use crate::world_environment::{WorldEnvironment, mask};

/// Of a response's body; longer ones are not shown.
const MAX_SHOWN_BYTES: usize = 512 * 1024;
const BODY_TIMEOUT: Duration = Duration::from_secs(20);
const AGENT: HeaderValue = HeaderValue::from_static("locum-explorer");

pub(super) async fn call_operation(
    call: &RequestContext,
    environment: &WorldEnvironment,
    request: &ApiRequest,
    authorization: Option<&Secret>,
) -> Result<ExplorerResponse, Error> {
    let sent = build_http_request(call, request, authorization)?;
    let request_headers = shown_headers(sent.headers());
    let start = monotonic_now();
    let response = call.state.own_server.handle_request(sent).await?;
    let took_ms = start.elapsed().as_millis();
    let (status, headers) = (response.status().as_u16(), shown_headers(response.headers()));
    let (body, note) = read_body(response).await;
    Ok(ExplorerResponse {
        status,
        took_ms,
        request_line: format!("{} {}", request.method, request.target),
        request_headers,
        request_body: request.body.clone(),
        headers,
        body,
        note,
        curl: command(call, environment, request, authorization),
    })
}

pub(super) fn command(
    call: &RequestContext,
    environment: &WorldEnvironment,
    request: &ApiRequest,
    authorization: Option<&Secret>,
) -> String {
    let used = call.head().public_origin();
    let base_url = format!("{}://{}", used.scheme, used.host.unwrap_or_default());
    curl_command(environment, &base_url, request, authorization.map(Secret::expose_secret))
}

/// Refuses what is no valid header or address; nothing entered in a form reaches a header.
fn build_http_request(
    call: &RequestContext,
    request: &ApiRequest,
    authorization: Option<&Secret>,
) -> Result<Request<Body>, Error> {
    let head = call.head();
    let used = head.public_origin();
    let mut builder = Request::builder()
        .method(request.method)
        .uri(request.target.as_str())
        .header(HOST, used.host.unwrap_or_default())
        .header(USER_AGENT, AGENT);
    if let Some(header) = authorization {
        builder = builder.header(AUTHORIZATION, header.expose_secret());
    }
    if let Some(content_type) = request.content_type {
        builder = builder.header(CONTENT_TYPE, content_type);
    }
    if let Some(peer) = head.peer {
        // Whether the page came over TLS may only be known from a header that is not sent on.
        builder = builder.extension(edge::Peer { is_tls: used.scheme == "https", ..peer });
    }
    let built = builder.body(Body::full(request.body.clone()));
    built.map_err(|problem| Fault::context("building a request of the explorer")(problem).into())
}

fn shown_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = headers.iter().map(|(name, value)| {
        let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let text = if name == AUTHORIZATION { mask_authorization(&text) } else { text };
        (name.as_str().to_owned(), text)
    });
    shown.collect()
}

/// A signature is no secret, since it is valid for one request only.
fn mask_authorization(header: &str) -> String {
    match header.strip_prefix("Bearer ") {
        Some(token) => format!("Bearer {}", mask(token)),
        None => header.to_owned(),
    }
}

/// JSON is indented.
async fn read_body(response: Response<Body>) -> (String, String) {
    let bytes = match response.into_body().collect_bytes(MAX_SHOWN_BYTES, BODY_TIMEOUT).await {
        Ok(bytes) => bytes,
        Err(BodyError::TooLarge) => {
            let note = format!("The body is longer than {} KiB, so it is not shown.", MAX_SHOWN_BYTES / 1024);
            return (String::new(), note);
        }
        Err(_) => return (String::new(), "The body broke off.".to_owned()),
    };
    if bytes.is_empty() {
        return (String::new(), "The response has no body.".to_owned());
    }
    let indented = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
    let indented = indented.and_then(|value| serde_json::to_string_pretty(&value).ok());
    (indented.unwrap_or_else(|| String::from_utf8_lossy(&bytes).into_owned()), String::new())
}
