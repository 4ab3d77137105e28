//! OAuth 2.0: exchanges codes and refresh tokens, and revokes tokens (contract core §2.5).

use base::{Error, Refusal, Secret};
use http::header::{CACHE_CONTROL, HeaderValue};
use identity::oauth2_flow::{
    self, AuthenticatedClient, ClientCredentials, CodeExchangeRequest, IssuedTokens, authenticate_client, exchange_code,
};
use serde_json::{Map, Value, json};
use web::basic_auth::{BasicCredentials, parse_basic_credentials};
use web::request_context::{HttpReply, RequestContext};

pub(crate) async fn issue(call: RequestContext) -> Result<HttpReply, Error> {
    let (credentials, config) = (client_credentials(&call)?, call.oauth_settings());
    let tokens = match form_parameter(&call, "grant_type").as_deref() {
        Some("authorization_code") => {
            let exchange = CodeExchangeRequest {
                code: form_parameter(&call, "code"),
                redirect_uri: form_parameter(&call, "redirect_uri"),
                code_verifier: form_parameter(&call, "code_verifier"),
            };
            let client = verify_client(&call, credentials).await?;
            call.write(move |tx| exchange_code(tx, &config, &client, &exchange)).await?
        }
        Some("refresh_token") => {
            let (token, scope) = (form_parameter(&call, "refresh_token"), form_parameter(&call, "scope"));
            let client = verify_client(&call, credentials).await?;
            call.write(move |tx| oauth2_flow::refresh_tokens(tx, &config, &client, token.as_deref(), scope.as_deref()))
                .await?
        }
        Some(_) => return Err(unsupported_grant_type().into()),
        None => return Err(missing_parameter("grant_type").into()),
    };
    render_token(&call, &tokens.into_result()?)
}

pub(crate) async fn revoke(call: RequestContext) -> Result<HttpReply, Error> {
    let (credentials, token) = (client_credentials(&call)?, form_parameter(&call, "token"));
    let client = verify_client(&call, credentials).await?;
    call.write(move |tx| oauth2_flow::revoke_token(tx, &client, token.as_deref())).await?;
    Ok(add_no_store(call.respond_json(&json!({ "revoked": true }))?))
}

fn render_token(call: &RequestContext, tokens: &IssuedTokens) -> Result<HttpReply, Error> {
    let mut body = Map::new();
    body.insert("token_type".to_owned(), "bearer".into());
    body.insert("expires_in".to_owned(), tokens.expires_in.into());
    body.insert("access_token".to_owned(), tokens.access.expose_secret().into());
    body.insert("scope".to_owned(), tokens.scopes.to_string().into());
    if let Some(refresh) = &tokens.refresh {
        body.insert("refresh_token".to_owned(), refresh.expose_secret().into());
    }
    Ok(add_no_store(call.respond_json(&Value::Object(body))?))
}

fn add_no_store(reply: HttpReply) -> HttpReply {
    reply.header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// From the form, a JSON body or the query: released clients send each.
fn form_parameter(call: &RequestContext, name: &'static str) -> Option<String> {
    let value = call.body().optional_text(name).or_else(|| call.query_text(name));
    value.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Counts the call for the client's app.
async fn verify_client(call: &RequestContext, credentials: ClientCredentials) -> Result<AuthenticatedClient, Error> {
    let client = call.read(move |tx| authenticate_client(tx, &credentials)).await?;
    let app = client.app().id;
    if client.is_confidential() {
        call.charge_app(app).await?;
    } else {
        call.charge_public_client(app).await?;
    }
    Ok(client)
}

fn client_credentials(call: &RequestContext) -> Result<ClientCredentials, Error> {
    let basic = match parse_basic_credentials(&call.head().headers) {
        BasicCredentials::Absent => None,
        BasicCredentials::Pair(id, secret) => Some((id, Secret::new(secret))),
        BasicCredentials::Malformed => {
            let description = "Missing valid authorization header".into();
            return Err(Refusal::OAuth2 { error: "unauthorized_client", description }.into());
        }
    };
    let id = form_parameter(call, "client_id");
    let secret = form_parameter(call, "client_secret").map(Secret::new);
    Ok(ClientCredentials { basic, id, secret, address: call.client_address() })
}

fn unsupported_grant_type() -> Refusal {
    let description = "Value passed for the grant type was invalid.".into();
    Refusal::OAuth2 { error: "unsupported_grant_type", description }
}

fn missing_parameter(parameter: &str) -> Refusal {
    let description = format!("Missing required parameter [{parameter}].").into();
    Refusal::OAuth2 { error: "invalid_request", description }
}
