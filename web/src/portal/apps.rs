//! The list of apps, a new one, its settings, and its end.

use base::{Entitlement, Error};
use network::apps::AccessLevel;
use network::oauth2_flow::PLAIN_PKCE_USAGE;
use network::portal;
use pages::{
    AppAccess, AppForm, AppRow, AppSettings, Apps, Delete, Field, NewApp, Notice, Pager, Tab,
};
use store::apps::{App, AppStatus};

use super::{Own, form, heard, keys, shown};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::taken;
use crate::pages::front::LINKS;
use crate::pages::{Turn, Visit, run, see};
use crate::reply::Reply;

/// `GET /developer`.
pub(crate) fn start(_call: Call) -> Pending {
    Box::pin(async move { Ok(see(LINKS.apps)) })
}

/// `GET /developer/apps`.
pub(crate) fn list(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let owner = visit.signed_in(&call)?.user.id;
        let found = call.read(move |tx| {
            let mut rows = Vec::new();
            for app in portal::list(tx, owner)? {
                let uses = store::usage::list_last_uses(tx, app.id, Some(owner))?;
                let uses = uses
                    .into_iter()
                    .filter(|used| used.kind != PLAIN_PKCE_USAGE);
                let last = uses.map(|used| used.at).max();
                rows.push((app, last));
            }
            Ok(rows)
        });
        let mut apps = Vec::new();
        for (app, last_used) in found.await? {
            apps.push(AppRow {
                app: shown(&app),
                kind: form::kind_of(&app)?,
                level: form::level_of(&app)?,
                last_used,
                suspended: app.state == AppStatus::Suspended,
                description: app.description,
            });
        }
        let (frame, pager) = (visit.frame(&call), Pager::default());
        Ok(visit.page(&call, &Apps { frame, apps, pager })?)
    })
}

/// `GET /developer/apps/new`.
pub(crate) fn blank(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        visit.signed_in(&call)?;
        let form = AppForm {
            action: LINKS.apps.to_owned(),
            ..AppForm::default()
        };
        let frame = visit.frame(&call);
        Ok(visit.page(&call, &NewApp { frame, form })?)
    })
}

/// `POST /developer/apps`. The keys stand on this one answer only.
pub(crate) fn create(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?.clone();
        let sent = taken(&call, &visit).await?;
        let (mut form, whole) = form::typed(&sent, LINKS.apps.to_owned());
        let mut failure = None;
        if whole {
            let (by, draft) = (person.by(&visit), form::draft(&form));
            let work = move |tx: &mut store::Tx<'_>| {
                portal::create(tx, &by, &draft, AccessLevel::SelfServe)
            };
            match call.write(work).await {
                Ok((app, made)) => {
                    let own = Own { visit, person, app };
                    return keys::made(&call, &own, made).await;
                }
                Err(Error::Refused(refusal)) => failure = form::refuse(&mut form, &refusal),
                Err(stop) => return Err(stop.into()),
            }
        }
        let mut frame = visit.frame(&call);
        frame.failure = failure;
        let page = NewApp { frame, form };
        Ok(visit.page(&call, &page)?.status(400))
    })
}

/// `GET /developer/apps/{id}`.
pub(crate) fn settings(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let action = Tab::Settings.of(&own.shown());
        let form = form::stored(&own.app, action)?;
        let saved = call.head().uri.query() == Some("saved");
        settings_page(&call, &own, form, saved, None)
    })
}

/// `POST /developer/apps/{id}`.
pub(crate) fn save(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let sent = taken(&call, &own.visit).await?;
        let action = Tab::Settings.of(&own.shown());
        let (mut form, whole) = form::typed(&sent, action.clone());
        let mut failure = None;
        if whole {
            let (by, id, edit) = (own.by(), own.app.id, form::edit(&form, &own.app));
            let work = move |tx: &mut store::Tx<'_>| portal::update(tx, &by, id, &edit);
            match call.write(work).await {
                Ok(_) => return Ok(see(&format!("{action}?saved"))),
                Err(Error::Refused(refusal)) => failure = form::refuse(&mut form, &refusal),
                Err(stop) => return Err(stop.into()),
            }
        }
        Ok(settings_page(&call, &own, form, false, failure)?.status(400))
    })
}

fn settings_page(
    call: &Call,
    own: &Own,
    form: AppForm,
    saved: bool,
    failure: Option<String>,
) -> Result<Reply, Turn> {
    let mut frame = own.visit.frame(call);
    frame.failure = failure;
    if saved {
        frame.notices.push(Notice::good("The changes are saved."));
    }
    let entitled = |part: Entitlement| {
        let allowed = part.is_listed_in(&own.app.entitlements);
        (part.description().to_owned(), allowed)
    };
    let page = AppSettings {
        frame,
        app: own.shown(),
        access: AppAccess {
            tier: own.app.access_level.clone(),
            parts: Entitlement::ALL.map(entitled).to_vec(),
        },
        form,
    };
    Ok(own.visit.page(call, &page)?)
}

/// `GET /developer/apps/{id}/delete`.
pub(crate) fn ask_end(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        end_page(&call, &own, Field::default()).await
    })
}

/// `POST /developer/apps/{id}/delete`.
pub(crate) fn end(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let sent = taken(&call, &own.visit).await?;
        let typed = sent.text("name");
        if typed.trim() != own.app.name {
            let name = Field::refused(typed, "This is not the app’s name.");
            return Ok(end_page(&call, &own, name).await?.status(400));
        }
        let (by, id) = (own.by(), own.app.id);
        let ended = call.write(move |tx| portal::delete(tx, &by, id)).await;
        heard(&call, &own.visit, ended)?;
        Ok(see(LINKS.apps))
    })
}

async fn end_page(call: &Call, own: &Own, name: Field) -> Result<Reply, Turn> {
    let App { id, .. } = own.app;
    let app = own.shown();
    let page = Delete {
        frame: own.visit.frame(call),
        action: Tab::Delete.of(&app),
        connected: call
            .read(move |tx| Ok(store::grants::count(tx, id)?))
            .await?,
        app,
        name,
    };
    Ok(own.visit.page(call, &page)?)
}
