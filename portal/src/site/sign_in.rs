//! Signing in and out.

use base::{Error, Secret, UserId};
use http::header::{HeaderValue, RETRY_AFTER};
use identity::registration::RegistrationPolicy;
use identity::sessions as rules;
use identity::sign_in::{SignInAttempt, SignInOutcome};
use pages::{CancelForm, FormField, Notice, OfferedUser, OneClickSignIn, SignInPage, SignOutPage};
use store::users::UserState;
use web::page_context::{DEFAULT_PATH, SITE_LINKS};
use web::reply::HttpReply;
use web::request_context::RequestContext;
use web::security_headers;

use super::errors::{retry_seconds, throttled_message};
use super::forms::{self, PageQuery};
use super::return_target::ReturnTarget;
use super::sign_in_code::ask_for_code;
use super::{BrowserVisit, PageExit, account_data, passkeys, redirect_to, session};

/// The same for an unknown user and a wrong password.
const WRONG_CREDENTIALS: &str = "Wrong username or password.";

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).ok();
    let get = |name| query.as_ref().and_then(|query| query.get(name));
    let next = get("next").and_then(forms::local_path).unwrap_or(DEFAULT_PATH);
    if visit.person.is_some() && get("switch").is_none() {
        return Ok(redirect_to(next));
    }
    let target = ReturnTarget::from_path(&call, next).await?;
    Ok(render_form(&call, &visit, next, &target, FormField::default(), None).await?)
}

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let next = sent.return_path().unwrap_or_else(|| DEFAULT_PATH.to_owned());
    let login = sent.text("login");
    let attempt = SignInAttempt {
        login: login.clone(),
        password: Secret::new(sent.text("password")),
        client_info: visit.client_info.clone(),
        existing_session: visit.session_digest,
        device: session::known_device(&call).await?,
    };
    let outcome = call.state.page_context.sign_in_gate.sign_in(&attempt).await?;
    answer_sign_in(&call, &visit, &next, login, outcome, WRONG_CREDENTIALS).await
}

/// The answer to a password or a passkey. A refused one is answered with the form, with the login that was entered.
pub(super) async fn answer_sign_in(
    call: &RequestContext,
    visit: &BrowserVisit,
    next: &str,
    login: String,
    outcome: SignInOutcome,
    wrong: &str,
) -> Result<HttpReply, PageExit> {
    let (failure, status, wait) = match outcome {
        SignInOutcome::Accepted { text, session: started } => {
            return Ok(session::begin_session(call, next, &text, started.user_id).await?);
        }
        SignInOutcome::CodeNeeded { pending } => return Ok(ask_for_code(call, next, &pending)),
        SignInOutcome::Restorable(offer) => return account_data::offer_restoration(call, visit, next, &offer).await,
        SignInOutcome::Suspended { decision } => {
            let path = format!("{}?token={}", network::emails::APPEAL_PATH, decision.expose_secret());
            return Ok(redirect_to(&path));
        }
        SignInOutcome::Wrong => (wrong.to_owned(), 400, 0),
        SignInOutcome::Closed { detail } => (detail.to_owned(), 403, 0),
        SignInOutcome::Throttled { retry_ms } => {
            let seconds = retry_seconds(retry_ms);
            (throttled_message(seconds), 429, seconds)
        }
    };
    let target = ReturnTarget::from_path(call, next).await?;
    let reply = render_form(call, visit, next, &target, FormField::new(login), Some(failure)).await?;
    let reply = reply.status(status);
    Ok(if wait > 0 { reply.header(RETRY_AFTER, HeaderValue::from(wait)) } else { reply })
}

/// Users offered on the sign-in page of a development server.
const OFFERED_USERS: i64 = 6;

