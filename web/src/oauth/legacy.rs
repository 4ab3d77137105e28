//! What remains of the older interface around OAuth 1.0a.

use network::audit::By;
use network::{tokens, users};
use serde_json::json;

use crate::call::Call;
use crate::endpoint::Pending;

/// `POST /1.1/oauth/invalidate_token`: revokes the token that the request is signed with.
pub(crate) fn invalidate(call: Call) -> Pending {
    Box::pin(async move {
        let (caller, user) = (call.caller()?, call.user()?);
        let (app, permission) = (caller.app_id, caller.permission);
        let by = By::user(user, &call.address());
        let gone = call
            .write(move |tx| tokens::revoke_own(tx, &by, app, permission))
            .await?;
        call.say_whole(&json!({ "access_token": gone.reveal() }))
    })
}

/// `GET /1.1/account/verify_credentials.json`: who the request is signed for. The address is told to
/// apps that may ask for it, once it was confirmed.
pub(crate) fn verify(call: Call) -> Pending {
    Box::pin(async move {
        let (caller, user) = (call.caller()?, call.user()?);
        let wanted = matches!(
            call.text("include_email"),
            Some("true" | "True" | "t" | "1")
        );
        let email = wanted && caller.app.request_email;
        let found = call.read(move |tx| users::active(tx, user)).await?;
        call.say_whole(&view::older_user(&found, email))
    })
}
