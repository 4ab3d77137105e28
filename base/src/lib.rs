//! Types that most crates use: ids, time, randomness, scopes, permits, refusals, OAuth 1.0a
//! signatures and text. No network, no storage; the clock is a parameter.

pub mod clock;
pub mod clock_mode;
pub mod csv;
pub mod cursor;
pub mod encryption;
pub mod entitlement;
pub mod fault;
pub mod id;
mod named_enum;
pub mod oauth1;
pub mod percent;
pub mod permit;
pub mod pkce;
pub mod refusal;
pub mod rng;
pub mod scope;
pub mod secret;
pub mod short_links;
pub mod sorting;
pub mod text;
pub mod time;
pub mod time_zone;
pub mod vocabulary;

pub use clock::Clock;
pub use entitlement::Entitlement;
pub use fault::Fault;
pub use id::{AppId, Id, MediaId, PostId, UserId};
pub use permit::{Credential, Permit};
pub use refusal::{Error, Refusal, SplitRefusal};
pub use rng::Rng;
pub use scope::{Scope, Scopes};
pub use secret::Secret;
pub use short_links::SiteLinks;
pub use sorting::{order_by_keys, sorted_distinct};
pub use time::Time;
pub use time_zone::AccountTimeZone;
pub use vocabulary::{Vocabulary, VocabularyWord};
