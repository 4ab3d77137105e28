//! What every floor speaks: ids, time, chance, words, permits, refusals, signatures and text.
//! Pure: no network, no storage, no clock but the one that is handed in.

pub mod chance;
pub mod clock;
pub mod entitlement;
pub mod fault;
pub mod id;
pub mod oauth1;
pub mod percent;
pub mod permit;
pub mod pkce;
pub mod refusal;
pub mod scope;
pub mod seal;
pub mod secret;
pub mod speech;
pub mod text;
pub mod time;

pub use chance::Chance;
pub use clock::Clock;
pub use entitlement::Entitlement;
pub use fault::Fault;
pub use id::{AppId, Id, PostId, UserId};
pub use permit::{Credential, Permit};
pub use refusal::{Refusal, Stop};
pub use scope::{Scope, Scopes};
pub use secret::Secret;
pub use speech::{Speech, Word};
pub use time::Time;
