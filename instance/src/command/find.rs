//! Resolves users, posts and apps named on the command line.

pub(super) use network::lookup::{app, not_found, post_id, user, user_or_deleted};
