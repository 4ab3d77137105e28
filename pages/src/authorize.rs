//! An app asks, a person decides.

use crate::{Frame, Level, Page, Power, power};
use askama::Template;
use base::{Scope, Scopes};

/// What a person is told about an app.
#[derive(Clone, Default)]
pub struct AppCard {
    /// Its name.
    pub name: String,
    /// What its developer says about it.
    pub description: String,
    /// Its website; a link only where it is http or https.
    pub website: Option<String>,
    /// The developer's username, without the at sign.
    pub owner: String,
}

impl AppCard {
    /// A stand-in for a picture.
    pub fn initial(&self) -> String {
        crate::page::initial(&self.name)
    }
}

/// OAuth 1.0a: may this app use the account? Form: `oauth_token`, and `decision`, which is `allow` or
/// `deny`.
#[derive(Template)]
#[template(path = "authorize.html")]
pub struct Authorize {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// Sent back as `oauth_token`.
    pub token: String,
    /// The app.
    pub app: AppCard,
    /// What it asks for.
    pub level: Level,
    /// Whether it also asks for the email address.
    pub email: bool,
    /// Where the answer goes, as text: the callback's host, or a scheme. `None`: a PIN is shown.
    pub destination: Option<String>,
    /// Where another account can be chosen.
    pub switch: String,
}

impl Page for Authorize {
    const NAME: &'static str = "authorize";

    fn title(&self) -> String {
        format!("Authorize {}", self.app.name)
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::authorize::authorize()
    }
}

/// OAuth 1.0a without a callback: a PIN to type into the app.
#[derive(Template)]
#[template(path = "pin.html")]
pub struct Pin {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// The app.
    pub app: AppCard,
    /// The digits.
    pub pin: String,
}

impl Pin {
    /// The digits in groups that can be remembered; the gaps are not copied.
    pub fn groups(&self) -> Vec<String> {
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

impl Page for Pin {
    const NAME: &'static str = "pin";

    fn title(&self) -> String {
        format!("PIN for {}", self.app.name)
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::authorize::pin()
    }
}

/// OAuth 1.0a without a callback: the person said no.
#[derive(Template)]
#[template(path = "cancelled.html")]
pub struct Cancelled {
    /// The surroundings.
    pub frame: Frame,
    /// The app.
    pub app: AppCard,
}

impl Page for Cancelled {
    const NAME: &'static str = "cancelled";

    fn title(&self) -> String {
        "Access not given".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::authorize::cancelled()
    }
}

/// OAuth 2.0: may this app use the account? Form: the names of [`Consent::hidden`], and `decision`,
/// which is `allow` or `deny`.
#[derive(Template)]
#[template(path = "consent.html")]
pub struct Consent {
    /// The surroundings; somebody is signed in.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// Sent back as they are: names and values.
    pub hidden: Vec<(String, String)>,
    /// The app.
    pub app: AppCard,
    /// What it asks for.
    pub scopes: Scopes,
    /// Whether it proves itself by the weaker method of PKCE and people are to know.
    pub plain: bool,
    /// Where the answer goes, as text: the redirect's host, or a scheme.
    pub destination: String,
    /// Where another account can be chosen.
    pub switch: String,
}

/// What a person is told of an app that proves itself by the weaker method.
const PLAIN: &str = "It signs you in by an outdated method (PKCE “plain”), which protects less \
    against somebody who reads along.";

impl Consent {
    fn powers(&self) -> impl Iterator<Item = (Scope, Power)> {
        self.scopes.iter().map(|scope| (scope, power(scope)))
    }

    /// What the app could see, with the scope's own name.
    pub fn reads(&self) -> Vec<(Scope, Power)> {
        self.powers().filter(|(_, power)| !power.writes).collect()
    }

    /// What the app could do, with the scope's own name.
    pub fn writes(&self) -> Vec<(Scope, Power)> {
        self.powers().filter(|(_, power)| power.writes).collect()
    }

    /// What deserves a second thought.
    pub fn warnings(&self) -> Vec<&'static str> {
        let plain = self.plain.then_some(PLAIN);
        let warned = self.powers().filter_map(|(_, power)| power.warning);
        warned.chain(plain).collect()
    }
}

impl Page for Consent {
    const NAME: &'static str = "consent";

    fn title(&self) -> String {
        format!("Authorize {}", self.app.name)
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::authorize::consent()
    }
}
