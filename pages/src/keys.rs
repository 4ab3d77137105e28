//! An app's keys and tokens: shown once, then only their last characters.

use crate::page::{HtmlPage, html_page};
use crate::{AppRef, AppTab, PageFrame};
use askama::Template;
use base::Time;

base::named_enum! {
    /// The name is the path segment after `/keys`; `/regenerate` follows it.
    pub enum CredentialKind {
        Api = "api",
        Bearer = "bearer",
        Access = "access",
        Client = "client",
    }
}

impl CredentialKind {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Api => "API key and secret",
            Self::Bearer => "Bearer token",
            Self::Access => "Access token and secret",
            Self::Client => "OAuth 2.0 client",
        }
    }

    /// For use within a sentence.
    pub const fn noun_phrase(self) -> &'static str {
        match self {
            Self::Api => "the API key and secret",
            Self::Bearer => "the bearer token",
            Self::Access => "your access token and secret",
            Self::Client => "the client secret",
        }
    }

    pub const fn purpose(self) -> &'static str {
        match self {
            Self::Api => "Sign OAuth 1.0a requests as the app.",
            Self::Bearer => "Read public data as the app, without a user.",
            Self::Access => "Call the API as yourself with OAuth 1.0a, without signing in.",
            Self::Client => "Sign people in with OAuth 2.0 and PKCE.",
        }
    }

    pub const fn regeneration_effect(self) -> &'static str {
        match self {
            Self::Api => {
                "All OAuth 1.0a requests of the app fail until you deploy the new key and secret. Connected accounts stay connected."
            }
            Self::Bearer => "All requests with the old token fail until you deploy the new one.",
            Self::Access => {
                "All requests with your old token fail until you deploy the new one. The new token has the app’s current permission."
            }
            Self::Client => {
                "The app can’t exchange codes or refresh tokens until you deploy the new secret. The client ID stays the same."
            }
        }
    }
}

pub struct CredentialItem {
    pub kind: CredentialKind,
    /// Bearer and access tokens may not have been created yet.
    pub exists: bool,
    /// The client ID.
    pub public: Option<String>,
    /// Last characters of the secret; `None` for public clients, which have none.
    pub ending: Option<String>,
    pub note: Option<String>,
    pub created: Option<Time>,
    pub last_used: Option<Time>,
}

pub struct RevealedCredentials {
    pub title: String,
    pub values: Vec<CredentialValue>,
}

pub struct CredentialValue {
    pub name: String,
    pub value: String,
}

#[derive(Template)]
#[template(path = "keys.html")]
pub struct AppKeysPage {
    pub frame: PageFrame,
    pub app: AppRef,
    pub keys: Vec<CredentialItem>,
    pub revealed: Option<RevealedCredentials>,
}

impl AppKeysPage {
    const TAB: AppTab = AppTab::Keys;
}

html_page!(AppKeysPage, |page| format!("Keys and tokens: {}", page.app.name));

#[derive(Template)]
#[template(path = "regenerate.html")]
pub struct RegenerateKeyPage {
    pub frame: PageFrame,
    pub app: AppRef,
    pub kind: CredentialKind,
    pub exists: bool,
    pub action: String,
}

html_page!(RegenerateKeyPage, |page| {
    let verb = if page.exists { "Regenerate" } else { "Create" };
    format!("{verb} {}", page.kind.noun_phrase())
});
