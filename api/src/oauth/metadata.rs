//! Authorization server metadata (RFC 8414).

use base::Scope;
use base::{Error, Refusal};
use serde_json::json;
use web::request_context::{HttpReply, RequestContext};

pub(crate) async fn document(call: RequestContext) -> Result<HttpReply, Error> {
    describe_server(&call)
}

fn describe_server(call: &RequestContext) -> Result<HttpReply, Error> {
    let issuer = call.oauth_settings().issuer.ok_or(Refusal::RouteNotFound)?;
    let base = issuer.trim_end_matches('/');
    let scopes: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
    let methods = ["client_secret_basic", "client_secret_post", "none"];
    call.respond_json(&json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{base}/i/oauth2/authorize"),
        "token_endpoint": format!("{base}/2/oauth2/token"),
        "revocation_endpoint": format!("{base}/2/oauth2/revoke"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256", "plain"],
        "scopes_supported": scopes,
    }))
}
