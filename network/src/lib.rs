//! What is allowed and what it means: the rules of the platform, each inside one transaction.

pub mod apps;
pub mod audit;
pub mod authenticator;
pub mod bearer;
mod callback;
pub mod compose;
pub mod explain;
pub mod follows;
pub mod grants;
pub mod homes;
pub mod joining;
pub mod letters;
pub mod links;
pub mod oauth1_flow;
pub mod oauth2_flow;
pub mod passwords;
pub mod portal;
pub mod posts;
pub mod sessions;
pub mod sign_in;
pub mod timelines;
pub mod tokens;
pub mod usage;
pub mod users;
pub mod visibility;
