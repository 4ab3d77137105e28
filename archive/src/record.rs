//! The things that an archive or a line can hold.

use crate::{
    ArchivedAccount, ArchivedMedia, ArchivedMention, ArchivedPost, ArchivedProfile, ArchivedUrl, ArchivedUser, ids,
};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::fmt;

/// One thing read. As a line of the export it is this object with its `kind`, ids as strings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ArchiveRecord {
    /// Whose archive it is.
    Account(ArchivedAccount),
    /// The owner's page.
    Profile(ArchivedProfile),
    /// An account.
    User(Box<ArchivedUser>),
    /// A post.
    Post(Box<ArchivedPost>),
    /// The whole text of a long post; joined already to the post that it belongs to.
    NoteTweet(ArchivedNote),
    /// `from` follows `to`.
    Follow(UserRelation),
    /// `from` blocks `to`.
    Block(UserRelation),
    /// `from` mutes `to`.
    Mute(UserRelation),
    /// `from` has asked to follow the protected `to`.
    FollowRequest(UserRelation),
    /// `from` takes no direct messages of `to`.
    DmBlock(UserRelation),
    /// A like.
    Like(ArchivedLike),
    /// A list.
    List(ArchivedList),
    /// An account on a list.
    ListMember(ArchivedListMember),
    /// A post that its author deleted.
    DeletedPost(ArchivedDeletion),
    /// An attachment that stands on its own line.
    Media(ArchivedAttachment),
    /// An event of a conversation of direct messages.
    Message(Box<ArchivedMessage>),
    /// Something that was left out.
    Skipped(SkippedItem),
    /// A line of ours of any other kind, as it stands.
    #[serde(untagged)]
    Row(ExportRow),
}

impl ArchiveRecord {
    /// The record as one line of JSON without a line break.
    pub fn to_json_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A line of ours whose kind means nothing here: whoever stores it knows what it may say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportRow {
    /// Its kind.
    pub kind: String,
    /// Its members in order.
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

/// One account's stance towards another. None stands for the owner of the archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserRelation {
    /// Who does it.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// To whom.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// What puts it into an order; in our own lines only.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
}

/// A like. An archive knows neither its time nor the post's author.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedLike {
    /// Who likes; none stands for the owner of the archive.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub user: Option<i64>,
    /// The liked post.
    #[serde(with = "ids")]
    pub post: i64,
    /// Its text, HTML-unescaped, when known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// When, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
}

/// What an event of a conversation is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationEventKind {
    /// A message.
    #[default]
    Said,
    /// Participants came.
    Join,
    /// Participants left.
    Leave,
}

/// An event of a conversation of direct messages, as the owner of the archive has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedMessage {
    /// The conversation: `<lower>-<higher>` of two, the number of a group.
    pub conversation: String,
    /// The original id; a change of a group has none.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// What it is.
    pub happening: ConversationEventKind,
    /// Who wrote it, let others in, or left.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub sender: Option<i64>,
    /// To whom, or who came or left.
    #[serde(with = "ids::list", skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<i64>,
    /// HTML-unescaped, short links expanded.
    pub text: String,
    /// Milliseconds since 1970.
    pub at_ms: i64,
}

/// A long post's whole text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedNote {
    /// The note's own id, which is not the post's.
    #[serde(with = "ids")]
    pub id: i64,
    /// HTML-unescaped, short links expanded.
    pub text: String,
    /// Milliseconds since 1970.
    pub created_at_ms: i64,
    /// Links in order.
    pub urls: Vec<ArchivedUrl>,
    /// Mentioned accounts in order.
    pub mentions: Vec<ArchivedMention>,
}

/// What the owner is to a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchivedListRole {
    /// Made it.
    #[default]
    Created,
    /// Is on it.
    Member,
    /// Reads it.
    Subscribed,
}

/// A list. An archive knows its address only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedList {
    /// The original id when known.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Whose it is, when known.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub owner: Option<i64>,
    /// Handle of whose it is, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_handle: Option<String>,
    /// Its name, of an archive the last part of its address.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Whether only the owner sees it.
    pub private: bool,
    /// What the owner of the archive is to it.
    pub role: ArchivedListRole,
    /// Its address.
    pub url: String,
}

/// An account on a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedListMember {
    /// The list.
    #[serde(with = "ids")]
    pub list: i64,
    /// The account.
    #[serde(with = "ids")]
    pub user: i64,
    /// What puts it into an order; in our own lines only.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
}

/// A deleted post.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedDeletion {
    /// The post's id.
    #[serde(with = "ids")]
    pub id: i64,
    /// When, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at_ms: Option<i64>,
    /// The post itself when the archive still holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post: Option<Box<ArchivedPost>>,
}

/// An attachment on its own line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedAttachment {
    /// The post that it hangs on.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub post: Option<i64>,
    /// Whose it is, when it hangs on no post.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub owner: Option<i64>,
    /// The attachment.
    #[serde(flatten)]
    pub media: ArchivedMedia,
}

/// Something that was left out, for the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedItem {
    /// The data type, `directMessages`; of a line, its `kind`. Named apart from the record's kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// The file.
    pub file: String,
    /// The element counted from 0; none when the whole file was left out.
    pub element: Option<u64>,
    /// How many things were left out.
    pub count: u64,
    /// The reason.
    pub why: SkipReason,
}

/// Why something was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Private data that is not imported unless asked.
    Private,
    /// A known data type that nothing here stands for.
    NotKept,
    /// A data type that this reader does not know.
    Unknown,
    /// The manifest promises the file, this part of the archive does not hold it.
    Absent,
    /// The element cannot be read.
    Bad(String),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Private => "private, not imported unless asked",
            Self::NotKept => "nothing here stands for it",
            Self::Unknown => "not a known data type",
            Self::Absent => "promised by the manifest but not in this part",
            Self::Bad(why) => why,
        })
    }
}
