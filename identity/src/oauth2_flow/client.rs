//! Client authentication at the token endpoint.

use base::secret::{constant_time_eq, digest};
use base::{Error, Refusal, Secret};
use store::Tx;
use store::apps::{self, App, AppStatus};

use network::audit::AuditActor;

/// A client authenticated as far as its kind allows. Only [`authenticate_client`] creates one.
#[derive(Clone, Debug)]
pub struct AuthenticatedClient {
    app: App,
    is_confidential: bool,
    address: String,
}

impl AuthenticatedClient {
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// Whether it has presented a secret.
    pub const fn is_confidential(&self) -> bool {
        self.is_confidential
    }

    /// The app, with the address it calls from.
    pub(super) fn audit_actor(&self) -> AuditActor {
        AuditActor::anonymous(&self.address)
    }
}

/// Credentials in the header and the body must agree.
#[derive(Clone, Debug, Default)]
pub struct ClientCredentials {
    /// Id and secret of the Basic `Authorization` header.
    pub basic: Option<(String, Secret)>,
    /// `client_id` of the body.
    pub id: Option<String>,
    /// `client_secret` of the body.
    pub secret: Option<Secret>,
    /// The client's address, or empty.
    pub address: String,
}

fn unauthorized_client() -> Refusal {
    Refusal::OAuth2 { error: "unauthorized_client", description: "Missing valid authorization header".into() }
}

/// A confidential client must present its secret; a public one must not present any.
pub fn authenticate_client(tx: &mut Tx<'_>, credentials: &ClientCredentials) -> Result<AuthenticatedClient, Error> {
    let (id, secret) = merge_credentials(credentials)?;
    let app = apps::find_by_client_id(tx, id)?.filter(|app| app.state != AppStatus::Deleted);
    let expected = app.as_ref().and_then(|app| app.client_secret_digest.clone());
    // Compare in any case, so that timing does not reveal whether the client exists.
    let secret_matches = constant_time_eq(
        &expected.unwrap_or_else(|| digest("").to_vec()),
        &digest(secret.map_or("", Secret::expose_secret)),
    );
    let (app, is_confidential) = match (app, secret) {
        (Some(app), secret) => {
            let is_confidential = app.kind.is_confidential();
            let is_authenticated = if is_confidential {
                secret_matches && secret.is_some() && app.client_secret_digest.is_some()
            } else {
                secret.is_none()
            };
            Some((app, is_confidential)).filter(|_| is_authenticated).ok_or_else(unauthorized_client)?
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
    let address = credentials.address.clone();
    Ok(AuthenticatedClient { app, is_confidential, address })
}

/// The id and secret from header and body; empty values are ignored.
fn merge_credentials(credentials: &ClientCredentials) -> Result<(&str, Option<&Secret>), Refusal> {
    let (basic_id, basic_secret) = match &credentials.basic {
        Some((id, secret)) => (id.as_str(), Some(secret)),
        None => ("", None),
    };
    let id = credentials.id.as_deref().unwrap_or_default();
    let is_present = |secret: &&Secret| !secret.expose_secret().is_empty();
    let secret = credentials.secret.as_ref().filter(is_present);
    let secret = merge_values(basic_secret.filter(is_present), secret)?;
    let id = merge_values(Some(basic_id).filter(|id| !id.is_empty()), Some(id).filter(|id| !id.is_empty()))?;
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
