//! Accounts and apps: registration, sign-in, OAuth, moderation and deletion. Each operation runs inside one transaction.
//!
//! Large futures that other crates await are boxed, so that they are compiled here and not in each of those.

pub mod account_archives;
pub mod account_deletion;
pub mod account_states;
pub mod app_names;
pub mod apps;
pub mod authenticator;
pub mod bearer;
mod callback_urls;
pub mod developer_apps;
pub mod email_links;
pub mod explain;
pub mod first_owner;
pub mod grants;
pub mod invitations;
pub mod moderation;
pub mod oauth1_flow;
pub mod oauth2_flow;
pub mod passkeys;
pub mod passwords;
pub mod pending_sign_ins;
pub mod refused_request;
pub mod registration;
pub mod security_events;
pub mod sessions;
pub mod sign_in;
pub mod tokens;
pub mod two_factor;
