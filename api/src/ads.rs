//! Ads API operations: parse the request, run the engine, send the response.

pub(crate) mod mcp;
mod mcp_tools;
pub(crate) mod serve;

use std::sync::Arc;

use ads_engine::{AdsCaller, AdsOperation, AdsRequest, AdsResponse, find_params_vocabulary};
use base::{Error, Fault, Refusal, Vocabulary};
use http::HeaderValue;
use serde_json::Value;
use web::body::{self, BodyContentType};
use web::request_context::{HttpReply, RequestContext};

const GZIP: HeaderValue = HeaderValue::from_static("application/gzip");

/// `GET /ads-files/{token}`: a finished analytics file. The token is the only credential.
pub(crate) async fn download_analytics_file(call: RequestContext) -> Result<HttpReply, Error> {
    let token = call.path_text("token")?.to_owned();
    let file = call.read(move |tx| Ok(ads_delivery::analytics::jobs::find_job_file(tx, &token)?));
    let file = file.await?.ok_or(Refusal::RouteNotFound)?;
    Ok(HttpReply::bytes(200, GZIP, file))
}

/// Handles every operation that the `ads` crate declares.
pub(crate) async fn run_operation(call: RequestContext) -> Result<HttpReply, Error> {
    let response = execute(&call, parse_request(&call)?).await?;
    let mut reply = HttpReply::bytes(200, web::reply::ADS_JSON, response.body);
    for (name, value) in response.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            reply.headers.insert(name, value);
        }
    }
    Ok(reply)
}

async fn execute(call: &RequestContext, request: AdsRequest) -> Result<AdsResponse, Error> {
    let operation = request.operation;
    if operation.uses_search {
        call.search_backend()?.catch_up(call.store()).await?;
    }
    let request = Arc::new(request);
    let run = move |tx: &mut store::Tx<'_>| ads_engine::dispatch_request(tx, &request);
    if operation.is_write { call.write(run).await } else { call.read(run).await }
}

fn parse_request(call: &RequestContext) -> Result<AdsRequest, Error> {
    let operation = call.endpoint().ads.ok_or_else(|| Fault::new("an ads operation has no declaration"))?;
    let path = call.params.iter();
    let path = path.map(|param| (param.param.name.post, param.raw.clone())).collect();
    let takes_json = operation.takes_json();
    let pairs = request_pairs(call, !takes_json)?;
    let json = if takes_json { parse_json(call)? } else { None };
    let query_pairs = if takes_json { pairs.clone() } else { Vec::new() };
    let mut request = build_request(call, operation, path, json)?;
    (request.pairs, request.query_pairs) = (pairs, query_pairs);
    choose_vocabulary(call, &mut request);
    Ok(request)
}

/// Answers in the vocabulary of the parameters.
fn choose_vocabulary(call: &RequestContext, request: &mut AdsRequest) {
    let of_params = find_params_vocabulary(request.operation, &request.pairs, request.json.as_ref());
    request.caller.vocabulary = call.answer_vocabulary_of(of_params).vocabulary;
}

/// A request of the caller, without parameters of a query or form.
fn build_request(
    call: &RequestContext,
    operation: &'static AdsOperation,
    path_params: Vec<(&'static str, String)>,
    json: Option<Value>,
) -> Result<AdsRequest, Error> {
    let caller = call.require_caller()?;
    Ok(AdsRequest {
        operation,
        caller: AdsCaller {
            user: call.require_user()?,
            app: Some(caller.app_id),
            vocabulary: Vocabulary::Post,
            sandbox: call.head().sandbox,
        },
        path_params,
        query_pairs: Vec::new(),
        pairs: Vec::new(),
        json,
        evaluator: Some(call.state.evaluator.clone()),
        config: call.state.ads_config.clone(),
        cursor_key: call.state.page_context.config.page_key,
        site: call.site(),
    })
}

/// `None` if the body is empty, or of another type.
fn parse_json(call: &RequestContext) -> Result<Option<Value>, Refusal> {
    if !matches!(call.content_type, BodyContentType::Json | BodyContentType::Absent) || call.bytes().is_empty() {
        return Ok(None);
    }
    let parsed = body::parse_json(call.bytes());
    parsed.map(Some).map_err(|error| body::invalid_body(format!("The request body is not valid JSON: {error}")))
}

/// Query parameters, then form parameters, which take precedence.
fn request_pairs(call: &RequestContext, form: bool) -> Result<Vec<(String, String)>, Refusal> {
    let query = call.head().uri.query().unwrap_or_default();
    let mut pairs = parse_pairs(query)?;
    // Clients send their parameters in the query beside an empty object.
    let is_empty = matches!(call.bytes().trim_ascii(), b"" | b"{}" | b"[]" | b"null");
    if form && !is_empty {
        let text = std::str::from_utf8(call.bytes()).ok().filter(|_| call.content_type == BodyContentType::Form);
        let message = "The request body must be a form, with Content-Type application/x-www-form-urlencoded";
        let text = text.ok_or_else(|| body::invalid_body(message))?;
        let form_pairs = parse_pairs(text)?;
        pairs.retain(|(name, _)| !form_pairs.iter().any(|(other, _)| other == name));
        pairs.extend(form_pairs);
    }
    pairs.retain(|(name, _)| !name.starts_with("oauth_"));
    Ok(pairs)
}

fn parse_pairs(text: &str) -> Result<Vec<(String, String)>, Refusal> {
    let pairs = base::percent::parse_form(text);
    pairs.map_err(|_| body::invalid_body("The parameters are not percent-encoded properly"))
}
