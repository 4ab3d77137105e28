//! An app's keys and tokens: shown once, then only their endings.

use crate::{AppRef, AppTab, HtmlPage, PageFrame};
use askama::Template;
use base::Time;

/// A kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// API key and secret.
    Api,
    /// App-only bearer token.
    Bearer,
    /// The owner's own access token and secret.
    Access,
    /// OAuth 2.0 client ID and, for confidential apps, secret.
    Client,
}

impl CredentialKind {
    /// The path piece below `/keys`: `api`, `bearer`, `access`, `client`; `/regenerate` follows.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Bearer => "bearer",
            Self::Access => "access",
            Self::Client => "client",
        }
    }

    /// Reads a path piece.
    pub fn parse(slug: &str) -> Option<Self> {
        [Self::Api, Self::Bearer, Self::Access, Self::Client]
            .into_iter()
            .find(|kind| kind.slug() == slug)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api => "API key and secret",
            Self::Bearer => "Bearer token",
            Self::Access => "Access token and secret",
            Self::Client => "OAuth 2.0 client",
        }
    }

    /// What is regenerated, within a sentence.
    pub const fn noun_phrase(self) -> &'static str {
        match self {
            Self::Api => "the API key and secret",
            Self::Bearer => "the bearer token",
            Self::Access => "your access token and secret",
            Self::Client => "the client secret",
        }
    }

    /// What it is for.
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::Api => "Sign OAuth 1.0a requests as the app.",
            Self::Bearer => "Read public data as the app, without a user.",
            Self::Access => "Call the API as yourself with OAuth 1.0a, without signing in.",
            Self::Client => "Sign people in with OAuth 2.0 and PKCE.",
        }
    }

    /// What regenerating it does.
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

/// A credential of an app.
pub struct CredentialItem {
    /// Which one.
    pub kind: CredentialKind,
    /// Whether there is one; a bearer or access token may not be made yet.
    pub exists: bool,
    /// What is no secret: the client ID.
    pub public: Option<String>,
    /// The last characters of what is secret; `None`: there is no secret, as with public clients.
    pub ending: Option<String>,
    /// What the developer should know, such as a token older than the app's permission.
    pub note: Option<String>,
    /// When it was made.
    pub created: Option<Time>,
    /// When it was last used.
    pub last_used: Option<Time>,
}

/// Values that are shown this once.
pub struct RevealedCredentials {
    /// What they belong to, in words: "API key and secret", or the app's name.
    pub title: String,
    /// The values.
    pub values: Vec<CredentialValue>,
}

/// A value under its name.
pub struct CredentialValue {
    /// Its name, as client libraries call it.
    pub name: String,
    /// The value.
    pub value: String,
}

/// An app's keys and tokens. Links lead to `{app}/keys/{slug}/regenerate`.
#[derive(Template)]
#[template(path = "keys.html")]
pub struct AppKeysPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app.
    pub app: AppRef,
    /// The credentials.
    pub keys: Vec<CredentialItem>,
    /// What was just made.
    pub revealed: Option<RevealedCredentials>,
}

impl AppKeysPage {
    const TAB: AppTab = AppTab::Keys;
}

impl HtmlPage for AppKeysPage {
    const NAME: &'static str = "keys";

    fn title(&self) -> String {
        format!("Keys and tokens: {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::app::app_keys_states()
    }
}

/// Ask before a credential is made anew. Form: nothing but `csrf`.
#[derive(Template)]
#[template(path = "regenerate.html")]
pub struct RegenerateKeyPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app.
    pub app: AppRef,
    /// Which one.
    pub kind: CredentialKind,
    /// Whether there is one already; if not, it is made for the first time.
    pub exists: bool,
    /// Where the form posts to.
    pub action: String,
}

impl HtmlPage for RegenerateKeyPage {
    const NAME: &'static str = "regenerate";

    fn title(&self) -> String {
        let verb = if self.exists { "Regenerate" } else { "Create" };
        format!("{verb} {}", self.kind.noun_phrase())
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::app::regenerate_key_states()
    }
}
