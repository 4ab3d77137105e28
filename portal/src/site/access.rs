//! Sessions and connected apps.

use crate::site::PageExit;
use base::clock::wall_time;
use base::{AppId, Error, Id, Scope, SplitRefusal};
use identity::grants::{self, ConnectedApp};
use identity::sessions;
use pages::{ConnectedAppItem, ConnectedAppsPage, PageErrorKind, SessionsPage, describe_scope, device_name};
use web::page_context::SITE_LINKS;
use web::request_context::{HttpReply, RequestContext};

use super::app_summary::{load_app_summary, permission_level};
use super::{MemberVisit, errors, redirect_to, session};

pub(crate) const REVOKE_SESSION_PATH: &str = "/settings/sessions/revoke";
pub(crate) const REVOKE_OTHER_SESSIONS_PATH: &str = "/settings/sessions/revoke-others";
pub(crate) const DISCONNECT_APP_PATH: &str = "/settings/apps/revoke";

pub(crate) async fn show_sessions(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let (user, own) = (visit.person.user.id, visit.person.session.id);
    let all = call.read(move |tx| Ok(sessions::list(tx, user)?)).await?;
    let mut listed: Vec<_> = all
        .into_iter()
        .map(|session| pages::SessionItem {
            id: session.id.to_string(),
            device: device_name(&session.user_agent),
            address: session.address,
            since: session.created_at,
            last_seen: session.last_seen_at,
            current: session.id == own,
        })
        .collect();
    listed.sort_by_key(|session| !session.current);
    let mut frame = visit.page_frame(&call);
    // Sessions use the wall clock.
    frame.now.at = wall_time();
    let page = SessionsPage {
        frame,
        sessions: listed,
        revoke: REVOKE_SESSION_PATH.to_owned(),
        revoke_others: REVOKE_OTHER_SESSIONS_PATH.to_owned(),
    };
    Ok(visit.render_page(&call, &page)?)
}

pub(crate) async fn revoke_session(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let Ok(id) = sent.text("id").parse::<i64>() else {
        return Err(errors::exit_page(&call, &visit, PageErrorKind::NotFound));
    };
    let (by, user, own) = (visit.audit_actor(), visit.person.user.id, visit.person.session.id);
    let ended = call.write(move |tx| sessions::revoke(tx, &by, user, id));
    match ended.await.split_refusal()? {
        Ok(()) if id == own => Ok(session::clear_session_cookie(&call, redirect_to(SITE_LINKS.sign_in))),
        // A session that has already ended is no error.
        Ok(()) | Err(_) => Ok(redirect_to(SITE_LINKS.sessions)),
    }
}

pub(crate) async fn revoke_other_sessions(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, _) = MemberVisit::accept_form(&call).await?;
    let (by, user, own) = (visit.audit_actor(), visit.person.user.id, visit.person.session.id);
    call.write(move |tx| sessions::revoke_all(tx, &by, user, Some(own))).await?;
    Ok(redirect_to(SITE_LINKS.sessions))
}

pub(crate) async fn show_connected_apps(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let mut apps = Vec::new();
    for grant in call.read(move |tx| grants::list(tx, user)).await? {
        apps.push(connected_app_item(&call, grant).await?);
    }
    let page = ConnectedAppsPage { frame: visit.page_frame(&call), apps, revoke: DISCONNECT_APP_PATH.to_owned() };
    Ok(visit.render_page(&call, &page)?)
}

async fn connected_app_item(call: &RequestContext, grant: ConnectedApp) -> Result<ConnectedAppItem, Error> {
    let widest = grant.permission.map(permission_level);
    let mut permissions: Vec<String> = Vec::new();
    if let Some(level) = widest {
        permissions.extend(level.allowed_actions(grant.reads_email).into_iter().map(str::to_owned));
    }
    for scope in grant.scopes.iter() {
        let words = describe_scope(scope).description;
        if permissions.iter().all(|known| known != words) {
            permissions.push(words.to_owned());
        }
    }
    let reads_email = widest.is_some() && grant.reads_email || grant.scopes.contains(Scope::UsersEmail);
    let writes = grant.scopes.iter().any(|scope| describe_scope(scope).is_write);
    let summary = match widest {
        Some(level) => level.label(),
        None if writes => "Read and write",
        None => "Read",
    };
    Ok(ConnectedAppItem {
        id: grant.app.id.to_string(),
        app: load_app_summary(call, &grant.app).await?,
        summary: format!("{summary}{}", if reads_email { " · email address" } else { "" }),
        permissions,
        since: grant.created_at,
        last_used: Some(grant.used_at).filter(|used| used.ms() > 0),
    })
}

pub(crate) async fn disconnect_app(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let by = visit.audit_actor();
    let app: Option<AppId> = Id::parse(&sent.text("id"));
    let Some(app) = app else {
        return Err(errors::exit_page(&call, &visit, PageErrorKind::NotFound));
    };
    // An app that has already lost its access is no error.
    let _revoked = call.write(move |tx| grants::revoke(tx, &by, app)).await.split_refusal()?;
    Ok(redirect_to(SITE_LINKS.connected_apps))
}
