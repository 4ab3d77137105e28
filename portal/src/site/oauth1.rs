//! OAuth 1.0a authorization (contract core §2.3).

use identity::oauth1_flow::{self, OAuth1Approval, PendingAuthorization, RequestTokenProblem, ShownConsent};
use pages::{AuthorizationDeniedPage, OAuth1AuthorizePage, PageErrorKind, PermissionLevel, PinPage};
use web::reply::HttpReply;
use web::request_context::RequestContext;
use web::security_headers;

use super::app_summary::{callback_destination, load_app_summary, network_permission, permission_level};
use super::{BrowserVisit, PageExit, SignedInPerson, errors, redirect_to, redirect_to_app, sign_in};

pub(crate) const AUTHORIZE_PATH: &str = "/oauth/authorize";

/// `GET /oauth/authorize`: always asks.
pub(crate) async fn authorize(call: RequestContext) -> Result<HttpReply, PageExit> {
    show_authorization(call, false).await
}

/// `GET /oauth/authenticate`: does not ask again what was granted before.
pub(crate) async fn authenticate(call: RequestContext) -> Result<HttpReply, PageExit> {
    show_authorization(call, true).await
}

async fn show_authorization(call: RequestContext, silent: bool) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = errors::require_exact_query(&call, &visit)?;
    let Some(token) = query.get("oauth_token") else {
        return Err(errors::exit_page(&call, &visit, PageErrorKind::RequestTokenMissing));
    };
    let pending = find_pending_request(&call, &visit, token).await?;
    let forced = !matches!(query.get_raw("force_login"), None | Some("false" | "0"));
    // With `force_login`, consent is requested even if it was given before.
    let path = if forced { AUTHORIZE_PATH } else { call.head().uri.path() };
    let next = format!("{path}?oauth_token={}", base::percent::encode(token));
    let person = match &visit.person {
        Some(person) if !forced => person,
        _ => {
            let login = query.get("screen_name").unwrap_or_default();
            return sign_in::prompt(&call, &visit, &next, login).await;
        }
    };
    if silent {
        let (app, user) = (pending.app.clone(), person.user.id);
        let permission = pending.permission;
        let known = call.read(move |tx| Ok(oauth1_flow::is_already_approved(tx, &app, user, permission)?)).await?;
        if known {
            let consent = ShownConsent { permission, email: None };
            return approve(&call, &visit, person, &pending, token, consent).await;
        }
    }
    authorization_page(&call, &visit, &pending, token, &next).await
}

async fn authorization_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    pending: &PendingAuthorization,
    token: &str,
    next: &str,
) -> Result<HttpReply, PageExit> {
    let page = OAuth1AuthorizePage {
        frame: visit.page_frame(call),
        action: AUTHORIZE_PATH.to_owned(),
        token: token.to_owned(),
        app: load_app_summary(call, &pending.app).await?,
        level: permission_level(pending.permission),
        email: pending.app.request_email,
        destination: pending.callback.as_deref().map(callback_destination),
        switch: sign_in::switch_account_path(next),
    };
    let reply = visit.render_page(call, &page)?;
    Ok(security_headers::allow_form_redirects(reply))
}

/// `POST /oauth/authorize`: the answer.
pub(crate) async fn submit_decision(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let (token, decision) = (sent.text("oauth_token"), sent.text("decision"));
    // The request can be denied without signing in.
    if visit.person.is_none() && decision != "deny" {
        let token = base::percent::encode(&token);
        return Ok(redirect_to(&format!("{AUTHORIZE_PATH}?oauth_token={token}")));
    }
    if token.is_empty() {
        return Err(errors::exit_page(&call, &visit, PageErrorKind::RequestTokenMissing));
    }
    let pending = find_pending_request(&call, &visit, &token).await?;
    match (decision.as_str(), &visit.person, PermissionLevel::parse(&sent.text("permission"))) {
        ("allow", Some(person), Some(level)) => {
            let email = Some(sent.text("email") == "requested");
            let shown = ShownConsent { permission: network_permission(level), email };
            approve(&call, &visit, person, &pending, &token, shown).await
        }
        // A page of an earlier version.
        ("allow", Some(_), None) if sent.text("permission").is_empty() => {
            Ok(redirect_to(&format!("{AUTHORIZE_PATH}?oauth_token={}", base::percent::encode(&token))))
        }
        ("deny", ..) => deny(&call, &visit, &pending, &token).await,
        _ => {
            let text = "The form did not contain a decision and what it is about.".to_owned();
            Err(errors::exit_page(&call, &visit, PageErrorKind::InvalidRequest(text)))
        }
    }
}

async fn approve(
    call: &RequestContext,
    visit: &BrowserVisit,
    person: &SignedInPerson,
    pending: &PendingAuthorization,
    token: &str,
    shown: ShownConsent,
) -> Result<HttpReply, PageExit> {
    let (text, by, ports) = (token.to_owned(), person.audit_actor(visit), call.state.oauth_settings.ports);
    let approved = call.write(move |tx| oauth1_flow::approve(tx, &text, shown, &by, ports));
    match approved.await? {
        Ok(OAuth1Approval::Redirect(to)) => Ok(redirect_to_app(&to)),
        Ok(OAuth1Approval::Pin(pin)) => {
            let page = PinPage { frame: visit.page_frame(call), app: load_app_summary(call, &pending.app).await?, pin };
            Ok(visit.render_page(call, &page)?)
        }
        Err(gone) => Err(request_gone_page(call, visit, gone)),
    }
}

async fn deny(
    call: &RequestContext,
    visit: &BrowserVisit,
    pending: &PendingAuthorization,
    token: &str,
) -> Result<HttpReply, PageExit> {
    let (text, by, ports) = (token.to_owned(), visit.audit_actor(), call.state.oauth_settings.ports);
    let denied = call.write(move |tx| oauth1_flow::deny(tx, &text, &by, ports));
    match denied.await? {
        Ok(Some(to)) => Ok(redirect_to_app(&to)),
        Ok(None) => {
            let page = AuthorizationDeniedPage {
                frame: visit.page_frame(call),
                app: load_app_summary(call, &pending.app).await?,
            };
            Ok(visit.render_page(call, &page)?)
        }
        Err(gone) => Err(request_gone_page(call, visit, gone)),
    }
}

async fn find_pending_request(
    call: &RequestContext,
    visit: &BrowserVisit,
    token: &str,
) -> Result<PendingAuthorization, PageExit> {
    let (text, user) = (token.to_owned(), visit.person.as_ref().map(|person| person.user.id));
    let ports = call.state.oauth_settings.ports;
    let found = call.read(move |tx| oauth1_flow::find_pending_authorization(tx, &text, user, ports)).await?;
    match found {
        Ok(pending) => Ok(pending),
        Err(gone) => Err(request_gone_page(call, visit, gone)),
    }
}

fn request_gone_page(call: &RequestContext, visit: &BrowserVisit, gone: RequestTokenProblem) -> PageExit {
    let kind = match gone {
        RequestTokenProblem::Unknown | RequestTokenProblem::Used | RequestTokenProblem::Denied => {
            PageErrorKind::RequestTokenUnknown
        }
        RequestTokenProblem::Expired => PageErrorKind::RequestTokenExpired,
        RequestTokenProblem::App => PageErrorKind::AppSuspended,
        RequestTokenProblem::Callback => PageErrorKind::RedirectUnregistered,
    };
    errors::exit_page(call, visit, kind)
}
