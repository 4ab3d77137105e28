//! Password reset and email confirmation.

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};
use askama::Template;

/// Form fields: `email`.
#[derive(Template)]
#[template(path = "forgotten.html")]
pub struct ForgotPasswordPage {
    pub frame: PageFrame,
    pub action: String,
    pub email: FormField,
    /// The page is the same whether or not the account exists.
    pub sent: bool,
}

html_page!(
    ForgotPasswordPage,
    |page| if page.sent { "Check your inbox".to_owned() } else { "Reset your password".to_owned() },
    |page| vec![("email", &page.email)]
);

pub enum PasswordResetState {
    ValidLink {
        /// Without the at sign.
        username: String,
        token: String,
    },
    /// Unknown, used or expired.
    InvalidLink,
}

/// Form fields: `token`, `password`, `end_tokens`.
#[derive(Template)]
#[template(path = "reset.html")]
pub struct ResetPasswordPage {
    pub frame: PageFrame,
    pub action: String,
    pub state: PasswordResetState,
    pub password: FormField,
}

html_page!(
    ResetPasswordPage,
    |page| match page.state {
        PasswordResetState::ValidLink { .. } => "Choose a new password".to_owned(),
        PasswordResetState::InvalidLink => "This link no longer works".to_owned(),
    },
    |page| vec![("password", &page.password)]
);

pub enum EmailConfirmationState {
    /// A form confirms, so that mail scanners that open links do not.
    LinkOpened {
        email: String,
        token: String,
    },
    Sent {
        email: String,
    },
    Confirmed {
        email: String,
    },
    /// Unknown, used or expired.
    InvalidLink,
}

/// Form fields: `token`; the form of `resend` sends only `csrf`.
#[derive(Template)]
#[template(path = "confirmed.html")]
pub struct EmailConfirmationPage {
    pub frame: PageFrame,
    pub action: String,
    /// `None` if nobody is signed in.
    pub resend: Option<String>,
    pub state: EmailConfirmationState,
}

html_page!(EmailConfirmationPage, |page| {
    match page.state {
        EmailConfirmationState::LinkOpened { .. } => "Confirm your email address".to_owned(),
        EmailConfirmationState::Sent { .. } => "Check your inbox".to_owned(),
        EmailConfirmationState::Confirmed { .. } => "Email address confirmed".to_owned(),
        EmailConfirmationState::InvalidLink => "This link no longer works".to_owned(),
    }
});
