//! What remains of the older interface around OAuth 1.0a.

use network::tokens;
use serde_json::json;

use crate::call::Call;
use crate::endpoint::Pending;

/// `POST /1.1/oauth/invalidate_token`: revokes the token that the request is signed with.
pub(crate) fn invalidate(call: Call) -> Pending {
    Box::pin(async move {
        let (caller, user) = (call.caller()?, call.user()?);
        let (app, permission) = (caller.app_id, caller.permission);
        let gone = call
            .write(move |tx| tokens::revoke_own(tx, app, user, permission))
            .await?;
        call.say_whole(&json!({ "access_token": gone.reveal() }))
    })
}
