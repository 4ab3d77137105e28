//! Ways back into an account, and proof that an email address is one's own.

use crate::field::problems;
use crate::{Field, Frame, Page, Problem};
use askama::Template;

/// Ask for a link to choose a new password. Form: `email`.
#[derive(Template)]
#[template(path = "forgotten.html")]
pub struct Forgotten {
    /// The surroundings.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// The address of the account.
    pub email: Field,
    /// Whether it was sent; the page is the same whether or not there is such an account.
    pub sent: bool,
}

impl Page for Forgotten {
    const NAME: &'static str = "forgotten";

    fn title(&self) -> String {
        if self.sent {
            "Look in your inbox".to_owned()
        } else {
            "Forgotten password".to_owned()
        }
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[("email", &self.email)])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::recover::forgotten()
    }
}

/// What stands behind a link to choose a new password.
pub enum ResetState {
    /// The link is good.
    Open {
        /// Whose password it is, without the at sign.
        username: String,
        /// Sent back as `token`.
        token: String,
    },
    /// The link is unknown, used or too old.
    Dead,
}

/// Choose a new password. Form: `token`, `password`, `end_tokens`.
#[derive(Template)]
#[template(path = "reset.html")]
pub struct Reset {
    /// The surroundings.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// What the link is worth.
    pub state: ResetState,
    /// The new password.
    pub password: Field,
}

impl Page for Reset {
    const NAME: &'static str = "reset";

    fn title(&self) -> String {
        match self.state {
            ResetState::Open { .. } => "Choose a new password".to_owned(),
            ResetState::Dead => "This link no longer works".to_owned(),
        }
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[("password", &self.password)])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::recover::reset()
    }
}

/// What became of an email address.
pub enum Confirmation {
    /// The link was opened. A form confirms, so that a mail scanner that opens links does not.
    Ask {
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
    Done {
        /// The address.
        email: String,
    },
    /// The link is unknown, used or too old.
    Dead,
}

/// Confirm an email address. Form in [`Confirmation::Ask`]: `token`. Form in
/// [`Confirmation::Sent`] and [`Confirmation::Dead`], where [`Confirmed::resend`] is given: nothing
/// but `csrf`.
#[derive(Template)]
#[template(path = "confirmed.html")]
pub struct Confirmed {
    /// The surroundings.
    pub frame: Frame,
    /// Where the form that confirms posts to.
    pub action: String,
    /// Where another letter can be asked for, if someone is signed in.
    pub resend: Option<String>,
    /// How far it is.
    pub state: Confirmation,
}

impl Page for Confirmed {
    const NAME: &'static str = "confirmed";

    fn title(&self) -> String {
        match self.state {
            Confirmation::Ask { .. } => "Confirm your email address".to_owned(),
            Confirmation::Sent { .. } => "Look in your inbox".to_owned(),
            Confirmation::Done { .. } => "Email address confirmed".to_owned(),
            Confirmation::Dead => "This link no longer works".to_owned(),
        }
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::recover::confirmed()
    }
}