/// Starts a session without asking for a password, and redirects to the local path `next`.
pub async fn sign_in_as(
    call: &RequestContext,
    visit: &BrowserVisit,
    user: UserId,
    next: &str,
) -> Result<HttpReply, PageExit> {
    let (presented, client) = (visit.session_digest, visit.client_info.clone());
    let lifetime = call.state.page_context.sign_in_gate.ttl_ms;
    let started = call.write(move |tx| rules::start(tx, presented.as_ref(), user, &client, lifetime)).await?;
    Ok(session::set_session_cookie(call, redirect_to(next), &started.0))
}

async fn offer_users(call: &RequestContext) -> Result<Option<OneClickSignIn>, Error> {
    if call.state.emulator.is_none() {
        return Ok(None);
    }
    let users = call.read(|tx| Ok(network::users::list(tx, None, OFFERED_USERS)?)).await?;
    let users = users.into_iter().filter(|user| user.state == UserState::Active);
    Ok(Some(OneClickSignIn {
        action: format!("{}/sign-in", SITE_LINKS.console),
        users: users.map(|user| OfferedUser { id: user.id.to_string(), name: user.name }).collect(),
    }))
}

pub(crate) async fn render_form(
    call: &RequestContext,
    visit: &BrowserVisit,
    next: &str,
    target: &ReturnTarget,
    login: FormField,
    failure: Option<String>,
) -> Result<HttpReply, Error> {
    let one_click = offer_users(call).await?;
    let mut frame = visit.page_frame(call);
    frame.failure = failure;
    let query = PageQuery::from_call(call).ok();
    let done = match query.as_ref().and_then(|query| query.get("done")) {
        Some("deleted") => Some("Your account was deleted. To restore it within 30 days, sign in."),
        Some("reset") => Some("Your password was changed. Sign in."),
        _ => None,
    };
    frame.notices.extend(done.map(Notice::success));
    let policy = super::registration::effective_policy(call).await?;
    let is_open = matches!(policy, RegistrationPolicy::Open | RegistrationPolicy::Approval);
    let page = SignInPage {
        frame,
        action: SITE_LINKS.sign_in.to_owned(),
        next: next.to_owned(),
        app: target.app.clone(),
        login,
        password: FormField::default(),
        one_click,
        sign_up: is_open.then(|| format!("{}?next={}", SITE_LINKS.sign_up, base::percent::encode(next))),
        cancel: target.deny_form.clone().map(|(action, hidden)| CancelForm { action: action.to_owned(), hidden }),
        passkey: passkeys::sign_in_form(call),
    };
    let reply = visit.render_page(call, &page)?;
    let reply = if page.passkey.is_some() { security_headers::allow_scripts(reply) } else { reply };
    Ok(target.allow_redirects(reply))
}

pub(crate) async fn show_sign_out(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    if visit.person.is_none() {
        return Ok(redirect_to(SITE_LINKS.sign_in));
    }
    let page = SignOutPage {
        frame: visit.page_frame(&call),
        action: SITE_LINKS.sign_out.to_owned(),
        back: DEFAULT_PATH.to_owned(),
    };
    Ok(visit.render_page(&call, &page)?)
}

pub(crate) async fn sign_out(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, _) = BrowserVisit::accept_form(&call).await?;
    if let Some(person) = &visit.person {
        let (ended, facts) = (person.session.clone(), visit.client_info.clone());
        call.write(move |tx| rules::sign_out(tx, &ended, &facts)).await?;
    }
    Ok(session::clear_session_cookie(&call, redirect_to(SITE_LINKS.sign_in)))
}

pub(crate) fn switch_account_path(next: &str) -> String {
    let next = base::percent::encode(next);
    format!("{}?switch=1&next={next}", SITE_LINKS.sign_in)
}

pub(crate) async fn prompt(
    call: &RequestContext,
    visit: &BrowserVisit,
    next: &str,
    login: &str,
) -> Result<HttpReply, PageExit> {
    let next = forms::local_path(next).unwrap_or(DEFAULT_PATH);
    let target = ReturnTarget::from_path(call, next).await?;
    Ok(render_form(call, visit, next, &target, FormField::new(login), None).await?)
}
