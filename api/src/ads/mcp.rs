//! `POST /mcp`: the operations of the Ads API as tools of the Model Context Protocol, over its streamable HTTP transport
//! (contract ads §4.18). The server keeps no sessions.

use base::Error;
use http::header::{ACCEPT, HeaderValue};
use serde_json::{Map, Value, json};
use web::body::BodyContentType;
use web::request_context::{HttpReply, RequestContext};

use super::mcp_tools;

/// The revision whose requests name their version themselves, without a handshake.
const STATELESS_VERSION: &str = "2026-07-28";
/// Revisions with a handshake, latest first.
const HANDSHAKE_VERSIONS: &[&str] = &["2025-11-25", "2025-06-18"];
const VERSION_MEMBER: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_MEMBER: &str = "io.modelcontextprotocol/clientCapabilities";
/// How long clients may keep the list of tools, which only changes with the server's version.
const LIST_TTL_MS: i64 = 3_600_000;
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const INSTRUCTIONS: &str = "Start with list_ads_accounts. Amounts are in millionths of the account's currency. \
     Campaigns and line items are created paused: activate_campaign and activate_line_item start them.";

/// Codes of JSON-RPC 2.0 and of the protocol.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const HEADER_MISMATCH: i32 = -32020;
const UNSUPPORTED_VERSION: i32 = -32022;

struct RpcError {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(error), Some(data)) = (error.as_object_mut(), &self.data) {
            error.insert("data".to_owned(), data.clone());
        }
        error
    }
}

