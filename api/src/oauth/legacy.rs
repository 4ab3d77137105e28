//! Revocation of an OAuth 1.0a access token.

use base::Error;
use identity::tokens;
use network::audit::AuditActor;
use serde_json::json;
use web::request_context::{HttpReply, RequestContext};

/// `POST /1.1/oauth/invalidate_token`: revokes the token that the request is signed with.
pub(crate) async fn invalidate_token(call: RequestContext) -> Result<HttpReply, Error> {
    let (caller, user) = (call.require_caller()?, call.require_user()?);
    let (app, permission) = (caller.app_id, caller.permission);
    let actor = AuditActor::user(user, &call.client_address());
    let token = call.write(move |tx| tokens::revoke_user_token(tx, &actor, app, permission)).await?;
    call.respond_json(&json!({ "access_token": token.expose_secret() }))
}
