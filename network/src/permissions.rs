//! Access rights as they are stored: levels, tiers, kinds of clients and scopes.

use std::str::FromStr;

use base::{Entitlement, Fault, Scopes, named_enum};

macro_rules! parse_names {
    ($($name:ident)*) => {
        $(impl FromStr for $name {
            type Err = Fault;

            fn from_str(text: &str) -> Result<Self, Fault> {
                let names = || Self::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
                Self::parse(text).ok_or_else(|| Fault::new(format!("{text:?} is not one of {}", names())))
            }
        })*
    };
}

parse_names! { Permission OAuthClientKind AccessLevel }

named_enum! {
    /// The OAuth 1.0a access level; each includes the previous ones.
    pub enum Permission {
        Read = "read",
        Write = "write",
        Messages = "messages",
    }
}

named_enum! {
    pub enum OAuthClientKind {
        /// Confidential.
        Web = "web",
        /// A bot; confidential.
        Automated = "automated",
        /// Public.
        Native = "native",
        /// Public.
        SinglePage = "single-page",
    }
}

named_enum! {
    pub enum AccessLevel {
        /// Pay per use.
        SelfServe = "self-serve",
        Enterprise = "enterprise",
    }
}

impl AccessLevel {
    /// Default entitlements of the tier. Operators can add others, such as the full archive, per app.
    pub const fn default_entitlements(self) -> &'static [Entitlement] {
        match self {
            Self::SelfServe => &[Entitlement::Blocks, Entitlement::FollowsAndLikes, Entitlement::Ads],
            // Conversion reporting, by which advertisers are charged, is granted per app.
            Self::Enterprise => {
                &[Entitlement::FullArchive, Entitlement::Blocks, Entitlement::FollowsAndLikes, Entitlement::Ads]
            }
        }
    }
}

impl OAuthClientKind {
    /// Whether the client has a secret.
    pub const fn is_confidential(self) -> bool {
        matches!(self, Self::Web | Self::Automated)
    }
}

pub(crate) fn parse_stored_scopes(text: &str) -> Result<Scopes, Fault> {
    Scopes::parse(text).map_err(|name| Fault::new(format!("a stored scope {name:?} is unknown")))
}
