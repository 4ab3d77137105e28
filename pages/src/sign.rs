//! Signing in and out, and creating an account.

use crate::field::problems;
use crate::{Field, Frame, Page, Problem};
use askama::Template;

/// Sign in. Form: `login`, `password`, `next`. A second form goes to [`Cancel::action`].
#[derive(Template)]
#[template(path = "sign_in.html")]
pub struct SignIn {
    /// The surroundings. A refusal is [`Frame::failure`], the same for an unknown name and a wrong
    /// password.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// Sent back as `next`: where to go afterwards, chosen and checked by the server.
    pub next: String,
    /// The app that the person came from.
    pub app: Option<String>,
    /// Username or email address.
    pub login: Field,
    /// The password.
    pub password: Field,
    /// Where a new account is created; `None`: registration is closed.
    pub sign_up: Option<String>,
    /// How to go back to the app without signing in.
    pub cancel: Option<Cancel>,
}

/// A form that says no for the person. It sends `decision`, which is `deny`.
pub struct Cancel {
    /// Where the form posts to.
    pub action: String,
    /// Sent back as they are: names and values.
    pub hidden: Vec<(String, String)>,
}

impl Page for SignIn {
    const NAME: &'static str = "sign-in";

    fn title(&self) -> String {
        "Sign in".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[("login", &self.login), ("password", &self.password)])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::sign::sign_in()
    }
}

/// Create an account. Form: `username`, `name`, `email`, `password`, `next`.
#[derive(Template)]
#[template(path = "sign_up.html")]
pub struct SignUp {
    /// The surroundings.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// Sent back as `next`.
    pub next: String,
    /// The app that the person came from.
    pub app: Option<String>,
    /// Whether accounts can be created here at all; if not, there is no form.
    pub open: bool,
    /// Letters, digits and underscores, at most 15.
    pub username: Field,
    /// The display name.
    pub name: Field,
    /// Where the confirmation goes.
    pub email: Field,
    /// At least eight characters.
    pub password: Field,
}

impl Page for SignUp {
    const NAME: &'static str = "sign-up";

    fn title(&self) -> String {
        "Create an account".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[
            ("name", &self.name),
            ("username", &self.username),
            ("email", &self.email),
            ("password", &self.password),
        ])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::sign::sign_up()
    }
}

/// Ask whether to sign out. Form: nothing but `csrf`.
#[derive(Template)]
#[template(path = "sign_out.html")]
pub struct SignOut {
    /// The surroundings.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// Where "stay" leads.
    pub back: String,
}

impl Page for SignOut {
    const NAME: &'static str = "sign-out";

    fn title(&self) -> String {
        "Sign out".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::sign::sign_out()
    }
}
