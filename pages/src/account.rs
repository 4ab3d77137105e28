//! A person's own settings: password and email, places signed in, apps connected.

use crate::field::collect_problems;
use crate::{AppSummary, FormField, FormProblem, HtmlPage, PageFrame, SiteLinks};
use askama::Template;
use base::Time;

/// The pages of the settings, as they stand beside each other.
pub(crate) const SECTIONS: [(SectionPath, &str); 3] = [
    (|links| links.account, "Account"),
    (|links| links.sessions, "Sessions"),
    (|links| links.connected_apps, "Connected apps"),
];

type SectionPath = fn(&SiteLinks) -> &'static str;

/// Change the password. Form: `current`, `password`, `end_tokens`.
pub struct PasswordForm {
    /// Where the form posts to.
    pub action: String,
    /// The password of now.
    pub current: FormField,
    /// The new one.
    pub password: FormField,
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
    pub email: FormField,
    /// The password, as proof.
    pub password: FormField,
}

/// Say when one was born and of which gender one is. Form: `born_on`, `gender`.
pub struct PrivateProfileForm {
    /// Where the form posts to.
    pub action: String,
    /// The day of birth, `YYYY-MM-DD`.
    pub born_on: FormField,
    /// `male`, `female` or `unsaid`.
    pub gender: &'static str,
}

/// Password, email, and what only the platform knows.
#[derive(Template)]
#[template(path = "account.html")]
pub struct AccountSettingsPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The email address.
    pub email: EmailForm,
    /// The password.
    pub password: PasswordForm,
    /// What only the platform knows.
    pub about: PrivateProfileForm,
}

impl AccountSettingsPage {
    const SECTION: &'static str = "Account";
}

impl HtmlPage for AccountSettingsPage {
    const NAME: &'static str = "account";

    fn title(&self) -> String {
        "Account".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[
            ("email", &self.email.email),
            ("email_password", &self.email.password),
            ("current", &self.password.current),
            ("password", &self.password.password),
            ("born_on", &self.about.born_on),
        ])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::account::account_settings_states()
    }
}

/// One place where the account is signed in.
pub struct SessionItem {
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
pub struct SessionsPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// Every session that lives, the current one first.
    pub sessions: Vec<SessionItem>,
    /// Where one session is ended.
    pub revoke: String,
    /// Where all but this one are ended.
    pub revoke_others: String,
}

impl SessionsPage {
    const SECTION: &'static str = "Sessions";
}

impl HtmlPage for SessionsPage {
    const NAME: &'static str = "sessions";

    fn title(&self) -> String {
        "Sessions".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::account::sessions_states()
    }
}

/// One app that may use the account.
pub struct ConnectedAppItem {
    /// Sent back as `id`.
    pub id: String,
    /// The app.
    pub app: AppSummary,
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
pub struct ConnectedAppsPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The apps.
    pub apps: Vec<ConnectedAppItem>,
    /// Where an app's access is ended.
    pub revoke: String,
}

impl ConnectedAppsPage {
    const SECTION: &'static str = "Connected apps";
}

impl HtmlPage for ConnectedAppsPage {
    const NAME: &'static str = "connected";

    fn title(&self) -> String {
        "Connected apps".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::account::connected_apps_states()
    }
}
