//! OAuth 1.0a: issues request tokens and access tokens (contract core §2.3).

use base::oauth1::parse_oauth1_header;
use base::percent::encode;
use base::refusal::AuthenticationProblem;
use base::{Error, Refusal};
use http::header::AUTHORIZATION;
use identity::apps::{Permission, VerifiedRequest};
use identity::oauth1_flow;
use web::request_context::{HttpReply, RequestContext};

/// `POST /oauth/request_token`, signed with the app's key alone.
pub(crate) async fn request_token(call: RequestContext) -> Result<HttpReply, Error> {
    let VerifiedRequest { app, presented, .. } = verify_signature(&call).await?;
    let callback = presented.callback.or_else(|| read_parameter(&call, "oauth_callback"));
    let callback = callback.unwrap_or_default();
    let level = requested_permission(&call)?;
    let ports = call.state.oauth_settings.ports;
    let pair = call.write(move |tx| oauth1_flow::issue_request_token(tx, &app, &callback, level, ports)).await?;
    Ok(form_reply(&[
        ("oauth_token", pair.token.expose_secret()),
        ("oauth_token_secret", pair.secret.expose_secret()),
        ("oauth_callback_confirmed", "true"),
    ]))
}

/// `POST /oauth/access_token`, signed with the request token.
pub(crate) async fn access_token(call: RequestContext) -> Result<HttpReply, Error> {
    let VerifiedRequest { app, presented, .. } = verify_signature(&call).await?;
    let token = presented.token.unwrap_or_default();
    let verifier = presented.verifier.or_else(|| read_parameter(&call, "oauth_verifier"));
    let verifier = verifier.unwrap_or_default();
    let exchanged = call.write(move |tx| oauth1_flow::exchange_request_token(tx, &app, &token, &verifier));
    let access = exchanged.await?.into_result()?;
    Ok(form_reply(&[
        ("oauth_token", access.token.expose_secret()),
        ("oauth_token_secret", access.secret.expose_secret()),
        ("user_id", &access.user_id.to_string()),
        ("screen_name", &access.screen_name),
    ]))
}

/// Counts the call for the app.
async fn verify_signature(call: &RequestContext) -> Result<VerifiedRequest, Error> {
    let signed = call.authenticator().verify_signed_request(call.auth_request()).await?;
    let signed = signed.ok_or(Refusal::Unauthenticated(AuthenticationProblem::Malformed))?;
    call.charge_app(signed.app.id).await?;
    Ok(signed)
}

/// From the form, else the query.
fn read_parameter(call: &RequestContext, name: &'static str) -> Option<String> {
    let form_value = call.body().optional_text(name);
    form_value.or_else(|| call.query_text(name)).map(str::to_owned)
}

/// A lower level than the app's own, under either parameter name, from the form, the query or the `Authorization`
/// header.
fn requested_permission(call: &RequestContext) -> Result<Option<Permission>, Error> {
    const NAMES: [&str; 2] = ["svc_auth_access_type", "x_auth_access_type"];
    let form_value = NAMES.into_iter().find_map(|name| call.body().optional_text(name));
    let value = form_value.or_else(|| call.query_text(NAMES[0])).map(str::to_owned);
    let from_header = || {
        let header = call.head().headers.get(AUTHORIZATION)?.to_str().ok()?;
        let parameters = parse_oauth1_header(header).ok()??;
        parameters.into_iter().find(|(name, _)| NAMES.contains(&name.as_str())).map(|(_, value)| value)
    };
    match value.or_else(from_header).as_deref() {
        None => Ok(None),
        Some("read") => Ok(Some(Permission::Read)),
        Some("write") => Ok(Some(Permission::Write)),
        Some(other) => Err(Refusal::invalid_value("svc_auth_access_type", other).into()),
    }
}

fn form_reply(pairs: &[(&str, &str)]) -> HttpReply {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", encode(value)));
    HttpReply::form(pairs.collect::<Vec<_>>().join("&"))
}
