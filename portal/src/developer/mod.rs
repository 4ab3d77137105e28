//! The developer portal: a developer's apps, their keys and usage; in development also the signature explainer and the
//! mailbox.

mod app_form;
pub(crate) mod apps;
pub(crate) mod callbacks;
pub(crate) mod keys;
pub(crate) mod live;
pub(crate) mod mailbox;
pub(crate) mod search_console;
pub(crate) mod signature;
pub(crate) mod stream;
pub(crate) mod usage;
pub(crate) mod webhooks;

use base::{AppId, Error, Refusal};
use identity::developer_apps;
use network::audit::AuditActor;
use pages::PageErrorKind;
use store::apps::App;
use web::request_context::RequestContext;

use crate::site::{BrowserVisit, MemberVisit, PageExit, errors};

struct OwnedApp {
    visit: MemberVisit,
    app: App,
}

impl OwnedApp {
    /// Apps of other users are not found, like missing ones.
    async fn from_call(call: &RequestContext) -> Result<Self, PageExit> {
        let visit = MemberVisit::from_call(call).await?;
        let Some(id) = AppId::parse(call.path_text("id")?) else {
            return Err(not_found_page(call, &visit));
        };
        let owner = visit.person.user.id;
        let found = call.read(move |tx| developer_apps::find(tx, owner, id)).await;
        let app = outcome_or_page(call, &visit, found)?;
        Ok(Self { visit, app })
    }

    fn audit_actor(&self) -> AuditActor {
        self.visit.audit_actor()
    }

    fn app_ref(&self) -> pages::AppRef {
        app_ref(&self.app)
    }
}

fn app_ref(app: &App) -> pages::AppRef {
    pages::AppRef {
        id: app.id.to_string(),
        name: app.name.clone(),
        path: format!("{}/{}", web::page_context::SITE_LINKS.apps, app.id),
    }
}

pub(crate) fn not_found_page(call: &RequestContext, visit: &BrowserVisit) -> PageExit {
    errors::exit_page(call, visit, PageErrorKind::NotFound)
}

/// Turns `NotFound` and `Forbidden` refusals into error pages.
fn outcome_or_page<T>(call: &RequestContext, visit: &BrowserVisit, outcome: Result<T, Error>) -> Result<T, PageExit> {
    match outcome {
        Ok(done) => Ok(done),
        Err(Error::Refused(Refusal::NotFound(_))) => Err(not_found_page(call, visit)),
        Err(Error::Refused(Refusal::Forbidden { .. })) => Err(errors::exit_page(call, visit, PageErrorKind::Forbidden)),
        Err(stop) => Err(stop.into()),
    }
}
