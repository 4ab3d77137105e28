//! Which app speaks at the token endpoint, and the proof of it.

use base::secret::{digest, same};
use base::{Refusal, Secret, Stop};
use store::Tx;
use store::apps::{self, App, AppStatus};

use crate::apps::Kind;
use crate::audit::By;

/// An app that has proved to be itself as far as its kind can. Only [`authenticate_client`] makes
/// one.
#[derive(Clone, Debug)]
pub struct Client {
    app: App,
    address: String,
}

impl Client {
    /// The app.
    pub const fn app(&self) -> &App {
        &self.app
    }

    /// Who acts: the app, from where it calls.
    pub(super) fn by(&self) -> By {
        By::nobody(&self.address)
    }
}

/// What a client presents of itself. Both ways at once are fine as long as they agree.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// Id and secret of a Basic header.
    pub basic: Option<(String, Secret)>,
    /// `client_id` of the body.
    pub id: Option<String>,
    /// `client_secret` of the body.
    pub secret: Option<Secret>,
    /// From where, or empty.
    pub address: String,
}

fn unauthorized() -> Refusal {
    Refusal::OAuth2 {
        error: "unauthorized_client",
        description: "Missing valid authorization header".into(),
    }
}

/// The app that these credentials are of. A confidential one needs its secret; a public one has
/// none, and may present none.
pub fn authenticate_client(tx: &mut Tx<'_>, came: &Credentials) -> Result<Client, Stop> {
    let (id, secret) = agreed(came)?;
    let app = apps::find_by_client_id(tx, id)?.filter(|app| app.state != AppStatus::Deleted);
    let expected = app
        .as_ref()
        .and_then(|app| app.client_secret_digest.clone());
    // An unknown client takes the same comparison as a wrong secret, and gets the same answer.
    let holds = same(
        &expected.unwrap_or_else(|| digest("").to_vec()),
        &digest(secret.map_or("", Secret::reveal)),
    );
    let app = match (app, secret) {
        (Some(app), secret) => {
            let confidential = app.kind.parse::<Kind>()?.is_confidential();
            let proven = if confidential {
                holds && secret.is_some() && app.client_secret_digest.is_some()
            } else {
                secret.is_none()
            };
            Some(app).filter(|_| proven).ok_or_else(unauthorized)?
        }
        (None, Some(_)) => return Err(unauthorized().into()),
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
    Ok(Client { app, address })
}

/// The one id and the one secret that came; an empty one is none.
fn agreed(came: &Credentials) -> Result<(&str, Option<&Secret>), Refusal> {
    let (basic_id, basic_secret) = match &came.basic {
        Some((id, secret)) => (id.as_str(), Some(secret)),
        None => ("", None),
    };
    let id = came.id.as_deref().unwrap_or_default();
    let is_given = |secret: &&Secret| !secret.reveal().is_empty();
    let secret = came.secret.as_ref().filter(is_given);
    let secret = one(basic_secret.filter(is_given), secret)?;
    let id = one(
        Some(basic_id).filter(|id| !id.is_empty()),
        Some(id).filter(|id| !id.is_empty()),
    )?;
    let id = id.ok_or_else(|| Refusal::OAuth2 {
        error: "invalid_request",
        description: "Missing required parameter [client_id].".into(),
    })?;
    Ok((id, secret))
}

fn one<T: PartialEq>(basic: Option<T>, body: Option<T>) -> Result<Option<T>, Refusal> {
    match (basic, body) {
        (Some(basic), Some(body)) if basic != body => Err(unauthorized()),
        (basic, body) => Ok(basic.or(body)),
    }
}
