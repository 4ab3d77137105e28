//! Accounts.

use crate::ids;
use crate::post::is_off;
use serde::{Deserialize, Serialize};

/// Someone's account as others see it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedUser {
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
    /// The mark itself, empty when not known; in our own lines only, as what follows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub verified_type: String,
    /// Subscription, empty when not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subscription_type: String,
    /// Whether it is a parody and says so.
    #[serde(skip_serializing_if = "is_off")]
    pub parody: bool,
    /// Whether somebody has looked at a document.
    #[serde(skip_serializing_if = "is_off")]
    pub identity_verified: bool,
    /// Takes messages only of those it follows.
    #[serde(skip_serializing_if = "is_off")]
    pub refuses_messages: bool,
    /// The badge as shown (JSON), or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub affiliation: String,
    /// The notice of withholding as shown (JSON), or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub withheld: String,
    /// The pinned post.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub pinned_post: Option<i64>,
}

/// Whose archive it is. E-mail, telephone and addresses are left out on purpose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedAccount {
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
pub struct ArchivedProfile {
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
