//! Ways back into an account, and proof that an email address is one's own.

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame};
use askama::Template;

/// Ask for a link to choose a new password. Form: `email`.
#[derive(Template)]
#[template(path = "forgotten.html")]
pub struct ForgotPasswordPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// The address of the account.
    pub email: FormField,
    /// Whether it was sent; the page is the same whether or not there is such an account.
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

/// What stands behind a link to choose a new password.
pub enum PasswordResetState {
    /// The link is good.
    ValidLink {
        /// Whose password it is, without the at sign.
        username: String,
        /// Sent back as `token`.
        token: String,
    },
    /// The link is unknown, used or too old.
    InvalidLink,
}

/// Choose a new password. Form: `token`, `password`, `end_tokens`.
#[derive(Template)]
#[template(path = "reset.html")]
pub struct ResetPasswordPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// What the link is worth.
    pub state: PasswordResetState,
    /// The new password.
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

/// What became of an email address.
pub enum EmailConfirmationState {
    /// The link was opened. A form confirms, so that a mail scanner that opens links does not.
    LinkOpened {
        /// The address.
        email: String,
        /// Sent back as `token`.
        token: String,
    },
    /// A letter was sent.
    Sent {
        /// The address.
        email: String,
    },
    /// It is confirmed.
    Confirmed {
        /// The address.
        email: String,
    },
    /// The link is unknown, used or too old.
    InvalidLink,
}

/// Confirm an email address. Form in [`Confirmation::Ask`]: `token`. Form in
/// [`Confirmation::Sent`] and [`Confirmation::Dead`], where [`Confirmed::resend`] is given: nothing
/// but `csrf`.
#[derive(Template)]
#[template(path = "confirmed.html")]
pub struct EmailConfirmationPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// Where the form that confirms posts to.
    pub action: String,
    /// Where another letter can be asked for, if someone is signed in.
    pub resend: Option<String>,
    /// How far it is.
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
