//! Signing in and out, and creating an account.

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame};
use askama::Template;

/// Sign in. Form: `login`, `password`, `next`. A second form goes to [`Cancel::action`].
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    /// The surroundings. A refusal is [`Frame::failure`], the same for an unknown name and a wrong
    /// password.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// Sent back as `next`: where to go afterwards, chosen and checked by the server.
    pub next: String,
    /// The app that the person came from.
    pub app: Option<String>,
    /// Username or email address.
    pub login: FormField,
    /// The password.
    pub password: FormField,
    /// Where a new account is created; `None`: registration is closed.
    pub sign_up: Option<String>,
    /// How to go back to the app without signing in.
    pub cancel: Option<CancelForm>,
}

/// A form that says no for the person. It sends `decision`, which is `deny`.
pub struct CancelForm {
    /// Where the form posts to.
    pub action: String,
    /// Sent back as they are: names and values.
    pub hidden: Vec<(String, String)>,
}

impl HtmlPage for SignInPage {
    const NAME: &'static str = "sign-in";

    fn title(&self) -> String {
        "Sign in".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[("login", &self.login), ("password", &self.password)])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::sign_in::sign_in_states()
    }
}

/// Create account. Form: `username`, `name`, `email`, `password`, `next`.
#[derive(Template)]
#[template(path = "sign_up.html")]
pub struct SignUpPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// Sent back as `next`.
    pub next: String,
    /// The app that the person came from.
    pub app: Option<String>,
    /// Whether accounts can be created here at all; if not, there is no form.
    pub is_open: bool,
    /// Letters, digits and underscores, at most 15.
    pub username: FormField,
    /// The display name.
    pub name: FormField,
    /// Where the confirmation goes.
    pub email: FormField,
    /// At least eight characters.
    pub password: FormField,
}

impl HtmlPage for SignUpPage {
    const NAME: &'static str = "sign-up";

    fn title(&self) -> String {
        "Create account".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[
            ("name", &self.name),
            ("username", &self.username),
            ("email", &self.email),
            ("password", &self.password),
        ])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::sign_in::sign_up_states()
    }
}

/// Ask whether to sign out. Form: nothing but `csrf`.
#[derive(Template)]
#[template(path = "sign_out.html")]
pub struct SignOutPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// Where "stay" leads.
    pub back: String,
}

impl HtmlPage for SignOutPage {
    const NAME: &'static str = "sign-out";

    fn title(&self) -> String {
        "Sign out".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::sign_in::sign_out_states()
    }
}
