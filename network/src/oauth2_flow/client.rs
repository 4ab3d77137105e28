//! Which app speaks at the token endpoint, and the proof of it.

use base::secret::{constant_time_eq, digest};
use base::{Error, Refusal, Secret};
use store::Tx;
use store::apps::{self, App, AppStatus};

use crate::apps::OAuthClientKind;
use crate::audit::AuditActor;

/// An app that has proved to be itself as far as its kind can. Only [`authenticate_client`] makes
/// one.
#[derive(Clone, Debug)]
pub struct AuthenticatedClient {
    app: App,
    address: String,
}

impl AuthenticatedClient {
    /// The app.
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// Who acts: the app, from where it calls.
    pub(super) fn audit_actor(&self) -> AuditActor {
        AuditActor::anonymous(&self.address)
    }
}

/// What a client presents of itself. Both ways at once are fine as long as they agree.
#[derive(Clone, Debug, Default)]
pub struct ClientCredentials {
    /// Id and secret of a Basic header.
    pub basic: Option<(String, Secret)>,
    /// `client_id` of the body.
    pub id: Option<String>,
    /// `client_secret` of the body.
    pub secret: Option<Secret>,
    /// From where, or empty.
    pub address: String,
}

fn unauthorized_client() -> Refusal {
    Refusal::OAuth2 {
        error: "unauthorized_client",
        description: "Missing valid authorization header".into(),
    }
}

/// The app that these credentials are of. A confidential one needs its secret; a public one has
/// none, and may present none.
pub fn authenticate_client(tx: &mut Tx<'_>, came: &ClientCredentials) -> Result<AuthenticatedClient, Error> {
    let (id, secret) = merge_credentials(came)?;
    let app = apps::find_by_client_id(tx, id)?.filter(|app| app.state != AppStatus::Deleted);
    let expected = app.as_ref().and_then(|app| app.client_secret_digest.clone());
    // An unknown client takes the same comparison as a wrong secret, and gets the same answer.
    let holds = constant_time_eq(
        &expected.unwrap_or_else(|| digest("").to_vec()),
        &digest(secret.map_or("", Secret::expose_secret)),
    );
    let app = match (app, secret) {
        (Some(app), secret) => {
            let confidential = app.kind.parse::<OAuthClientKind>()?.is_confidential();
            let proven = if confidential {
                holds && secret.is_some() && app.client_secret_digest.is_some()
            } else {
                secret.is_none()
            };
            Some(app).filter(|_| proven).ok_or_else(unauthorized_client)?
        }
        (None, Some(_)) => return Err(unauthorized_client().into()),
        (None, None) => {
            return Err(Refusal::OAuth2 {
                error: "invalid_client",
                description: "Value passed for the client id was invalid.".into(),
            }
            .into());
        }
    };
    if app.state == AppStatus::Suspended {
        return Err(Refusal::OAuth2 {
            error: "unauthorized_client",
            description: "Invalid / suspended application.".into(),
        }
        .into());
    }
    let address = came.address.clone();
    Ok(AuthenticatedClient { app, address })
}

/// The one id and the one secret that came; an empty one is none.
fn merge_credentials(came: &ClientCredentials) -> Result<(&str, Option<&Secret>), Refusal> {
    let (basic_id, basic_secret) = match &came.basic {
        Some((id, secret)) => (id.as_str(), Some(secret)),
        None => ("", None),
    };
    let id = came.id.as_deref().unwrap_or_default();
    let is_given = |secret: &&Secret| !secret.expose_secret().is_empty();
    let secret = came.secret.as_ref().filter(is_given);
    let secret = merge_values(basic_secret.filter(is_given), secret)?;
    let id = merge_values(
        Some(basic_id).filter(|id| !id.is_empty()),
        Some(id).filter(|id| !id.is_empty()),
    )?;
    let id = id.ok_or_else(|| Refusal::OAuth2 {
        error: "invalid_request",
        description: "Missing required parameter [client_id].".into(),
    })?;
    Ok((id, secret))
}

fn merge_values<T: PartialEq>(basic: Option<T>, body: Option<T>) -> Result<Option<T>, Refusal> {
    match (basic, body) {
        (Some(basic), Some(body)) if basic != body => Err(unauthorized_client()),
        (basic, body) => Ok(basic.or(body)),
    }
}
