//! Which credentials an operation accepts, and what each must carry (contract §2.7).

use crate::Scopes;

/// A kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    /// OAuth 1.0a, user context.
    OAuth1,
    /// OAuth 2.0 app-only bearer.
    App,
    /// OAuth 2.0 user token.
    OAuth2,
}

impl Credential {
    /// The name in refusals.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OAuth1 => "OAuth 1.0a User Context",
            Self::App => "OAuth 2.0 Application-Only",
            Self::OAuth2 => "OAuth 2.0 User Context",
        }
    }
}

/// What an operation asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permit {
    /// Accepted without any credential.
    pub open: bool,
    /// OAuth 1.0a user context is accepted.
    pub oauth1: bool,
    /// App-only bearer tokens are accepted.
    pub app: bool,
    /// OAuth 2.0 user tokens are accepted.
    pub oauth2: bool,
    /// The scopes that an OAuth 2.0 user token must all carry.
    pub scopes: Scopes,
}

impl Permit {
    /// Anyone, without a credential.
    pub const OPEN: Self = Self {
        open: true,
        ..Self::NOBODY
    };
    /// No credential at all; a start for the others.
    pub const NOBODY: Self = Self {
        open: false,
        oauth1: false,
        app: false,
        oauth2: false,
        scopes: Scopes::NONE,
    };

    /// From the contract's letters: `1` OAuth 1.0a user, `A` app-only, `2` OAuth 2.0 user.
    pub const fn from_letters(letters: &str, scopes: Scopes) -> Self {
        let mut permit = Self { scopes, ..Self::NOBODY };
        let mut rest = letters.as_bytes();
        while let [first, tail @ ..] = rest {
            match first {
                b'1' => permit.oauth1 = true,
                b'A' => permit.app = true,
                b'2' => permit.oauth2 = true,
                _ => {}
            }
            rest = tail;
        }
        permit
    }

    /// Whether a kind of credential is accepted.
    pub const fn accepts(self, credential: Credential) -> bool {
        match credential {
            Credential::OAuth1 => self.oauth1,
            Credential::App => self.app,
            Credential::OAuth2 => self.oauth2,
        }
    }

    /// The accepted kinds as refusals list them.
    pub fn accepted_names(self) -> String {
        // The order of the public service's own text.
        let kinds = [Credential::OAuth1, Credential::App, Credential::OAuth2];
        let names: Vec<_> = kinds
            .into_iter()
            .filter(|kind| self.accepts(*kind))
            .map(Credential::name)
            .collect();
        names.join(", ")
    }
}
