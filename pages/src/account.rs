//! A person's own settings: password and email, places signed in, apps connected.

use crate::field::problems;
use crate::{AppCard, Field, Frame, Links, Page, Problem};
use askama::Template;
use base::Time;

/// The pages of the settings, as they stand beside each other.
pub(crate) const SECTIONS: [(Path, &str); 3] = [
    (|links| links.account, "Account"),
    (|links| links.sessions, "Sessions"),
    (|links| links.connected, "Connected apps"),
];

type Path = fn(&Links) -> &'static str;

/// Change the password. Form: `current`, `password`, `end_tokens`.
pub struct PasswordForm {
    /// Where the form posts to.
    pub action: String,
    /// The password of now.
    pub current: Field,
    /// The new one.
    pub password: Field,
}

/// Change the email address. Form: `email`, `email_password`. Two more forms, to
/// [`EmailForm::resend`] and [`EmailForm::cancel`], have nothing but `csrf`.
pub struct EmailForm {
    /// Where the form posts to.
    pub action: String,
    /// The address of now, if there is one.
    pub address: Option<String>,
    /// Whether that address is confirmed.
    pub confirmed: bool,
    /// A new address that waits for its confirmation.
    pub pending: Option<String>,
    /// Where another confirmation can be asked for.
    pub resend: String,
    /// Where a change that waits is taken back.
    pub cancel: String,
    /// The new address.
    pub email: Field,
    /// The password, as proof.
    pub password: Field,
}

/// Say when one was born and of which gender one is. Form: `born_on`, `gender`.
pub struct AboutForm {
    /// Where the form posts to.
    pub action: String,
    /// The day of birth, `YYYY-MM-DD`.
    pub born_on: Field,
    /// `male`, `female` or `unsaid`.
    pub gender: &'static str,
}

/// Password, email, and what only the platform knows.
#[derive(Template)]
#[template(path = "account.html")]
pub struct AccountSettings {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// The email address.
    pub email: EmailForm,
    /// The password.
    pub password: PasswordForm,
    /// What only the platform knows.
    pub about: AboutForm,
}

impl AccountSettings {
    const SECTION: &'static str = "Account";
}

impl Page for AccountSettings {
    const NAME: &'static str = "account";

    fn title(&self) -> String {
        "Account".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[
            ("email", &self.email.email),
            ("email_password", &self.email.password),
            ("current", &self.password.current),
            ("password", &self.password.password),
            ("born_on", &self.about.born_on),
        ])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::account::settings()
    }
}

/// One place where the account is signed in.
pub struct Session {
    /// Sent back as `id`.
    pub id: String,
    /// The browser in words, by [`crate::device`].
    pub device: String,
    /// The address that it came from.
    pub address: String,
    /// When it signed in.
    pub since: Time,
    /// When it was last seen.
    pub last_seen: Time,
    /// Whether it is the one that looks at the page.
    pub current: bool,
}

/// Places signed in. Form to [`Sessions::revoke`]: `id`. Form to [`Sessions::revoke_others`]: nothing
/// but `csrf`.
#[derive(Template)]
#[template(path = "sessions.html")]
pub struct Sessions {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// Every session that lives, the current one first.
    pub sessions: Vec<Session>,
    /// Where one session is ended.
    pub revoke: String,
    /// Where all but this one are ended.
    pub revoke_others: String,
}

impl Sessions {
    const SECTION: &'static str = "Sessions";
}

impl Page for Sessions {
    const NAME: &'static str = "sessions";

    fn title(&self) -> String {
        "Where you are signed in".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::account::sessions()
    }
}

/// One app that may use the account.
pub struct Connection {
    /// Sent back as `id`.
    pub id: String,
    /// The app.
    pub app: AppCard,
    /// In a few words: "Read and write".
    pub summary: String,
    /// What it may do, a line each, from [`crate::Level::can`] or [`crate::power`].
    pub permissions: Vec<String>,
    /// Since when.
    pub since: Time,
    /// When it last used the account.
    pub last_used: Option<Time>,
}

/// Apps that may use the account. Form to [`Connected::revoke`]: `id`.
#[derive(Template)]
#[template(path = "connected.html")]
pub struct Connected {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// The apps.
    pub apps: Vec<Connection>,
    /// Where an app's access is ended.
    pub revoke: String,
}

impl Connected {
    const SECTION: &'static str = "Connected apps";
}

impl Page for Connected {
    const NAME: &'static str = "connected";

    fn title(&self) -> String {
        "Connected apps".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::account::connected()
    }
}
