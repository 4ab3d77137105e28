//! Signing in and out, and creating an account.

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame};
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
    /// `None` if registration is closed.
    pub sign_up: Option<String>,
    pub cancel: Option<CancelForm>,
}

/// Declines the app's request: sends `hidden` and `decision`, which is `deny`.
pub struct CancelForm {
    pub action: String,
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

/// Form fields: `username`, `name`, `email`, `password`, `next`.
#[derive(Template)]
#[template(path = "sign_up.html")]
pub struct SignUpPage {
    pub frame: PageFrame,
    pub action: String,
    pub next: String,
    pub app: Option<String>,
    /// Whether registration is open; otherwise no form is shown.
    pub is_open: bool,
    pub username: FormField,
    pub name: FormField,
    pub email: FormField,
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

#[derive(Template)]
#[template(path = "sign_out.html")]
pub struct SignOutPage {
    pub frame: PageFrame,
    pub action: String,
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
