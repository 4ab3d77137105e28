//! OAuth 2.0 authorization (contract core §2.5).

use identity::developer_apps;
use identity::oauth2_flow::{self, AuthorizeRefusal, AuthorizeRefusalReason, AuthorizeRequest, ValidatedAuthorization};
use pages::{CallbackDiff, OAuth2ConsentPage, PageErrorKind};
use store::apps::{App, AppStatus};
use web::request_context::{HttpReply, RequestContext};
use web::security_headers;

use super::app_summary::{callback_destination, load_app_summary};
use super::forms::PageQuery;
use super::{BrowserVisit, PageExit, errors, redirect_to, redirect_to_app, sign_in};

pub(crate) const AUTHORIZE_PATH: &str = "/i/oauth2/authorize";

/// Sent back by the form and validated again.
const REQUEST_PARAMETERS: [&str; 7] =
    ["response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method"];

pub(crate) fn request_from_query(query: &PageQuery) -> AuthorizeRequest {
    build_request(|name| query.get(name).map(str::to_owned))
}

pub(crate) fn hidden_fields(query: &PageQuery) -> Vec<(String, String)> {
    let pairs = REQUEST_PARAMETERS.into_iter();
    let pairs = pairs.filter_map(|name| Some((name.to_owned(), query.get(name)?.to_owned())));
    pairs.collect()
}

fn build_request(get: impl Fn(&'static str) -> Option<String>) -> AuthorizeRequest {
    AuthorizeRequest {
        response_type: get("response_type"),
        client_id: get("client_id"),
        redirect_uri: get("redirect_uri"),
        scope: get("scope"),
        state: get("state"),
        code_challenge: get("code_challenge"),
        code_challenge_method: get("code_challenge_method"),
    }
}

pub(crate) async fn show_consent(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = errors::require_exact_query(&call, &visit)?;
    let found = validate_request(&call, &visit, request_from_query(&query)).await?;
    let hidden = hidden_fields(&query);
    let next = authorize_url(&hidden);
    if visit.person.is_none() {
        return sign_in::prompt(&call, &visit, &next, "").await;
    }
    let page = OAuth2ConsentPage {
        frame: visit.page_frame(&call),
        action: AUTHORIZE_PATH.to_owned(),
        hidden,
        app: load_app_summary(&call, &found.app).await?,
        scopes: found.scopes,
        uses_plain_pkce: found.uses_plain_pkce && call.state.page_context.config.warns_about_plain_pkce,
        destination: callback_destination(&found.redirect_uri),
        switch: sign_in::switch_account_path(&next),
    };
    let reply = visit.render_page(&call, &page)?;
    Ok(security_headers::allow_form_redirects(reply))
}

/// `POST /i/oauth2/authorize`: the answer.
pub(crate) async fn submit_decision(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let decision = sent.text("decision");
    // The request can be denied without signing in.
    if visit.person.is_none() && decision != "deny" {
        let pairs = REQUEST_PARAMETERS.into_iter();
        let pairs = pairs.filter_map(|name| Some((name.to_owned(), sent.optional_text(name)?)));
        return Ok(redirect_to(&authorize_url(&pairs.collect::<Vec<_>>())));
    }
    let found = validate_request(&call, &visit, build_request(|name| sent.optional_text(name))).await?;
    let by = visit.audit_actor();
    match (decision.as_str(), &visit.person) {
        ("allow", Some(_)) => {
            let approve = move |tx: &mut store::Tx<'_>| oauth2_flow::approve(tx, &found, &by);
            Ok(redirect_to_app(&call.write(approve).await?))
        }
        ("deny", _) => {
            let deny = move |tx: &mut store::Tx<'_>| oauth2_flow::deny(tx, &found, &by);
            Ok(redirect_to_app(&call.write(deny).await?))
        }
        _ => {
            let text = "The form did not contain a decision.".to_owned();
            Err(errors::exit_page(&call, &visit, PageErrorKind::InvalidRequest(text)))
        }
    }
}

/// Fails with an error page, or with a redirect that reports the error to the app.
async fn validate_request(
    call: &RequestContext,
    visit: &BrowserVisit,
    asked: AuthorizeRequest,
) -> Result<ValidatedAuthorization, PageExit> {
    let (rules, request) = (call.oauth_settings(), asked.clone());
    let found = call.read(move |tx| oauth2_flow::validate_authorize_request(tx, &rules, &request)).await?;
    let reason = match found {
        Ok(found) => return Ok(found),
        Err(AuthorizeRefusal::Redirect { to, .. }) => return Err(redirect_to_app(&to).into()),
        Err(AuthorizeRefusal::Page(reason)) => reason,
    };
    let wrong = match reason {
        AuthorizeRefusalReason::NoClient | AuthorizeRefusalReason::UnknownClient => PageErrorKind::ClientUnknown,
        AuthorizeRefusalReason::SuspendedClient => PageErrorKind::AppSuspended,
        AuthorizeRefusalReason::NoRedirect => PageErrorKind::RedirectMissing,
        AuthorizeRefusalReason::UnknownRedirect => PageErrorKind::RedirectUnregistered,
    };
    let client = asked.client_id.unwrap_or_default();
    let app = call.read(move |tx| Ok(store::apps::find_by_client_id(tx, &client)?)).await?;
    let url = asked.redirect_uri.unwrap_or_default();
    let compared = match &app {
        Some(app) if reason == AuthorizeRefusalReason::UnknownRedirect => compare_callbacks(call, app, &url),
        _ => Vec::new(),
    };
    let known = app.filter(|app| app.state != AppStatus::Deleted);
    let name = known.map(|app| app.name);
    Err(errors::render_callback_mismatch(call, visit, wrong, name, compared)?.into())
}

/// Empty outside development.
fn compare_callbacks(call: &RequestContext, app: &App, url: &str) -> Vec<CallbackDiff> {
    if !call.state.page_context.config.dev {
        return Vec::new();
    }
    let tested = developer_apps::test_callback(app, url, call.state.oauth_settings.ports);
    let compared = tested.comparisons.into_iter().map(|one| CallbackDiff {
        registered: one.registered,
        submitted: url.to_owned(),
        oauth1: one.oauth1,
        oauth2: one.oauth2,
    });
    compared.collect()
}

fn authorize_url(pairs: &[(String, String)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", base::percent::encode(value)));
    format!("{AUTHORIZE_PATH}?{}", pairs.collect::<Vec<_>>().join("&"))
}
