//! Creating an account.

use base::refusal::InvalidParameter;
use base::{Error, Refusal, Secret, SplitRefusal, UserId};
use identity::email_links;
use identity::registration::{self, RegistrationApplicant, RegistrationOutcome, RegistrationPolicy};
use network::site_settings;
use pages::{FormField, RegistrationAccess, SignUpPage, TextPage};
use web::error_formats::error_message;
use web::page_context::{DEFAULT_PATH, SITE_LINKS};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::forms::{self, PageQuery, SubmittedForm};
use super::return_target::ReturnTarget;
use super::sign_in::sign_in_as;
use super::{BrowserVisit, PageExit, session};

/// `GET /join`, also where invitations lead.
pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).ok();
    let get = |name| query.as_ref().and_then(|query| query.get(name));
    let next = get("next").and_then(forms::local_path).unwrap_or(DEFAULT_PATH);
    let invite = get("token").unwrap_or_default();
    let typed = SignUpFields::default();
    registration_page(&call, &visit, next, invite, typed).await
}

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let next = sent.return_path().unwrap_or_else(|| DEFAULT_PATH.to_owned());
    let query = PageQuery::from_call(&call).ok();
    let invite = query.as_ref().and_then(|query| query.get("token"));
    let invite = invite.unwrap_or_default();
    let invite_secret = Some(invite).filter(|text| !text.is_empty()).map(Secret::new);
    let applicant = RegistrationApplicant { invite: invite_secret, ..sent_applicant(&visit, &sent) };
    let page_context = &call.state.page_context;
    let (site, who) = (&page_context.site, page_context.config.registration);
    let registered = registration::register(&page_context.sign_in_gate, site, who, &applicant).await;
    let joined = match registered.split_refusal()? {
        Ok(joined) => joined,
        Err(refusal) => {
            let typed = SignUpFields::from_refusal(&sent, &refusal);
            let status = if refusal == Refusal::RateLimited { 429 } else { 400 };
            let reply = registration_page(&call, &visit, &next, invite, typed).await?;
            return Ok(reply.status(status));
        }
    };
    let RegistrationOutcome::Joined(user) = joined else {
        return waiting_page(&call, &visit);
    };
    start_first_session(&call, &visit, user, &next).await
}

/// Who sent the form, without an invitation.
pub fn sent_applicant(visit: &BrowserVisit, sent: &SubmittedForm<'_>) -> RegistrationApplicant {
    RegistrationApplicant {
        username: sent.text("username"),
        name: sent.text("name"),
        email: sent.text("email"),
        password: Secret::new(sent.text("password")),
        invite: None,
        client_info: visit.client_info.clone(),
    }
}

/// Signs in who has just registered with a password, and redirects to the local path `next`.
pub async fn start_first_session(
    call: &RequestContext,
    visit: &BrowserVisit,
    user: UserId,
    next: &str,
) -> Result<HttpReply, PageExit> {
    let reply = sign_in_as(call, visit, user, next).await?;
    Ok(session::set_device_cookie(call, reply, user).await?)
}

#[derive(Default)]
pub struct SignUpFields {
    pub username: FormField,
    pub name: FormField,
    pub email: FormField,
    pub password: FormField,
    pub failure: Option<String>,
}

impl SignUpFields {
    pub fn from_refusal(sent: &SubmittedForm<'_>, refusal: &Refusal) -> Self {
        let mut typed = Self {
            username: FormField::new(sent.text("username")),
            name: FormField::new(sent.text("name")),
            email: FormField::new(sent.text("email")),
            ..Self::default()
        };
        match refusal {
            Refusal::InvalidParameters(wrong) => wrong.iter().for_each(|wrong| typed.set_field_error(wrong)),
            _ => typed.failure = Some(error_message(refusal).to_owned()),
        }
        typed
    }

    fn set_field_error(&mut self, wrong: &InvalidParameter) {
        let text =
            if wrong.parameter == "username" { username_error(&self.username.value) } else { wrong.message.clone() };
        match wrong.parameter.as_ref() {
            "username" => self.username.error = Some(text),
            "name" => self.name.error = Some(text),
            "email" => self.email.error = Some(text),
            "password" => self.password.error = Some(text),
            _ => self.failure = Some(text),
        }
    }
}

pub(crate) fn username_error(username: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if (1..=15).contains(&username.len()) && username.chars().all(fits) {
        "This username is taken".to_owned()
    } else {
        "Use 1 to 15 letters, digits or underscores".to_owned()
    }
}

/// What the site's owners have set, or the configuration.
pub(crate) async fn effective_policy(call: &RequestContext) -> Result<RegistrationPolicy, Error> {
    let configured = call.state.page_context.config.registration;
    call.read(move |tx| Ok(site_settings::registration_policy(tx, configured)?)).await
}

fn waiting_page(call: &RequestContext, visit: &BrowserVisit) -> Result<HttpReply, PageExit> {
    let page = TextPage {
        frame: visit.page_frame(call),
        title: "Your application is waiting for approval".to_owned(),
        html: "<p>A moderator will read it. Once it is accepted, you can sign in with your username and password, \
               and get an email with a link that confirms your address.</p>"
            .to_owned(),
    };
    Ok(visit.render_page(call, &page)?)
}

async fn registration_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    next: &str,
    invite: &str,
    typed: SignUpFields,
) -> Result<HttpReply, PageExit> {
    let token = invite.to_owned();
    let is_invited = call.read(move |tx| Ok(email_links::is_invitation_valid(tx, &token)?)).await?;
    let access = match effective_policy(call).await? {
        RegistrationPolicy::Closed => RegistrationAccess::Closed,
        RegistrationPolicy::Open => RegistrationAccess::Open,
        _ if is_invited => RegistrationAccess::Open,
        _ if !invite.is_empty() => RegistrationAccess::InvitationInvalid,
        RegistrationPolicy::Approval => RegistrationAccess::Approval,
        RegistrationPolicy::Invite => RegistrationAccess::InvitationMissing,
    };
    let action = if invite.is_empty() {
        SITE_LINKS.sign_up.to_owned()
    } else {
        format!("{}?token={}", SITE_LINKS.sign_up, base::percent::encode(invite))
    };
    let target = ReturnTarget::from_path(call, next).await?;
    let mut frame = visit.page_frame(call);
    frame.failure = typed.failure;
    let page = SignUpPage {
        frame,
        action,
        next: next.to_owned(),
        app: target.app.clone(),
        access,
        owner_setup: None,
        username: typed.username,
        name: typed.name,
        email: typed.email,
        password: typed.password,
    };
    let reply = visit.render_page(call, &page)?;
    Ok(target.allow_redirects(reply))
}
