//! Access rights as they are stored: levels, tiers, kinds of clients and scopes.

use base::{Fault, Scopes};
pub use store::apps::{AccessLevel, OAuthClientKind, Permission};

pub fn parse_stored_scopes(text: &str) -> Result<Scopes, Fault> {
    Scopes::parse(text).map_err(|name| Fault::new(format!("a stored scope {name:?} is unknown")))
}
