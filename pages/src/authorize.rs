//! An app asks, a person decides.

use crate::{HtmlPage, PageFrame, PermissionLevel, ScopePermission, describe_scope};
use askama::Template;
use base::{Scope, Scopes};

/// What a person is told about an app.
#[derive(Clone, Default)]
pub struct AppSummary {
    /// Its name.
    pub name: String,
    /// What its developer says about it.
    pub description: String,
    /// Its website; a link only where it is http or https.
    pub website: Option<String>,
    /// The developer's username, without the at sign.
    pub owner: String,
}

impl AppSummary {
    /// A stand-in for a picture.
    pub fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.name)
    }
}

/// OAuth 1.0a: may this app use the account? Form: `oauth_token`, and `decision`, which is `allow` or
/// `deny`.
#[derive(Template)]
#[template(path = "authorize.html")]
pub struct OAuth1AuthorizePage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// Sent back as `oauth_token`.
    pub token: String,
    /// The app.
    pub app: AppSummary,
    /// What it asks for.
    pub level: PermissionLevel,
    /// Whether it also asks for the email address.
    pub email: bool,
    /// Where the answer goes, as text: the callback's host, or a scheme. `None`: a PIN is shown.
    pub destination: Option<String>,
    /// Where another account can be chosen.
    pub switch: String,
}

impl HtmlPage for OAuth1AuthorizePage {
    const NAME: &'static str = "authorize";

    fn title(&self) -> String {
        format!("Authorize {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::authorize::authorize_states()
    }
}

/// OAuth 1.0a without a callback: a PIN to type into the app.
#[derive(Template)]
#[template(path = "pin.html")]
pub struct PinPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app.
    pub app: AppSummary,
    /// The digits.
    pub pin: String,
}

impl PinPage {
    /// The digits in groups that can be remembered; the gaps are not copied.
    pub fn digit_groups(&self) -> Vec<String> {
        let digits: Vec<_> = self.pin.chars().collect();
        let (head, tail) = digits.split_at(digits.len() % 2 + digits.len() / 2);
        [tail, head]
            .iter()
            .rev()
            .filter(|group| !group.is_empty())
            .map(|group| group.iter().collect())
            .collect()
    }
}

impl HtmlPage for PinPage {
    const NAME: &'static str = "pin";

    fn title(&self) -> String {
        format!("PIN for {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::authorize::pin_states()
    }
}

/// OAuth 1.0a without a callback: the person said no.
#[derive(Template)]
#[template(path = "cancelled.html")]
pub struct AuthorizationDeniedPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// The app.
    pub app: AppSummary,
}

impl HtmlPage for AuthorizationDeniedPage {
    const NAME: &'static str = "cancelled";

    fn title(&self) -> String {
        "Access denied".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::authorize::authorization_denied_states()
    }
}

/// OAuth 2.0: may this app use the account? Form: the names of [`Consent::hidden`], and `decision`,
/// which is `allow` or `deny`.
#[derive(Template)]
#[template(path = "consent.html")]
pub struct OAuth2ConsentPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// Sent back as they are: names and values.
    pub hidden: Vec<(String, String)>,
    /// The app.
    pub app: AppSummary,
    /// What it asks for.
    pub scopes: Scopes,
    /// Whether it proves itself by the weaker method of PKCE and people are to know.
    pub uses_plain_pkce: bool,
    /// Where the answer goes, as text: the redirect's host, or a scheme.
    pub destination: String,
    /// Where another account can be chosen.
    pub switch: String,
}

/// What a person is told of an app that proves itself by the weaker method.
const PLAIN_PKCE_WARNING: &str = "It signs you in with an outdated method (PKCE “plain”), which does not protect \
    against eavesdropping.";

impl OAuth2ConsentPage {
    fn scope_permissions(&self) -> impl Iterator<Item = (Scope, ScopePermission)> {
        self.scopes.iter().map(|scope| (scope, describe_scope(scope)))
    }

    /// What the app could see, with the scope's own name.
    pub fn read_permissions(&self) -> Vec<(Scope, ScopePermission)> {
        self.scope_permissions().filter(|(_, power)| !power.is_write).collect()
    }

    /// What the app could do, with the scope's own name.
    pub fn write_permissions(&self) -> Vec<(Scope, ScopePermission)> {
        self.scope_permissions().filter(|(_, power)| power.is_write).collect()
    }

    /// What deserves a second thought.
    pub fn warnings(&self) -> Vec<&'static str> {
        let plain = self.uses_plain_pkce.then_some(PLAIN_PKCE_WARNING);
        let warned = self.scope_permissions().filter_map(|(_, power)| power.warning);
        warned.chain(plain).collect()
    }
}

impl HtmlPage for OAuth2ConsentPage {
    const NAME: &'static str = "consent";

    fn title(&self) -> String {
        format!("Authorize {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::authorize::consent_states()
    }
}
