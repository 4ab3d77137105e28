//! Passkeys: signing in with one, adding and removing them.

use base::SplitRefusal;
use http::header::{HeaderValue, RETRY_AFTER};
use identity::passkeys::{
    self, NewPasskey, Passkey, PasskeyAssertion, PasskeyAttempt, PasskeyChallengeOutcome, PasskeyRegistration,
    PasskeyRegistrationOutcome, RelyingParty,
};
use pages::{PasskeyItem, PasskeySetupPage, PasskeySignInForm, device_name};
use serde_json::json;
use web::page_context::{DEFAULT_PATH, SITE_LINKS};
use web::reply::HttpReply;
use web::request_context::RequestContext;
use web::security_headers::allow_scripts;

use super::errors::{retry_seconds, throttled_message};
use super::password_check::{password_error, verify_password};
use super::security::{ProvedForm, SecurityFormErrors, security_page};
use super::sign_in::answer_sign_in;
use super::{BrowserVisit, MemberVisit, PageExit, redirect_to};

pub(crate) const SIGN_IN_PATH: &str = "/login/passkey";
pub(crate) const CHALLENGE_PATH: &str = "/login/passkey/challenge";
pub(crate) const ADD_PATH: &str = "/settings/security/passkeys";
pub(crate) const CONFIRM_PATH: &str = "/settings/security/passkeys/confirm";
pub(crate) const REMOVE_PATH: &str = "/settings/security/passkeys/remove";

/// Shown on the sign-in page, whatever is wrong with the passkey.
const WRONG_PASSKEY: &str = "This passkey could not be used. Try again, or enter your password.";
const REFUSED_PASSKEY: &str = "The passkey could not be added. Start again.";

/// None where browsers have no passkeys. A development server has one name for each of its addresses.
pub(super) fn relying_party(call: &RequestContext) -> Option<RelyingParty> {
    let config = &call.state.page_context.config;
    if !config.dev {
        return RelyingParty::from_url(&config.base_url);
    }
    let used = call.head().public_origin();
    RelyingParty::from_url(&format!("{}://{}", used.scheme, used.host?))
}

pub(super) fn sign_in_form(call: &RequestContext) -> Option<PasskeySignInForm> {
    relying_party(call)
        .map(|_| PasskeySignInForm { action: SIGN_IN_PATH.to_owned(), challenge_path: CHALLENGE_PATH.to_owned() })
}

pub(super) fn passkey_item(passkey: Passkey) -> PasskeyItem {
    PasskeyItem {
        id: passkeys::format_id(&passkey),
        name: passkey.name,
        created_at: passkey.created_at,
        last_used_at: passkey.last_used_at,
    }
}

/// `POST /login/passkey/challenge`: for the script of the sign-in page.
pub(crate) async fn create_challenge(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, _) = BrowserVisit::accept_form(&call).await?;
    let Some(site) = relying_party(&call) else {
        return Ok(redirect_to(SITE_LINKS.sign_in));
    };
    let client = visit.client_info.clone();
    match call.write(move |tx| passkeys::begin_sign_in(tx, &client)).await? {
        PasskeyChallengeOutcome::Created(challenge) => {
            Ok(HttpReply::json(200, &json!({"challenge": challenge, "site": site.id})))
        }
        PasskeyChallengeOutcome::Throttled { retry_ms } => {
            let seconds = retry_seconds(retry_ms);
            let reply = HttpReply::json(429, &json!({"error": throttled_message(seconds)}));
            Ok(reply.header(RETRY_AFTER, HeaderValue::from(seconds)))
        }
    }
}

pub(crate) async fn sign_in(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let next = sent.return_path().unwrap_or_else(|| DEFAULT_PATH.to_owned());
    let Some(site) = relying_party(&call) else {
        return Ok(redirect_to(SITE_LINKS.sign_in));
    };
    let attempt = PasskeyAttempt {
        assertion: PasskeyAssertion {
            id: sent.text("credential"),
            client_data: sent.text("client_data"),
            authenticator_data: sent.text("authenticator_data"),
            signature: sent.text("signature"),
            user_handle: sent.text("user_handle"),
        },
        client_info: visit.client_info.clone(),
        existing_session: visit.session_digest,
    };
    let outcome = call.state.page_context.sign_in_gate.sign_in_with_passkey(&site, &attempt).await?;
    answer_sign_in(&call, &visit, &next, String::new(), outcome, WRONG_PASSKEY).await
}

/// `POST /settings/security/passkeys`: shows the page on which the browser makes the passkey.
pub(crate) async fn begin_addition(call: RequestContext) -> Result<HttpReply, PageExit> {
    super::security::submit_proved_form(call, ProvedForm::AddPasskey).await
}

pub(super) fn setup_page(
    call: &RequestContext,
    visit: &MemberVisit,
    registration: PasskeyRegistration,
) -> Result<HttpReply, PageExit> {
    let Some(site) = relying_party(call) else {
        return Ok(redirect_to(SITE_LINKS.security));
    };
    let page = PasskeySetupPage {
        frame: visit.page_frame(call),
        action: CONFIRM_PATH.to_owned(),
        name: device_name(&visit.client_info.user_agent),
        challenge: registration.challenge,
        user_handle: registration.user_handle,
        site: site.id,
        username: visit.person.user.username.clone(),
        display_name: visit.person.user.name.clone(),
        existing: registration.existing_ids,
    };
    Ok(allow_scripts(visit.render_page(call, &page)?))
}

/// `POST /settings/security/passkeys/confirm`: adds the passkey that the browser has made.
pub(crate) async fn confirm_addition(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let Some(site) = relying_party(&call) else {
        return Ok(redirect_to(SITE_LINKS.security));
    };
    let new = NewPasskey {
        client_data: sent.text("client_data"),
        authenticator_data: sent.text("authenticator_data"),
        name: sent.text("name"),
    };
    let (email_site, by) = (call.state.page_context.site.clone(), visit.audit_actor());
    match call.write(move |tx| passkeys::add(tx, &email_site, &site, &by, &new)).await? {
        PasskeyRegistrationOutcome::Added => Ok(redirect_done("passkey-added")),
        PasskeyRegistrationOutcome::Refused => {
            let failure = Some(REFUSED_PASSKEY.to_owned());
            let refused = SecurityFormErrors { failure, status: 400, ..SecurityFormErrors::default() };
            security_page(&call, &visit, None, refused).await
        }
    }
}

fn redirect_done(done: &str) -> HttpReply {
    redirect_to(&format!("{}?done={done}", SITE_LINKS.security))
}

pub(crate) async fn remove(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    if let Err(refusal) = verify_password(&call, &visit, sent.text("removal_password")).await.split_refusal()? {
        let (removal_password, failure, status) = password_error(&refusal);
        let refused = SecurityFormErrors { removal_password, failure, status, ..SecurityFormErrors::default() };
        return security_page(&call, &visit, None, refused).await;
    }
    let (email_site, by) = (call.state.page_context.site.clone(), visit.audit_actor());
    let id = sent.text("passkey");
    if call.write(move |tx| passkeys::remove(tx, &email_site, &by, &id)).await? {
        return Ok(redirect_done("passkey-removed"));
    }
    Ok(redirect_to(SITE_LINKS.security))
}
