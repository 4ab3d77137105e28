//! Passkeys: their part of the security settings, and the page on which a browser makes one.

use askama::Template;
use base::Time;

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};

pub struct PasskeyItem {
    /// What the form that removes it sends.
    pub id: String,
    pub name: String,
    pub created_at: Time,
    pub last_used_at: Option<Time>,
}

/// A part of the security page.
pub struct PasskeySettings {
    /// Oldest first.
    pub passkeys: Vec<PasskeyItem>,
    pub addition: PasskeyAddition,
    /// Form fields: `passkey`, `removal_password`.
    pub remove: String,
    pub removal_password: FormField,
}

/// Whether a passkey can be added.
pub enum PasskeyAddition {
    /// Form fields: `passkey_password`, and `passkey_code` with two-factor sign-in.
    Form { action: String, password: FormField, code: Option<FormField> },
    /// The account has the most that it can have.
    Full,
    /// Browsers have no passkeys for the address of this site.
    Unavailable,
}

impl PasskeySettings {
    pub(crate) fn fields(&self) -> Vec<(&'static str, &FormField)> {
        let mut fields = Vec::new();
        if let PasskeyAddition::Form { password, code, .. } = &self.addition {
            fields.push(("passkey_password", password));
            fields.extend(code.iter().map(|code| ("passkey_code", code)));
        }
        if !self.passkeys.is_empty() {
            fields.push(("removal_password", &self.removal_password));
        }
        fields
    }
}

/// Form fields: `name`, and what the script fills in: `client_data`, `authenticator_data`.
#[derive(Template)]
#[template(path = "passkey_setup.html")]
pub struct PasskeySetupPage {
    pub frame: PageFrame,
    pub action: String,
    /// A suggestion.
    pub name: String,
    /// In base64url, as the user handle.
    pub challenge: String,
    pub user_handle: String,
    /// The host for which the passkey is made.
    pub site: String,
    pub username: String,
    pub display_name: String,
    /// The ids of the account's passkeys.
    pub existing: Vec<String>,
}

impl PasskeySetupPage {
    const SECTION: &'static str = "Security";
}

html_page!(PasskeySetupPage, |_| "Add a passkey".to_owned());
