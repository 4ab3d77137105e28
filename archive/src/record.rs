//! The records of an archive or an export.

use crate::{
    ArchivedAccount, ArchivedMedia, ArchivedMention, ArchivedPost, ArchivedProfile, ArchivedUrl, ArchivedUser, ids,
};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::fmt;

/// In an export, a line is this object with its `kind`, and ids as strings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ArchiveRecord {
    Account(ArchivedAccount),
    Profile(ArchivedProfile),
    User(Box<ArchivedUser>),
    Post(Box<ArchivedPost>),
    /// The full text of a long post; already joined to the post that it belongs to.
    NoteTweet(ArchivedNote),
    Follow(UserRelation),
    Block(UserRelation),
    Mute(UserRelation),
    FollowRequest(UserRelation),
    DmBlock(UserRelation),
    Like(ArchivedLike),
    List(ArchivedList),
    ListMember(ArchivedListMember),
    DeletedPost(ArchivedDeletion),
    Media(ArchivedAttachment),
    Message(Box<ArchivedMessage>),
    Skipped(SkippedItem),
    /// Any other line of our own export, unchanged.
    #[serde(untagged)]
    Row(ExportRow),
}

impl ArchiveRecord {
    pub fn to_json_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A line of our own export that this crate does not interpret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportRow {
    pub kind: String,
    /// In order.
    pub cells: Vec<(String, Value)>,
}

impl Serialize for ExportRow {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.cells.len() + 1))?;
        map.serialize_entry("kind", &self.kind)?;
        for (name, value) in &self.cells {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A relation between two users; `None` is the archive's owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserRelation {
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// Determines the order; in our own export only.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
}

/// A like. Archives contain neither its time nor the post's author.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedLike {
    /// `None` is the archive's owner.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub user: Option<i64>,
    #[serde(with = "ids")]
    pub post: i64,
    /// HTML-unescaped; empty when unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationEventKind {
    #[default]
    Said,
    Join,
    Leave,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedMessage {
    /// `<lower>-<higher>` user ids, or the id of a group.
    pub conversation: String,
    /// The original id; `None` for a change of participants.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    pub happening: ConversationEventKind,
    /// The user who sent it, added participants, or left.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub sender: Option<i64>,
    /// The recipients, or those who joined or left.
    #[serde(with = "ids::list", skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<i64>,
    /// HTML-unescaped, with short links expanded.
    pub text: String,
    pub at_ms: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedNote {
    /// The note's own id, which is not the post's.
    #[serde(with = "ids")]
    pub id: i64,
    /// HTML-unescaped, with short links expanded.
    pub text: String,
    pub created_at_ms: i64,
    pub urls: Vec<ArchivedUrl>,
    pub mentions: Vec<ArchivedMention>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchivedListRole {
    #[default]
    Created,
    Member,
    Subscribed,
}

/// A list. Archives only contain its URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedList {
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub owner: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_handle: Option<String>,
    /// In an archive, the last part of the URL.
    pub name: String,
    pub description: String,
    pub private: bool,
    pub role: ArchivedListRole,
    pub url: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedListMember {
    #[serde(with = "ids")]
    pub list: i64,
    #[serde(with = "ids")]
    pub user: i64,
    /// Determines the order; in our own export only.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedDeletion {
    #[serde(with = "ids")]
    pub id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at_ms: Option<i64>,
    /// The post itself, if the archive still contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post: Option<Box<ArchivedPost>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedAttachment {
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub post: Option<i64>,
    /// For an attachment without a post.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub owner: Option<i64>,
    #[serde(flatten)]
    pub media: ArchivedMedia,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedItem {
    /// The data type, such as `directMessages`, or a line's `kind`; named `type`, as `kind` is the
    /// record's own.
    #[serde(rename = "type")]
    pub kind: String,
    pub file: String,
    /// The number of an [`crate::ElementPlace`]; `None` when the whole file was skipped.
    pub element: Option<u64>,
    pub count: u64,
    pub why: SkipReason,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Private data that are only imported on request.
    Private,
    /// A known data type that has no equivalent here.
    NotKept,
    Unknown,
    /// A file of the manifest that is not in this part of the archive.
    Absent,
    Bad(String),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Private => "private, only imported on request",
            Self::NotKept => "not supported",
            Self::Unknown => "not a known data type",
            Self::Absent => "listed in the manifest but not in this part",
            Self::Bad(why) => why,
        })
    }
}
