//! Password reset and email confirmation.

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame};
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

impl HtmlPage for ForgotPasswordPage {
    const NAME: &'static str = "forgotten";

    fn title(&self) -> String {
        if self.sent {
            "Check your inbox".to_owned()
        } else {
            "Reset your password".to_owned()
        }
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[("email", &self.email)])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::account_recovery::forgot_password_states()
    }
}

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

impl HtmlPage for ResetPasswordPage {
    const NAME: &'static str = "reset";

    fn title(&self) -> String {
        match self.state {
            PasswordResetState::ValidLink { .. } => "Choose a new password".to_owned(),
            PasswordResetState::InvalidLink => "This link no longer works".to_owned(),
        }
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[("password", &self.password)])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::account_recovery::reset_password_states()
    }
}

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

impl HtmlPage for EmailConfirmationPage {
    const NAME: &'static str = "confirmed";

    fn title(&self) -> String {
        match self.state {
            EmailConfirmationState::LinkOpened { .. } => "Confirm your email address".to_owned(),
            EmailConfirmationState::Sent { .. } => "Check your inbox".to_owned(),
            EmailConfirmationState::Confirmed { .. } => "Email address confirmed".to_owned(),
            EmailConfirmationState::InvalidLink => "This link no longer works".to_owned(),
        }
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::account_recovery::email_confirmation_states()
    }
}
