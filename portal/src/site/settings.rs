//! Password, email address and private profile.

use base::{Error, Refusal, Secret, SplitRefusal};
use identity::email_links;
use identity::sign_in::PasswordProof;
use network::private_profiles;
use pages::{
    AccountSettingsPage, EmailConfirmationState, EmailForm, FormField, Notice, PasswordForm, PrivateProfileForm,
    UsernameForm,
};
use web::error_formats::error_message;
use web::page_context;
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::account_recovery::email_confirmation_page;
use super::forms::PageQuery;
use super::password_check::{password_error, verify_password};
use super::registration::username_error;
use super::{MemberVisit, PageExit, redirect_to, session};

pub(crate) const PASSWORD_PATH: &str = "/settings/account/password";
pub(crate) const USERNAME_PATH: &str = "/settings/account/username";
pub(crate) const EMAIL_PATH: &str = "/settings/account/email";
pub(crate) const RESEND_PATH: &str = "/settings/account/email/resend";
pub(crate) const CANCEL_PATH: &str = "/settings/account/email/cancel";

pub(crate) const PRIVATE_PROFILE_PATH: &str = "/settings/account/about";

#[derive(Default)]
struct SettingsErrors {
    current: FormField,
    password: FormField,
    username: FormField,
    username_password: FormField,
    email: FormField,
    email_password: FormField,
    born_on: Option<FormField>,
    failure: Option<String>,
}

pub(crate) async fn redirect_to_account(call: RequestContext) -> Result<HttpReply, PageExit> {
    MemberVisit::from_call(&call).await?;
    Ok(redirect_to(page_context::SITE_LINKS.account))
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).ok();
    let done = query.as_ref().and_then(|query| query.get("done"));
    let notice = match done {
        Some("password") => Some("Your password was changed. All other sessions were signed out."),
        Some("tokens") => {
            Some("Your password was changed. All other sessions were signed out, and all apps were disconnected.")
        }
        Some("username") => Some("Your username was changed."),
        Some("about") => Some("Your changes were saved."),
        Some("cancelled") => Some("The email change was cancelled."),
        _ => None,
    };
    let has_dropped = query.as_ref().is_some_and(|query| query.get("dropped") == Some("email"));
    let dropped = " Your new email address was still to be confirmed, so the change was cancelled. Enter it again.";
    let notice = notice.map(|notice| format!("{notice}{}", if has_dropped { dropped } else { "" }));
    settings_page(&call, &visit, notice.as_deref(), SettingsErrors::default()).await
}

async fn settings_page(
    call: &RequestContext,
    visit: &MemberVisit,
    notice: Option<&str>,
    refused: SettingsErrors,
) -> Result<HttpReply, PageExit> {
    let mut frame = visit.page_frame(call);
    frame.notices = notice.map(Notice::success).into_iter().collect();
    frame.failure = refused.failure;
    let user = visit.person.user.id;
    let pending = new_email(call, visit).await?;
    let known = call.read(move |tx| Ok(private_profiles::find_by_user(tx, user)?)).await?;
    let own = visit.person.user.email.clone();
    let address = Some(own.clone()).filter(|email| !email.is_empty());
    let page = AccountSettingsPage {
        frame,
        username: UsernameForm {
            action: USERNAME_PATH.to_owned(),
            username: refused.username,
            password: refused.username_password,
        },
        email: EmailForm {
            action: EMAIL_PATH.to_owned(),
            address,
            confirmed: visit.person.user.email_confirmed,
            pending,
            resend: RESEND_PATH.to_owned(),
            cancel: CANCEL_PATH.to_owned(),
            email: refused.email,
            password: refused.email_password,
        },
        password: PasswordForm {
            action: PASSWORD_PATH.to_owned(),
            current: refused.current,
            password: refused.password,
        },
        about: PrivateProfileForm {
            action: PRIVATE_PROFILE_PATH.to_owned(),
            born_on: refused.born_on.unwrap_or_else(|| FormField::new(known.born_on)),
            gender: match known.gender {
                1 => "male",
                2 => "female",
                _ => UNSPECIFIED,
            },
        },
    };
    Ok(visit.render_page(call, &page)?)
}

/// The address that replaces the account's once it is confirmed.
async fn new_email(call: &RequestContext, visit: &MemberVisit) -> Result<Option<String>, Error> {
    let (user, own) = (visit.person.user.id, visit.person.user.email.clone());
    let pending = call.read(move |tx| Ok(email_links::pending_email(tx, user)?)).await?;
    Ok(pending.filter(|email| !email.eq_ignore_ascii_case(&own)))
}

pub(crate) async fn change_password(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let old = Secret::new(sent.text("current"));
    let new = Secret::new(sent.text("password"));
    let page_context = &call.state.page_context;
    // Refusals of the current and of the new password both name `password`, so the new one is checked first.
    if let Err(refusal) =
        identity::registration::validate_password(&new, &visit.person.user.username, &visit.person.user.email)
    {
        let password = FormField::invalid("", error_message(&refusal));
        let refused = SettingsErrors { password, ..SettingsErrors::default() };
        return Ok(settings_page(&call, &visit, None, refused).await?.status(400));
    }
    let end_tokens = sent.optional_text("end_tokens").is_some();
    let (gate, site, current) = (&page_context.sign_in_gate, &page_context.site, &visit.person.session);
    let old =
        PasswordProof { password: &old, client_info: &visit.client_info, device: session::known_device(&call).await? };
    let dropped = if new_email(&call, &visit).await?.is_some() { "&dropped=email" } else { "" };
    let changed = email_links::change_password(gate, site, current, &old, &new, end_tokens);
    match changed.await.split_refusal()? {
        Ok(text) => {
            let done = if end_tokens { "tokens" } else { "password" };
            let reply = redirect_to(&format!("{}?done={done}{dropped}", page_context::SITE_LINKS.account));
            Ok(session::set_session_cookie(&call, reply, &text))
        }
        Err(refusal) => {
            let (current, failure, status) = password_error(&refusal);
            let refused = SettingsErrors { current, failure, ..SettingsErrors::default() };
            Ok(settings_page(&call, &visit, None, refused).await?.status(status))
        }
    }
}

