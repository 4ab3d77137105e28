//! The v1.1 operations around OAuth 1.0a.

use base::Refusal;
use base::refusal::ResourceRef;
use network::audit::AuditActor;
use network::{tokens, users};
use serde_json::json;
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

/// `POST /1.1/oauth/invalidate_token`: revokes the token that the request is signed with.
pub(crate) fn invalidate_token(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let (caller, user) = (call.require_caller()?, call.require_user()?);
        let (app, permission) = (caller.app_id, caller.permission);
        let actor = AuditActor::user(user, &call.client_address());
        let token = call.write(move |tx| tokens::revoke_user_token(tx, &actor, app, permission)).await?;
        call.respond_json(&json!({ "access_token": token.expose_secret() }))
    })
}

/// `GET /1.1/account/verify_credentials.json`: includes a confirmed email address for apps that may request it.
pub(crate) fn verify_credentials(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let (caller, user) = (call.require_caller()?, call.require_user()?);
        let wanted = matches!(call.query_text("include_email"), Some("true" | "True" | "t" | "1"));
        let email = wanted && caller.app.request_email;
        let found = call.read(move |tx| users::find_active(tx, user)).await?;
        call.respond_json(&view::legacy_user_json(&found, email))
    })
}

/// `GET /1.1/users/show.json`: Ads API clients use it to find the user to post as.
pub(crate) fn show_user(call: RequestContext) -> HandlerFuture {
    Box::pin(async move {
        let id = call.query_id("user_id");
        let name = call.query_text("screen_name").unwrap_or_default().to_owned();
        if id.is_none() && name.is_empty() {
            return Err(Refusal::missing_parameter("user_id").into());
        }
        let found = call.read(move |tx| {
            let named = match id {
                Some(id) => Some(id),
                None => store::users::find_by_username(tx, &name)?.map(|user| user.id),
            };
            let unknown = || Refusal::NotFound(ResourceRef::new("user", "screen_name", &name));
            users::find_target(tx, named.ok_or_else(unknown)?, "user_id")
        });
        call.respond_json(&view::legacy_user_json(&found.await?, false))
    })
}
