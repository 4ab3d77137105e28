//! What is allowed and what it means: the rules of the platform, each inside one transaction.

pub mod apps;
pub mod authenticator;
pub mod bearer;
mod callback;
pub mod compose;
pub mod follows;
pub mod grants;
pub mod homes;
pub mod oauth1_flow;
pub mod oauth2_flow;
pub mod passwords;
pub mod posts;
pub mod timelines;
pub mod tokens;
pub mod users;
pub mod visibility;
