//! The developer portal: people's own apps, their keys and what they call; in development also why
//! a signature does not hold, and the mailbox.

pub(crate) mod apps;
pub(crate) mod callbacks;
pub(crate) mod console;
mod form;
pub(crate) mod keys;
pub(crate) mod live;
pub(crate) mod mailbox;
pub(crate) mod manager;
pub(crate) mod signature;
pub(crate) mod stream;
pub(crate) mod usage;
pub(crate) mod webhooks;

use base::{AppId, Error, Refusal};
use network::audit::AuditActor;
use network::portal;
use pages::Wrong;
use store::apps::App;

use crate::call::Call;
use crate::pages::{Person, Turn, Visit, errors};

/// One of the person's own apps, and who asks for it.
struct Own {
    visit: Visit,
    person: Person,
    app: App,
}

impl Own {
    /// The app of the path. One of somebody else is not found, as one that is not there.
    async fn of(call: &Call) -> Result<Self, Turn> {
        let visit = Visit::of(call).await?;
        let person = visit.signed_in(call)?.clone();
        let Some(id) = AppId::parse(call.path_text("id")?) else {
            return Err(not_found(call, &visit));
        };
        let owner = person.user.id;
        let found = call.read(move |tx| portal::find(tx, owner, id)).await;
        let app = heard(call, &visit, found)?;
        Ok(Self { visit, person, app })
    }

    fn by(&self) -> AuditActor {
        self.person.by(&self.visit)
    }

    /// The app, as pages name it.
    fn shown(&self) -> pages::App {
        shown(&self.app)
    }
}

fn shown(app: &App) -> pages::App {
    pages::App {
        id: app.id.to_string(),
        name: app.name.clone(),
        path: format!("{}/{}", crate::pages::front::LINKS.apps, app.id),
    }
}

fn not_found(call: &Call, visit: &Visit) -> Turn {
    match errors::page(call, visit, Wrong::NotFound, None) {
        Ok(reply) => reply.into(),
        Err(fault) => fault.into(),
    }
}

/// What was done, or the page that says why it was not.
fn heard<T>(call: &Call, visit: &Visit, outcome: Result<T, Error>) -> Result<T, Turn> {
    match outcome {
        Ok(done) => Ok(done),
        Err(Error::Refused(Refusal::NotFound(_))) => Err(not_found(call, visit)),
        Err(Error::Refused(Refusal::Forbidden { .. })) => {
            Err(errors::page(call, visit, Wrong::Forbidden, None)?.into())
        }
        Err(stop) => Err(stop.into()),
    }
}
