//! Password reset and email confirmation.

use base::secret::digest;
use base::{Refusal, Secret, SplitRefusal};
use identity::email_links;
use pages::{
    EmailConfirmationPage, EmailConfirmationState, ForgotPasswordPage, FormField, PasswordResetState, ResetPasswordPage,
};
use web::error_formats::error_message;
use web::page_context::{DEFAULT_PATH, SITE_LINKS};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::forms::PageQuery;
use super::settings::RESEND_PATH;
use super::{BrowserVisit, PageExit, account_data, redirect_to, session};

const RESET_PATH: &str = network::emails::RESET_PATH;
const CONFIRM_PATH: &str = network::emails::CONFIRM_PATH;

pub(crate) async fn show_forgot_password(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    forgot_password_page(&call, &visit, FormField::default(), false)
}

/// `POST /forgotten-password`. The answer is the same whether or not there is such an account.
pub(crate) async fn request_reset(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let email = sent.text("email");
    if email.contains('@') && network::email_addresses::validate_email(email.trim()).is_err() || email.is_empty() {
        let field = FormField::invalid(email, "Enter the email address of your account");
        return Ok(forgot_password_page(&call, &visit, field, false)?.status(400));
    }
    let (site, address) = (call.state.page_context.site.clone(), visit.client_info.address.clone());
    let login = email.clone();
    let asked = call.write(move |tx| email_links::request_password_reset(tx, &site, &login, &address));
    if asked.await? {
        return forgot_password_page(&call, &visit, FormField::new(email), true);
    }
    let field = FormField::invalid(email, error_message(&Refusal::RateLimited));
    Ok(forgot_password_page(&call, &visit, field, false)?.status(429))
}

fn forgot_password_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    email: FormField,
    sent: bool,
) -> Result<HttpReply, PageExit> {
    let page = ForgotPasswordPage {
        frame: visit.page_frame(call),
        action: SITE_LINKS.forgot_password.to_owned(),
        email,
        sent,
    };
    Ok(visit.render_page(call, &page)?)
}

/// `GET /account/reset`: whom the link is for. It stays usable.
pub(crate) async fn show_reset(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let token = token_from_query(&call);
    reset_page(&call, &visit, &token, FormField::default()).await
}

pub(crate) async fn submit_reset(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let (token, password) = (sent.text("token"), Secret::new(sent.text("password")));
    let (page_context, address) = (&call.state.page_context, &visit.client_info.address);
    let secret = Secret::new(token.clone());
    let end_tokens = sent.optional_text("end_tokens").is_some();
    let (gate, site) = (&page_context.sign_in_gate, &page_context.site);
    let done = email_links::reset_password(gate, site, &secret, &password, end_tokens, address);
    match done.await.split_refusal()? {
        Ok(Some(offer)) => {
            let reply = account_data::offer_restoration(&call, &visit, DEFAULT_PATH, &offer).await?;
            Ok(session::clear_session_cookie(&call, reply))
        }
        Ok(None) => {
            Ok(session::clear_session_cookie(&call, redirect_to(&format!("{}?done=reset", SITE_LINKS.sign_in))))
        }
        Err(refusal @ Refusal::InvalidParameters(_)) => {
            let field = FormField::invalid("", error_message(&refusal));
            let reply = reset_page(&call, &visit, &token, field).await?;
            Ok(reply.status(400))
        }
        Err(_) => reset_page(&call, &visit, &token, FormField::default()).await,
    }
}

async fn reset_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    token: &str,
    password: FormField,
) -> Result<HttpReply, PageExit> {
    let secret = token.to_owned();
    let state = match call.read(move |tx| email_links::find_reset_user(tx, &secret)).await.split_refusal()? {
        Ok(user) => PasswordResetState::ValidLink { username: user.username, token: token.to_owned() },
        Err(_) => PasswordResetState::InvalidLink,
    };
    let page = ResetPasswordPage { frame: visit.page_frame(call), action: RESET_PATH.to_owned(), state, password };
    Ok(visit.render_page(call, &page)?)
}

/// `GET /account/confirm`: a form confirms, so that whoever only opens links does not.
pub(crate) async fn show_email_confirmation(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let token = token_from_query(&call);
    let key = digest(&token);
    let link = call.read(move |tx| Ok(store::emails::find_link(tx, &key, "confirm")?)).await?;
    let state = link.map_or(EmailConfirmationState::InvalidLink, |link| EmailConfirmationState::LinkOpened {
        email: link.email,
        token,
    });
    email_confirmation_page(&call, &visit, state)
}

pub(crate) async fn submit_email_confirmation(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let (token, address) = (sent.text("token"), visit.client_info.address.clone());
    let site = call.state.page_context.site.clone();
    let done = call.write(move |tx| email_links::confirm_email(tx, &site, &token, &address));
    match done.await.split_refusal()? {
        Ok(user) => email_confirmation_page(&call, &visit, EmailConfirmationState::Confirmed { email: user.email }),
        Err(_) => email_confirmation_page(&call, &visit, EmailConfirmationState::InvalidLink),
    }
}

pub(crate) fn email_confirmation_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    state: EmailConfirmationState,
) -> Result<HttpReply, PageExit> {
    let page = EmailConfirmationPage {
        frame: visit.page_frame(call),
        action: CONFIRM_PATH.to_owned(),
        resend: visit.person.as_ref().map(|_| RESEND_PATH.to_owned()),
        state,
    };
    Ok(visit.render_page(call, &page)?)
}

fn token_from_query(call: &RequestContext) -> String {
    let query = PageQuery::from_call(call).ok();
    let token = query.as_ref().and_then(|query| query.get("token"));
    token.unwrap_or_default().to_owned()
}
