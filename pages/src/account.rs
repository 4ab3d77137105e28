//! Settings pages: account, sessions and connected apps.

use crate::page::{HtmlPage, html_page};
use crate::{AppSummary, FormField, PageFrame, SiteLinks};
use askama::Template;
use base::Time;

pub(crate) const SECTIONS: [(SectionPath, &str); 10] = [
    (|_| crate::members::EDIT_PROFILE_PATH, "Profile"),
    (|_| crate::members::NOTIFICATION_SETTINGS_PATH, "Notifications"),
    (|_| crate::members::MUTED_WORDS_PATH, "Muted words"),
    (|_| crate::members::BLOCKED_ACCOUNTS_PATH, "Blocked and muted"),
    (|links| links.account, "Account"),
    (|links| links.security, "Security"),
    (|links| links.sessions, "Sessions"),
    (|links| links.connected_apps, "Connected apps"),
    (|_| crate::moderation::DECISIONS_PATH, "Moderation"),
    (|links| links.data, "Your data"),
];

type SectionPath = fn(&SiteLinks) -> &'static str;

/// Form fields: `current`, `password`, `end_tokens`.
pub struct PasswordForm {
    pub action: String,
    pub current: FormField,
    pub password: FormField,
}

/// Form fields: `username`, `username_password`.
pub struct UsernameForm {
    pub action: String,
    pub username: FormField,
    pub password: FormField,
}

/// Form fields: `email`, `email_password`. The forms of `resend` and `cancel` send only `csrf`.
pub struct EmailForm {
    pub action: String,
    pub address: Option<String>,
    pub confirmed: bool,
    /// A new address that is not confirmed yet.
    pub pending: Option<String>,
    pub resend: String,
    pub cancel: String,
    pub email: FormField,
    pub password: FormField,
}

/// Form fields: `born_on`, `gender`.
pub struct PrivateProfileForm {
    pub action: String,
    /// `YYYY-MM-DD`.
    pub born_on: FormField,
    /// `male`, `female` or `unsaid`.
    pub gender: &'static str,
}

#[derive(Template)]
#[template(path = "account.html")]
pub struct AccountSettingsPage {
    pub frame: PageFrame,
    pub username: UsernameForm,
    pub email: EmailForm,
    pub password: PasswordForm,
    pub about: PrivateProfileForm,
}

impl AccountSettingsPage {
    const SECTION: &'static str = "Account";
}

html_page!(AccountSettingsPage, |_| "Account".to_owned(), |page| vec![
    ("username", &page.username.username),
    ("username_password", &page.username.password),
    ("email", &page.email.email),
    ("email_password", &page.email.password),
    ("current", &page.password.current),
    ("password", &page.password.password),
    ("born_on", &page.about.born_on)
]);

pub struct SessionItem {
    pub id: String,
    pub device: String,
    pub address: String,
    pub since: Time,
    pub last_seen: Time,
    pub current: bool,
}

/// Form fields: `id`; the form of `revoke_others` sends only `csrf`.
#[derive(Template)]
#[template(path = "sessions.html")]
pub struct SessionsPage {
    pub frame: PageFrame,
    /// Active sessions, the current one first.
    pub sessions: Vec<SessionItem>,
    pub revoke: String,
    pub revoke_others: String,
}

impl SessionsPage {
    const SECTION: &'static str = "Sessions";
}

html_page!(SessionsPage, |_| "Sessions".to_owned());

pub struct ConnectedAppItem {
    pub id: String,
    pub app: AppSummary,
    pub summary: String,
    pub permissions: Vec<String>,
    pub since: Time,
    pub last_used: Option<Time>,
}

/// Form fields: `id`.
#[derive(Template)]
#[template(path = "connected.html")]
pub struct ConnectedAppsPage {
    pub frame: PageFrame,
    pub apps: Vec<ConnectedAppItem>,
    pub revoke: String,
}

impl ConnectedAppsPage {
    const SECTION: &'static str = "Connected apps";
}

html_page!(ConnectedAppsPage, |_| "Connected apps".to_owned());
