//! OAuth 2.0 app-only: issues and invalidates an app's bearer token (contract core §2.4).

use base::{Error, Refusal};
use identity::bearer;
use network::audit::AuditActor;
use serde_json::json;
use store::apps::App;
use web::basic_auth::{BasicCredentials, parse_basic_credentials};
use web::endpoint::{SharedWindow, per_quarter_hour};
use web::request_context::{HttpReply, RequestContext};

/// How often an app may request its token (contract core §2.4, §4; the figure is ours).
pub(crate) static ISSUE_WINDOW: SharedWindow =
    SharedWindow { name: "bearer tokens of an app", window: per_quarter_hour(50) };

pub(crate) async fn issue(call: RequestContext) -> Result<HttpReply, Error> {
    let grant = call.body().optional_text("grant_type").or(call.query_text("grant_type"));
    if grant != Some("client_credentials") {
        return Err(Refusal::AppOnlyTokenRefused.into());
    }
    let app = load_basic_app(&call).await?.ok_or(Refusal::AppOnlyTokenRefused)?;
    let id = app.id;
    call.charge_app(id).await.map_err(|_| Refusal::AppOnlyTokenRefused)?;
    let token = call.write(move |tx| bearer::issue(tx, id)).await?;
    call.respond_json(&json!({"token_type": "bearer", "access_token": token.expose_secret()}))
}

/// `POST /oauth2/invalidate_token`: signed by the owner, or with the app's own key and secret.
pub(crate) async fn invalidate(call: RequestContext) -> Result<HttpReply, Error> {
    let token = call.body().optional_text("access_token").or(call.query_text("access_token"));
    let token = token.ok_or(Refusal::AppOnlyTokenRefused)?.to_owned();
    let (app, user) = match load_basic_app(&call).await? {
        Some(app) => (app, None),
        None => load_signed_owner(&call).await?,
    };
    call.charge_app(app.id).await?;
    let actor = AuditActor { user, address: call.client_address(), ..AuditActor::default() };
    let revoked = call.write(move |tx| bearer::invalidate(tx, &app, &actor, &token)).await?;
    call.respond_json(&json!({"access_token": revoked.expose_secret()}))
}

async fn load_signed_owner(call: &RequestContext) -> Result<(App, Option<base::UserId>), Error> {
    let signed = call.state.authenticator.verify_signed_request(call.auth_request()).await?;
    let caller = signed.and_then(|signed| signed.caller).ok_or(Refusal::AppOnlyTokenRefused)?;
    Ok((App::clone(&caller.app), caller.user))
}

/// None without Basic credentials.
async fn load_basic_app(call: &RequestContext) -> Result<Option<App>, Error> {
    let (key, secret) = match parse_basic_credentials(&call.head().headers) {
        BasicCredentials::Absent => return Ok(None),
        BasicCredentials::Malformed => return Err(Refusal::AppOnlyTokenRefused.into()),
        BasicCredentials::Pair(key, secret) => (key, secret),
    };
    call.read(move |tx| bearer::authenticate_app(tx, &key, &secret)).await.map(Some)
}
