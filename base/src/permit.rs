//! Which credentials an operation accepts, and what each must carry (contract core §2.7).

use crate::Scopes;

crate::named_enum! {
    pub enum Credential {
        OAuth1 = "OAuth 1.0a User Context",
        App = "OAuth 2.0 Application-Only",
        OAuth2 = "OAuth 2.0 User Context",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permit {
    pub open: bool,
    pub oauth1: bool,
    pub app: bool,
    pub oauth2: bool,
    /// The scopes that an OAuth 2.0 user token must have, all of them.
    pub scopes: Scopes,
}

impl Permit {
    pub const OPEN: Self = Self { open: true, ..Self::NOBODY };
    pub const NOBODY: Self = Self { open: false, oauth1: false, app: false, oauth2: false, scopes: Scopes::NONE };

    /// Parses the contract's letters: `1` OAuth 1.0a user, `A` app-only, `2` OAuth 2.0 user.
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

    pub const fn accepts(self, credential: Credential) -> bool {
        match credential {
            Credential::OAuth1 => self.oauth1,
            Credential::App => self.app,
            Credential::OAuth2 => self.oauth2,
        }
    }

    pub fn accepted_names(self) -> String {
        // The order is that of the public API's own text.
        let kinds = [Credential::OAuth1, Credential::App, Credential::OAuth2];
        let names: Vec<_> = kinds.into_iter().filter(|kind| self.accepts(*kind)).map(Credential::name).collect();
        names.join(", ")
    }
}
