//! Pages on which a person answers an app's authorization request.

use crate::page::{HtmlPage, html_page};
use crate::{PageFrame, PermissionLevel, ScopePermission, describe_scope};
use askama::Template;
use base::{Scope, Scopes};

/// An app of another developer that could be mistaken for the one that asks.
#[derive(Clone)]
pub struct SimilarApp {
    pub name: String,
    /// Username without the at sign.
    pub owner: String,
}

/// Where a callback leads.
#[derive(Clone)]
pub struct CallbackDestination {
    /// The host, and the port if it is not the default one, in ASCII, as browsers connect to it; the scheme of
    /// other URLs.
    pub address: String,
    /// The host as browsers display it, if that differs.
    pub display_form: Option<String>,
}

#[derive(Clone, Default)]
pub struct AppSummary {
    pub name: String,
    pub description: String,
    /// Rendered as a link only if it is http or https.
    pub website: Option<String>,
    /// Username without the at sign.
    pub owner: String,
    pub similar: Option<SimilarApp>,
}

impl AppSummary {
    /// Stand-in for an icon.
    pub fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.name)
    }
}

/// Form fields: `oauth_token`, `permission` ([`PermissionLevel::name`]), `email` (`requested` if the page says that the app
/// reads the address), and `decision` (`allow` or `deny`).
#[derive(Template)]
#[template(path = "authorize.html")]
pub struct OAuth1AuthorizePage {
    pub frame: PageFrame,
    pub action: String,
    pub token: String,
    pub app: AppSummary,
    pub level: PermissionLevel,
    /// Whether the app also requests the email address.
    pub email: bool,
    /// `None`: a PIN is shown.
    pub destination: Option<CallbackDestination>,
    pub switch: String,
}

html_page!(OAuth1AuthorizePage, |page| format!("Authorize {}", page.app.name));

/// OAuth 1.0a without a callback.
#[derive(Template)]
#[template(path = "pin.html")]
pub struct PinPage {
    pub frame: PageFrame,
    pub app: AppSummary,
    pub pin: String,
}

impl PinPage {
    /// The digits in two groups; the gap between them is not copied.
    pub fn digit_groups(&self) -> Vec<String> {
        let digits: Vec<_> = self.pin.chars().collect();
        let (head, tail) = digits.split_at(digits.len() % 2 + digits.len() / 2);
        [tail, head].iter().rev().filter(|group| !group.is_empty()).map(|group| group.iter().collect()).collect()
    }
}

html_page!(PinPage, |page| format!("PIN for {}", page.app.name));

/// OAuth 1.0a without a callback: access was denied.
#[derive(Template)]
#[template(path = "cancelled.html")]
pub struct AuthorizationDeniedPage {
    pub frame: PageFrame,
    pub app: AppSummary,
}

html_page!(AuthorizationDeniedPage, |_| "Access denied".to_owned());

/// Form fields: the names in `hidden`, and `decision` (`allow` or `deny`).
#[derive(Template)]
#[template(path = "consent.html")]
pub struct OAuth2ConsentPage {
    pub frame: PageFrame,
    pub action: String,
    pub hidden: Vec<(String, String)>,
    pub app: AppSummary,
    pub scopes: Scopes,
    /// Whether to warn that the app uses the PKCE method `plain`.
    pub uses_plain_pkce: bool,
    pub destination: CallbackDestination,
    pub switch: String,
}

const PLAIN_PKCE_WARNING: &str = "It signs you in with an outdated method (PKCE “plain”), which does not protect \
    against eavesdropping.";

impl OAuth2ConsentPage {
    fn scope_permissions(&self) -> impl Iterator<Item = (Scope, ScopePermission)> {
        self.scopes.iter().map(|scope| (scope, describe_scope(scope)))
    }

    pub fn read_permissions(&self) -> Vec<(Scope, ScopePermission)> {
        self.scope_permissions().filter(|(_, power)| !power.is_write).collect()
    }

    pub fn write_permissions(&self) -> Vec<(Scope, ScopePermission)> {
        self.scope_permissions().filter(|(_, power)| power.is_write).collect()
    }

    pub fn warnings(&self) -> Vec<&'static str> {
        let plain = self.uses_plain_pkce.then_some(PLAIN_PKCE_WARNING);
        let warned = self.scope_permissions().filter_map(|(_, power)| power.warning);
        warned.chain(plain).collect()
    }
}

html_page!(OAuth2ConsentPage, |page| format!("Authorize {}", page.app.name));
