//! The credentials with which the explorer calls an operation.

use base::clock::wall_time;
use base::oauth1::{OAuth1Request, OAuth1Signer, RequestOrigin};
use base::{AppId, Error, Fault, Id, Permit, Refusal, Secret, UserId};
use identity::tokens;
use pages::console::SelectOption;
use portal::PageQuery;
use store::apps::App;
use web::request_context::RequestContext;

use super::request::ApiRequest;
use crate::world_environment::WorldEnvironment;

/// Of a token that is issued for one call, so that the command that is shown can be repeated.
const TOKEN_LIFETIME_MS: i64 = 10 * 60 * 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExplorerCredential {
    OAuth2User,
    OAuth1,
    App,
    Nothing,
}

impl ExplorerCredential {
    const ALL: [Self; 4] = [Self::OAuth2User, Self::OAuth1, Self::App, Self::Nothing];

    const fn value(self) -> &'static str {
        match self {
            Self::OAuth2User => "oauth2",
            Self::OAuth1 => "oauth1",
            Self::App => "app",
            Self::Nothing => "none",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::OAuth2User => "OAuth 2.0 user token",
            Self::OAuth1 => "OAuth 1.0a signature",
            Self::App => "Bearer token of the app",
            Self::Nothing => "None",
        }
    }

    const fn is_accepted(self, permit: Permit) -> bool {
        match self {
            Self::OAuth2User => permit.oauth2,
            Self::OAuth1 => permit.oauth1,
            Self::App => permit.app,
            Self::Nothing => permit.open,
        }
    }

    /// The chosen kind, or else the first that the operation accepts.
    pub(super) fn choose(text: Option<&str>, permit: Permit) -> Self {
        let chosen = Self::ALL.into_iter().find(|kind| Some(kind.value()) == text);
        let accepted = || Self::ALL.into_iter().find(|kind| kind.is_accepted(permit));
        chosen.or_else(accepted).unwrap_or(Self::Nothing)
    }

    pub(super) fn options(self, permit: Permit) -> Vec<SelectOption> {
        let option = |kind: Self| {
            let note = if kind.is_accepted(permit) { "" } else { " (not accepted)" };
            SelectOption::new(kind.value(), format!("{}{note}", kind.label())).select_value(self.value())
        };
        Self::ALL.into_iter().map(option).collect()
    }

    pub(super) const fn needs_user(self) -> bool {
        matches!(self, Self::OAuth2User | Self::OAuth1)
    }
}

/// The apps of the world, of which the first is usually the demo app.
pub(super) async fn load_apps(call: &RequestContext) -> Result<Vec<App>, Error> {
    call.read(|tx| identity::apps::list(tx, None)).await
}

pub(super) fn choose_app<'a>(apps: &'a [App], form: &PageQuery) -> Option<&'a App> {
    let chosen: Option<AppId> = form.get("app").and_then(Id::parse);
    apps.iter().find(|app| Some(app.id) == chosen).or_else(|| apps.first())
}

/// The `Authorization` header.
pub(super) async fn authorize(
    call: &RequestContext,
    kind: ExplorerCredential,
    app: Option<&App>,
    user: Option<UserId>,
    environment: &WorldEnvironment,
    request: &ApiRequest,
) -> Result<Option<Secret>, Error> {
    if kind == ExplorerCredential::Nothing {
        return Ok(None);
    }
    let app = app.ok_or_else(|| Refusal::forbidden("This world has no app whose credentials could be used."))?;
    let header = match (kind, user) {
        (ExplorerCredential::App, _) => app_header(call, app.id).await?,
        (ExplorerCredential::OAuth1, Some(user)) => oauth1_header(call, app, user, request).await?,
        (_, Some(user)) => match demo_token(environment, app, user) {
            Some(token) => Secret::new(format!("Bearer {token}")),
            None => user_header(call, app.id, user).await?,
        },
        (_, None) => return Err(Refusal::missing_parameter("user").into()),
    };
    Ok(Some(header))
}

async fn app_header(call: &RequestContext, app: AppId) -> Result<Secret, Error> {
    let bearer = call.read(move |tx| Ok(store::apps::bearer_token(tx, app)?)).await?;
    let bearer = bearer.ok_or_else(|| Refusal::forbidden("This app has no bearer token; create it in its keys."))?;
    Ok(Secret::new(format!("Bearer {}", bearer.expose_secret())))
}

/// The user token of `dev.env`, if the user and the app are those that it belongs to.
fn demo_token<'e>(environment: &'e WorldEnvironment, app: &App, user: UserId) -> Option<&'e str> {
    let user = user.to_string();
    let is_demo_app = environment.get("API_KEY") == Some(app.api_key.as_str());
    let names = [("USER_ID", "USER_TOKEN"), ("USER_ID_2", "USER_TOKEN_2")];
    let token = names.into_iter().find(|(id, _)| environment.get(id) == Some(user.as_str()));
    token.filter(|_| is_demo_app).and_then(|(_, token)| environment.get(token))
}

async fn user_header(call: &RequestContext, app: AppId, user: UserId) -> Result<Secret, Error> {
    let minted =
        call.write(move |tx| tokens::mint_oauth2(tx, app, user, tokens::all_scopes(), Some(TOKEN_LIFETIME_MS)));
    Ok(Secret::new(format!("Bearer {}", minted.await?.expose_secret())))
}

async fn oauth1_header(call: &RequestContext, app: &App, user: UserId, request: &ApiRequest) -> Result<Secret, Error> {
    let (id, permission) = (app.id, app.permission);
    let (token, secret) = call.write(move |tx| tokens::mint_oauth1(tx, id, user, permission)).await?;
    let nonce = call.store_context().rng.random_token(24)?;
    let signer = OAuth1Signer {
        consumer_key: &app.api_key,
        consumer_secret: &app.api_secret,
        token: Some((token.expose_secret(), &secret)),
        nonce: &nonce,
        timestamp: wall_time().seconds(),
        extra_parameters: &[],
    };
    let (path, query) = request.path_and_query();
    let is_form = request.content_type == Some("application/x-www-form-urlencoded");
    let form = is_form.then_some(request.body.as_bytes());
    let signed = OAuth1Request { method: request.method, path, query, authorization: None, form };
    let used = call.head().public_origin();
    let origin = RequestOrigin::parse(&format!("{}://{}", used.scheme, used.host.unwrap_or_default()));
    let origin = origin.ok_or_else(|| Fault::new("the host of the request is malformed"))?;
    let header = signer.sign(&signed, &origin);
    header.map(Secret::new).map_err(|problem| Fault::new(format!("failed to sign a request: {problem:?}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Scopes;

    #[test]
    fn the_first_accepted_kind_is_chosen_unless_another_is_asked_for() {
        let permit = Permit::from_letters("1A", Scopes::NONE);
        assert_eq!(ExplorerCredential::choose(None, permit), ExplorerCredential::OAuth1);
        assert_eq!(ExplorerCredential::choose(Some("none"), permit), ExplorerCredential::Nothing);
        assert_eq!(ExplorerCredential::choose(Some("x"), Permit::OPEN), ExplorerCredential::Nothing);
        let options = ExplorerCredential::OAuth1.options(permit);
        assert_eq!(options.iter().filter(|option| option.selected).count(), 1);
        assert!(options[0].label.ends_with("(not accepted)"));
    }
}
