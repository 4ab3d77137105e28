//! Posts and their attachments, links and mentions.

use crate::ArchivedUser;
use crate::ids;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedPost {
    #[serde(with = "ids")]
    pub id: i64,
    /// `None` if the archive does not name its owner.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub author: Option<i64>,
    /// HTML-unescaped, with short links expanded, and without the links that represent attachments
    /// or the quoted post.
    pub text: String,
    pub created_at_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub in_reply_to_post: Option<i64>,
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub in_reply_to_user: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_reply_to_handle: Option<String>,
    /// From the source, or from a link to a post at the end of the text.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub quoted_post: Option<i64>,
    /// Set for a repost; `text` then still begins with `RT @`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repost_of: Option<ArchivedRepost>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<ArchivedMedia>,
    /// Not in our own export of a server, which has the tables of polls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<ArchivedPoll>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<ArchivedUrl>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<ArchivedMention>,
    /// The ids of all versions, oldest first; empty for a post that was never edited.
    #[serde(with = "ids::list", skip_serializing_if = "Vec::is_empty")]
    pub edit_history: Vec<i64>,
    pub possibly_sensitive: bool,
    pub like_count: i64,
    pub repost_count: i64,
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub community_id: Option<i64>,
    /// The long note whose text replaced the shortened one.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub note: Option<i64>,
    /// `everyone` when absent; in our own export only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_settings: Option<String>,
    /// For promotion only, in no timeline; in our own export only.
    #[serde(skip_serializing_if = "is_off")]
    pub nullcast: bool,
    /// For subscribers of the author only; in our own export only.
    #[serde(skip_serializing_if = "is_off")]
    pub followers_only: bool,
    #[serde(skip_serializing_if = "is_off")]
    pub made_with_ai: bool,
    #[serde(skip_serializing_if = "is_off")]
    pub paid_partnership: bool,
    /// This and the following fields are in our own export only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Coordinates as rendered (JSON), or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub geo: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub card: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message_link: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub withheld: String,
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub app: Option<i64>,
    #[serde(skip_serializing_if = "is_off")]
    pub unshared: bool,
    #[serde(skip_serializing_if = "is_off")]
    pub members_only: bool,
    /// The author as embedded in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Box<ArchivedUser>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference to the field")]
pub(crate) fn is_off(switch: &bool) -> bool {
    !*switch
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedRepost {
    pub handle: String,
    /// The source's text, often truncated to 140 characters.
    pub text: String,
    /// Not known in archives.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub author: Option<i64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchivedMediaKind {
    #[default]
    Photo,
    Video,
    AnimatedGif,
    Subtitles,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedMedia {
    #[serde(with = "ids")]
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: ArchivedMediaKind,
    /// File names in the archive's media folders, best first.
    pub files: Vec<String>,
    /// The URL of the picture, or of a video's preview image.
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
    pub width: u32,
    pub height: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<ArchivedVariant>,
    /// The file's format, or empty; this and the following fields are in our own export only.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Bits per second of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bit_rate: Option<i64>,
    /// Names of the resized copies, comma-separated.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sizes: String,
    /// The number of posts that have it, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<i64>,
    /// When it is deleted unless it is used, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<i64>,
    /// Names of the transcoded copies with their bits per second, comma-separated.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub variant_files: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedVariant {
    pub url: String,
    /// `video/mp4` or `application/x-mpegURL`.
    pub content_type: String,
    /// Bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitrate: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedPoll {
    pub options: Vec<ArchivedPollOption>,
    pub ends_at_ms: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedPollOption {
    pub label: String,
    pub votes: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedUrl {
    pub short: String,
    pub expanded: String,
    pub display: String,
    /// False when the link was removed from the text because it represents the quoted post.
    pub in_text: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedMention {
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    pub handle: String,
    pub name: String,
}
