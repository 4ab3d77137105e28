//! Where a person is signed in, and which apps may act for them.

use base::clock::wall_time;
use base::{AppId, Error, Id};
use network::grants::{self, ConnectedApp};
use network::sessions;
use pages::{Connected, Connection, Sessions, Wrong, device, power};

use super::app::{card, level};
use super::front::LINKS;
use super::{Visit, errors, forms, run, see, session};
use crate::call::Call;
use crate::endpoint::Pending;

/// Where one session is ended.
pub(crate) const END: &str = "/settings/sessions/revoke";
/// Where all others are ended.
pub(crate) const END_OTHERS: &str = "/settings/sessions/revoke-others";
/// Where an app's access is ended.
pub(crate) const DISCONNECT: &str = "/settings/apps/revoke";

/// `GET /settings/sessions`.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        let (user, own) = (person.user.id, person.session.id);
        let all = call.read(move |tx| Ok(sessions::list(tx, user)?)).await?;
        let mut listed: Vec<_> = all
            .into_iter()
            .map(|session| pages::Session {
                id: session.id.to_string(),
                device: device(&session.user_agent),
                address: session.address,
                since: session.created_at,
                last_seen: session.last_seen_at,
                current: session.id == own,
            })
            .collect();
        listed.sort_by_key(|session| !session.current);
        let mut frame = visit.frame(&call);
        // Sessions follow the machine's clock.
        frame.now = wall_time();
        let page = Sessions {
            frame,
            sessions: listed,
            revoke: END.to_owned(),
            revoke_others: END_OTHERS.to_owned(),
        };
        Ok(visit.page(&call, &page)?)
    })
}

/// `POST /settings/sessions/revoke`.
pub(crate) fn end(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        let sent = forms::taken(&call, &visit).await?;
        let Ok(id) = sent.text("id").parse::<i64>() else {
            return Ok(errors::page(&call, &visit, Wrong::NotFound, None)?);
        };
        let (by, user, own) = (person.by(&visit), person.user.id, person.session.id);
        let ended = call.write(move |tx| sessions::revoke(tx, &by, user, id));
        match ended.await {
            Ok(()) if id == own => Ok(session::forget(&call, see(LINKS.sign_in))),
            // What ended before is what was asked for.
            Ok(()) | Err(Error::Refused(_)) => Ok(see(LINKS.sessions)),
            Err(failed) => Err(failed.into()),
        }
    })
}

/// `POST /settings/sessions/revoke-others`.
pub(crate) fn end_others(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        forms::taken(&call, &visit).await?;
        let (by, user, own) = (person.by(&visit), person.user.id, person.session.id);
        call.write(move |tx| sessions::revoke_all(tx, &by, user, Some(own)))
            .await?;
        Ok(see(LINKS.sessions))
    })
}

/// `GET /settings/apps`.
pub(crate) fn connected(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let user = visit.signed_in(&call)?.user.id;
        let mut apps = Vec::new();
        for grant in call.read(move |tx| grants::list(tx, user)).await? {
            apps.push(connection(&call, grant).await?);
        }
        let page = Connected {
            frame: visit.frame(&call),
            apps,
            revoke: DISCONNECT.to_owned(),
        };
        Ok(visit.page(&call, &page)?)
    })
}

async fn connection(call: &Call, grant: ConnectedApp) -> Result<Connection, Error> {
    let email = grant.app.request_email;
    let widest = grant.permission.map(level);
    let mut permissions: Vec<String> = Vec::new();
    if let Some(level) = widest {
        permissions.extend(level.can(email).into_iter().map(str::to_owned));
    }
    for scope in grant.scopes.iter() {
        let words = power(scope).words;
        if permissions.iter().all(|known| known != words) {
            permissions.push(words.to_owned());
        }
    }
    let writes = grant.scopes.iter().any(|scope| power(scope).writes);
    let summary = match widest {
        Some(level) => level.name(),
        None if writes => "Read and write",
        None => "Read",
    };
    Ok(Connection {
        id: grant.app.id.to_string(),
        app: card(call, &grant.app).await?,
        summary: summary.to_owned(),
        permissions,
        since: grant.created_at,
        last_used: Some(grant.used_at).filter(|used| used.ms() > 0),
    })
}

/// `POST /settings/apps/revoke`.
pub(crate) fn disconnect(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let by = visit.signed_in(&call)?.by(&visit);
        let sent = forms::taken(&call, &visit).await?;
        let app: Option<AppId> = Id::parse(&sent.text("id"));
        let Some(app) = app else {
            return Ok(errors::page(&call, &visit, Wrong::NotFound, None)?);
        };
        match call.write(move |tx| grants::revoke(tx, &by, app)).await {
            Ok(()) | Err(Error::Refused(_)) => Ok(see(LINKS.connected)),
            Err(failed) => Err(failed.into()),
        }
    })
}
