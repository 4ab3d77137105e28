//! OAuth 2.0 app-only: issue and invalidate an app's bearer token (contract §2.4).

use base::{Error, Refusal, VocabularyWord};
use network::audit::AuditActor;
use network::bearer;
use serde_json::json;
use store::apps::App;

use super::basic::{Basic, basic};
use crate::call::Call;
use crate::endpoint::{Pending, Window, quarter};
use crate::limits::Pool;

/// Beyond this an app asks too often (spec §5.5; the figure is ours, contract §4).
const ISSUES: &[Window] = &[quarter(50)];

/// `POST /oauth2/token`.
pub(crate) fn issue(call: Call) -> Pending {
    Box::pin(async move {
        let grant = call
            .body()
            .text_if(VocabularyWord::same_in_both("grant_type"))
            .or(call.text("grant_type"));
        if grant != Some("client_credentials") {
            return Err(Refusal::AppOnlyTokenRefused.into());
        }
        let app = basic_app(&call)
            .await?
            .ok_or(Refusal::AppOnlyTokenRefused)?;
        let id = app.id;
        if !call
            .home
            .bearers
            .count(Pool::App(id.get()), 0, ISSUES, base::clock::wall_time())
            .allowed
        {
            return Err(Refusal::AppOnlyTokenRefused.into());
        }
        let token = call.write(move |tx| bearer::issue(tx, id)).await?;
        call.say_whole(&json!({"token_type": "bearer", "access_token": token.expose_secret()}))
    })
}

/// `POST /oauth2/invalidate_token`: signed by the owner, or with the app's own key and secret.
pub(crate) fn invalidate(call: Call) -> Pending {
    Box::pin(async move {
        let token = call
            .body()
            .text_if(VocabularyWord::same_in_both("access_token"))
            .or(call.text("access_token"));
        let token = token.ok_or(Refusal::AppOnlyTokenRefused)?.to_owned();
        let (app, user) = match basic_app(&call).await? {
            Some(app) => (app, None),
            None => signed_owner(&call).await?,
        };
        let by = AuditActor {
            user,
            address: call.address(),
            ..AuditActor::default()
        };
        let gone = call
            .write(move |tx| bearer::invalidate(tx, &app, &by, &token))
            .await?;
        call.say_whole(&json!({"access_token": gone.expose_secret()}))
    })
}

async fn signed_owner(call: &Call) -> Result<(App, Option<base::UserId>), Error> {
    let signed = call
        .home
        .authenticator
        .verify_signed_request(call.auth_request())
        .await?;
    let caller = signed
        .and_then(|signed| signed.caller)
        .ok_or(Refusal::AppOnlyTokenRefused)?;
    Ok((App::clone(&caller.app), caller.user))
}

/// The app whose key and secret came as Basic credentials; none when others came, or none.
async fn basic_app(call: &Call) -> Result<Option<App>, Error> {
    let (key, secret) = match basic(&call.head().headers) {
        Basic::Absent => return Ok(None),
        Basic::Garbled => return Err(Refusal::AppOnlyTokenRefused.into()),
        Basic::Pair(key, secret) => (key, secret),
    };
    call.read(move |tx| bearer::authenticate_app(tx, &key, &secret))
        .await
        .map(Some)
}
