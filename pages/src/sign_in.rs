//! Signing in and out, and creating an account.

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};
use askama::Template;

/// Form fields: `login`, `password`, `next`.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    /// `failure` is the same for an unknown user and a wrong password.
    pub frame: PageFrame,
    pub action: String,
    /// Local path to go to afterwards, validated by the server.
    pub next: String,
    pub app: Option<String>,
    pub login: FormField,
    pub password: FormField,
    /// On a development server.
    pub one_click: Option<OneClickSignIn>,
    /// `None` if registration is closed.
    pub sign_up: Option<String>,
    pub cancel: Option<CancelForm>,
    /// None where browsers have no passkeys.
    pub passkey: Option<PasskeySignInForm>,
}

/// Form fields: `next`, and what the script fills in: `credential`, `client_data`, `authenticator_data`, `signature`,
/// `user_handle`.
pub struct PasskeySignInForm {
    pub action: String,
    /// Where the script gets a challenge.
    pub challenge_path: String,
}

/// Signs in without a password: sends `user`, an id, and `next`.
pub struct OneClickSignIn {
    pub action: String,
    pub users: Vec<OfferedUser>,
}

pub struct OfferedUser {
    pub id: String,
    pub name: String,
}

/// Declines the app's request: sends `hidden` and `decision`, which is `deny`.
pub struct CancelForm {
    pub action: String,
    pub hidden: Vec<(String, String)>,
}

html_page!(SignInPage, |_| "Sign in".to_owned(), |page| vec![("login", &page.login), ("password", &page.password)]);

/// The link with which the account becomes the first owner of the site.
pub struct OwnerSetup {
    /// Sent as `token`.
    pub token: String,
    /// Where those who have an account sign in, to come back.
    pub sign_in: String,
}

/// Whether a visitor can register; without [`Self::Open`] or [`Self::Approval`], no form is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RegistrationAccess {
    Open,
    /// After a moderator has accepted the application.
    Approval,
    /// The visitor has no invitation.
    InvitationMissing,
    /// The visitor has an invitation that is not valid or not valid any more.
    InvitationInvalid,
    Closed,
}

/// Form fields: `username`, `name`, `email`, `password`, `next`.
#[derive(Template)]
#[template(path = "sign_up.html")]
pub struct SignUpPage {
    pub frame: PageFrame,
    pub action: String,
    pub next: String,
    pub app: Option<String>,
    pub access: RegistrationAccess,
    pub owner_setup: Option<OwnerSetup>,
    pub username: FormField,
    pub name: FormField,
    pub email: FormField,
    pub password: FormField,
}

html_page!(
    SignUpPage,
    |page| match page.access {
        _ if page.owner_setup.is_some() => "Set up this site",
        RegistrationAccess::Approval => "Apply for an account",
        _ => "Create account",
    }
    .to_owned(),
    |page| vec![
        ("name", &page.name),
        ("username", &page.username),
        ("email", &page.email),
        ("password", &page.password)
    ]
);

impl SignUpPage {
    fn needs_approval(&self) -> bool {
        self.access == RegistrationAccess::Approval
    }

    fn email_help(&self) -> String {
        let help = if self.owner_setup.is_some() {
            "It’s never shown to anyone. If this server sends emails, you get a link to confirm it."
        } else {
            match self.access {
                RegistrationAccess::Approval => {
                    "Once your application is accepted, we’ll send you a link to confirm it. Only moderators see it."
                }
                _ => "We’ll send you a link to confirm it. It’s never shown to anyone.",
            }
        };
        help.to_owned()
    }
}

#[derive(Template)]
#[template(path = "sign_out.html")]
pub struct SignOutPage {
    pub frame: PageFrame,
    pub action: String,
    pub back: String,
}

html_page!(SignOutPage, |_| "Sign out".to_owned());
