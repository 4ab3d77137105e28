//! Accounts.

use crate::ids;
use serde::{Deserialize, Serialize};

/// Someone's account as others see it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct User {
    /// The original id.
    #[serde(with = "ids")]
    pub id: i64,
    /// Without the `@`.
    pub handle: String,
    /// Display name.
    pub name: String,
    /// HTML-unescaped, short links expanded.
    pub bio: String,
    /// As typed.
    pub location: String,
    /// Web site, expanded.
    pub website: String,
    /// Milliseconds since 1970, 0 when unknown.
    pub created_at_ms: i64,
    /// Whether only followers may read.
    pub protected: bool,
    /// Whether it bore a mark.
    pub verified: bool,
    /// Followers at the time of writing out.
    pub follower_count: i64,
    /// Followed accounts at the time of writing out.
    pub following_count: i64,
    /// Posts at the time of writing out.
    pub post_count: i64,
    /// Given likes at the time of writing out.
    pub like_count: i64,
    /// Lists that it is on at the time of writing out.
    pub listed_count: i64,
    /// Where the picture was served, empty for none.
    pub avatar_url: String,
    /// Where the banner was served, empty for none.
    pub banner_url: String,
}

/// Whose archive it is. E-mail, telephone and addresses are left out on purpose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// The original id.
    #[serde(with = "ids")]
    pub id: i64,
    /// Without the `@`.
    pub handle: String,
    /// Display name.
    pub name: String,
    /// Milliseconds since 1970, 0 when unknown.
    pub created_at_ms: i64,
}

/// The owner's page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// HTML-unescaped.
    pub bio: String,
    /// As typed.
    pub website: String,
    /// As typed.
    pub location: String,
    /// Where the picture was served; its file is [`crate::Archive::profile_media`].
    pub avatar_url: String,
    /// Where the banner was served.
    pub header_url: String,
}