pub(crate) async fn change_username(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let typed = sent.text("username").trim().to_owned();
    if let Err(refusal) = verify_password(&call, &visit, sent.text("username_password")).await.split_refusal()? {
        let (username_password, failure, status) = password_error(&refusal);
        let username = FormField::new(typed);
        let refused = SettingsErrors { username, username_password, failure, ..SettingsErrors::default() };
        return Ok(settings_page(&call, &visit, None, refused).await?.status(status));
    }
    let (by, username) = (visit.audit_actor(), typed.clone());
    let changed = call.write(move |tx| network::profiles::change_username(tx, &by, &username));
    match changed.await.split_refusal()? {
        Ok(_) => Ok(redirect_to(&format!("{}?done=username", page_context::SITE_LINKS.account))),
        Err(refusal) => {
            let (error, failure, status) = match &refusal {
                refusal if refusal.first_parameter() == "username" => (Some(username_error(&typed)), None, 400),
                Refusal::RateLimited => (None, Some(error_message(&refusal).to_owned()), 429),
                _ => (Some("You cannot change your username now".to_owned()), None, 403),
            };
            let username = FormField { value: typed, error };
            let refused = SettingsErrors { username, failure, ..SettingsErrors::default() };
            Ok(settings_page(&call, &visit, None, refused).await?.status(status))
        }
    }
}

pub(crate) async fn change_email(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let email = sent.text("email").trim().to_owned();
    let password = sent.text("email_password");
    if let Err(refusal) = network::email_addresses::validate_email(&email) {
        let refused =
            SettingsErrors { email: FormField::invalid(email, error_message(&refusal)), ..SettingsErrors::default() };
        return Ok(settings_page(&call, &visit, None, refused).await?.status(400));
    }
    let changed = match verify_password(&call, &visit, password).await {
        Ok(()) => request_email_change(&call, &visit, &email).await,
        Err(stop) => Err(stop),
    };
    match changed.split_refusal()? {
        Ok(()) => email_confirmation_page(&call, &visit, EmailConfirmationState::Sent { email }),
        Err(refusal) => {
            let (proof, failure, status) = password_error(&refusal);
            let refused = SettingsErrors {
                email: FormField::new(email),
                email_password: proof,
                failure,
                ..SettingsErrors::default()
            };
            Ok(settings_page(&call, &visit, None, refused).await?.status(status))
        }
    }
}

pub(crate) async fn resend_confirmation(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, _) = MemberVisit::accept_form(&call).await?;
    let (site, by) = (call.state.page_context.site.clone(), visit.audit_actor());
    let sent = call.write(move |tx| email_links::resend_confirmation(tx, &site, &by));
    match sent.await.split_refusal()? {
        Ok(None) => {
            let failure = "There is no email address to confirm. To change yours, enter the new one again.";
            refuse_resending(&call, &visit, failure, 400).await
        }
        Ok(Some(email)) => email_confirmation_page(&call, &visit, EmailConfirmationState::Sent { email }),
        Err(refusal) => refuse_resending(&call, &visit, error_message(&refusal), 429).await,
    }
}

async fn refuse_resending(
    call: &RequestContext,
    visit: &MemberVisit,
    failure: &str,
    status: u16,
) -> Result<HttpReply, PageExit> {
    let refused = SettingsErrors { failure: Some(failure.to_owned()), ..SettingsErrors::default() };
    Ok(settings_page(call, visit, None, refused).await?.status(status))
}

const UNSPECIFIED: &str = "unsaid";

pub(crate) async fn update_private_profile(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let born_on = sent.text("born_on").trim().to_owned();
    let gender = sent.optional_text("gender").filter(|gender| *gender != UNSPECIFIED);
    let edit = private_profiles::PrivateProfileChanges {
        born_on: Some(born_on.clone()),
        gender: Some(gender.unwrap_or_default()),
        phone: None,
    };
    let (by, user) = (visit.audit_actor(), visit.person.user.id);
    let updated = call.write(move |tx| private_profiles::update(tx, &by, user, &edit));
    if updated.await.split_refusal()?.is_ok() {
        return Ok(redirect_to(&format!("{}?done=about", page_context::SITE_LINKS.account)));
    }
    let message = "Enter a date in the past, and choose a gender";
    let refused = SettingsErrors { born_on: Some(FormField::invalid(born_on, message)), ..SettingsErrors::default() };
    let reply = settings_page(&call, &visit, None, refused).await?;
    Ok(reply.status(400))
}

pub(crate) async fn cancel_email_change(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, _) = MemberVisit::accept_form(&call).await?;
    let by = visit.audit_actor();
    call.write(move |tx| email_links::cancel_email_change(tx, &by)).await?;
    Ok(redirect_to(&format!("{}?done=cancelled", page_context::SITE_LINKS.account)))
}

async fn request_email_change(call: &RequestContext, visit: &MemberVisit, email: &str) -> Result<(), Error> {
    let (site, by, email) = (call.state.page_context.site.clone(), visit.audit_actor(), email.to_owned());
    call.write(move |tx| email_links::request_email_change(tx, &site, &by, &email)).await
}
