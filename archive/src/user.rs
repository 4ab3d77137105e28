//! Users, and the archive's owner.

use crate::ids;
use crate::post::is_off;
use serde::{Deserialize, Serialize};

/// A user; the counters are as of the export, and empty texts are unknown or missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedUser {
    #[serde(with = "ids")]
    pub id: i64,
    /// Without the `@`.
    pub handle: String,
    pub name: String,
    /// HTML-unescaped, with short links expanded.
    pub bio: String,
    pub location: String,
    /// With short links expanded.
    pub website: String,
    /// Milliseconds since 1970, 0 when unknown.
    pub created_at_ms: i64,
    pub protected: bool,
    pub verified: bool,
    pub follower_count: i64,
    pub following_count: i64,
    pub post_count: i64,
    pub like_count: i64,
    pub listed_count: i64,
    pub avatar_url: String,
    pub banner_url: String,
    /// The kind of the badge, empty when unknown; this and the following fields are in our own
    /// export only.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub verified_type: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subscription_type: String,
    #[serde(skip_serializing_if = "is_off")]
    pub parody: bool,
    #[serde(skip_serializing_if = "is_off")]
    pub identity_verified: bool,
    /// Accepts messages only from accounts that it follows.
    #[serde(skip_serializing_if = "is_off")]
    pub refuses_messages: bool,
    /// The badge as rendered (JSON), or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub affiliation: String,
    /// The withholding notice as rendered (JSON), or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub withheld: String,
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub pinned_post: Option<i64>,
}

/// The archive's owner. Email, telephone and addresses are deliberately not read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedAccount {
    #[serde(with = "ids")]
    pub id: i64,
    /// Without the `@`.
    pub handle: String,
    pub name: String,
    /// Milliseconds since 1970, 0 when unknown.
    pub created_at_ms: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedProfile {
    /// HTML-unescaped.
    pub bio: String,
    pub website: String,
    pub location: String,
    pub avatar_url: String,
    pub header_url: String,
}