/// `POST /mcp`: one request or notification.
pub(crate) async fn handle_message(call: RequestContext) -> Result<HttpReply, Error> {
    let message: Option<Value> = match call.content_type {
        BodyContentType::Json => web::body::parse_json(call.bytes()).ok(),
        _ => None,
    };
    let Some(message) = message else {
        let problem = RpcError::new(PARSE_ERROR, "The body must be a JSON-RPC message");
        return Ok(render_error(&Value::Null, &problem, 400));
    };
    let (id, method) = (message.get("id"), message.get("method").and_then(Value::as_str));
    let (id, method) = match (id, method) {
        (None, Some(_)) => return Ok(HttpReply::empty(202)),
        (Some(id @ (Value::String(_) | Value::Number(_))), Some(method)) => (id, method),
        _ => {
            let problem = RpcError::new(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 request or notification");
            return Ok(render_error(&Value::Null, &problem, 400));
        }
    };
    let empty = Map::new();
    let params = message.get("params").and_then(Value::as_object).unwrap_or(&empty);
    let is_stateless = match check_version(&call, method, params) {
        Ok(is_stateless) => is_stateless,
        Err(problem) => return Ok(render_error(id, &problem, 400)),
    };
    match answer(&call, method, params, is_stateless).await? {
        Ok(result) => Ok(render_result(&call, id, result, is_stateless)),
        Err(problem) => {
            let status = match problem.code {
                METHOD_NOT_FOUND if is_stateless => 404,
                INVALID_PARAMS if is_stateless => 400,
                _ => 200,
            };
            Ok(render_error(id, &problem, status))
        }
    }
}

/// Whether the request follows the revision without a handshake.
fn check_version(call: &RequestContext, method: &str, params: &Map<String, Value>) -> Result<bool, RpcError> {
    let header = |name: &str| call.head().headers.get(name).and_then(|value| value.to_str().ok());
    let meta = params.get("_meta").and_then(Value::as_object);
    let stated = meta.and_then(|meta| meta.get(VERSION_MEMBER)).and_then(Value::as_str);
    let header_version = header("mcp-protocol-version");
    let Some(version) = stated.or(header_version) else {
        return Ok(false);
    };
    if stated.is_none() && HANDSHAKE_VERSIONS.contains(&version) {
        return Ok(false);
    }
    if meta.is_none_or(|meta| !meta.contains_key(VERSION_MEMBER) || !meta.contains_key(CAPABILITIES_MEMBER)) {
        let message = format!("params._meta must have {VERSION_MEMBER} and {CAPABILITIES_MEMBER}");
        return Err(RpcError::new(INVALID_PARAMS, message));
    }
    let name = params.get("name").and_then(Value::as_str).filter(|_| method == "tools/call");
    let headers = [
        ("MCP-Protocol-Version", header_version, Some(version)),
        ("Mcp-Method", header("mcp-method"), Some(method)),
        ("Mcp-Name", header("mcp-name").filter(|_| name.is_some()), name),
    ];
    if let Some((name, ..)) = headers.iter().find(|(_, sent, expected)| sent != expected) {
        return Err(RpcError::new(HEADER_MISMATCH, format!("The header {name} does not match the body")));
    }
    if version != STATELESS_VERSION {
        let data = json!({ "supported": [STATELESS_VERSION], "requested": version });
        let message = format!("The protocol version {version} is not supported");
        return Err(RpcError { data: Some(data), ..RpcError::new(UNSUPPORTED_VERSION, message) });
    }
    Ok(true)
}

async fn answer(
    call: &RequestContext,
    method: &str,
    params: &Map<String, Value>,
    is_stateless: bool,
) -> Result<Result<Value, RpcError>, Error> {
    Ok(match method {
        "initialize" if !is_stateless => Ok(describe_handshake(params)),
        "ping" if !is_stateless => Ok(json!({})),
        "server/discover" if is_stateless => Ok(json!({
            "supportedVersions": [STATELESS_VERSION],
            "capabilities": { "tools": {} },
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
            "ttlMs": LIST_TTL_MS,
            "cacheScope": "public",
        })),
        "tools/list" => Ok(json!({ "tools": mcp_tools::describe_all(), "ttlMs": LIST_TTL_MS, "cacheScope": "public" })),
        "tools/call" => {
            let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
            match mcp_tools::find(name) {
                Some(tool) => Ok(tool.run(call, params.get("arguments")).await?),
                None => Err(RpcError::new(INVALID_PARAMS, format!("Unknown tool: {name}"))),
            }
        }
        _ => Err(RpcError::new(METHOD_NOT_FOUND, format!("Unknown method: {method}"))),
    })
}

/// The client's version if it is known, else the latest.
fn describe_handshake(params: &Map<String, Value>) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = HANDSHAKE_VERSIONS.iter().find(|known| asked == Some(**known)).or(HANDSHAKE_VERSIONS.first());
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

fn server_info() -> Value {
    json!({ "name": "locum-ads", "title": "Ads API", "version": env!("CARGO_PKG_VERSION") })
}

/// As one server-sent event, unless the client accepts JSON only.
fn render_result(call: &RequestContext, id: &Value, mut result: Value, is_stateless: bool) -> HttpReply {
    if let Some(members) = result.as_object_mut().filter(|_| is_stateless) {
        members.insert("resultType".to_owned(), "complete".into());
    }
    let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let accept = call.head().headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accept.contains("text/event-stream") {
        return HttpReply::bytes(200, EVENT_STREAM, format!("event: message\ndata: {message}\n\n"));
    }
    HttpReply::json(200, &message)
}

fn render_error(id: &Value, problem: &RpcError, status: u16) -> HttpReply {
    HttpReply::json(status, &json!({ "jsonrpc": "2.0", "id": id, "error": problem.to_json() }))
}

/// `GET /.well-known/oauth-protected-resource`: where clients get tokens for the tools (RFC 9728 §3.2).
pub(crate) async fn describe_resource(call: RequestContext) -> Result<HttpReply, Error> {
    let issuer = call.oauth_settings().issuer.ok_or(base::Refusal::RouteNotFound)?;
    call.respond_json(&json!({
        "resource": format!("{}/mcp", issuer.trim_end_matches('/')),
        "authorization_servers": [issuer],
        "scopes_supported": [base::Scope::AdsRead.name(), base::Scope::AdsWrite.name()],
        "bearer_methods_supported": ["header"],
    }))
}
