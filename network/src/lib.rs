//! What is allowed and what it means: the rules of the platform, each inside one transaction.

pub mod apps;
pub mod authenticator;
pub mod bearer;
pub mod compose;
pub mod follows;
pub mod homes;
pub mod passwords;
pub mod posts;
pub mod timelines;
pub mod tokens;
pub mod users;
pub mod visibility;
