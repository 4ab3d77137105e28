//! Posts and what hangs on them.

use crate::ArchivedUser;
use crate::ids;
use serde::{Deserialize, Serialize};

/// One post, its text ready to store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedPost {
    /// The original id.
    #[serde(with = "ids")]
    pub id: i64,
    /// The author's id; none in an archive that does not tell whose it is.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub author: Option<i64>,
    /// HTML-unescaped, short links expanded, without the links that only stand for the
    /// attachments or the quoted post.
    pub text: String,
    /// Milliseconds since 1970; from the id where it carries a time.
    pub created_at_ms: i64,
    /// Language tag as given, `en`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// Name of the app it was written with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The post that this one answers.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub in_reply_to_post: Option<i64>,
    /// Whom this post answers.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub in_reply_to_user: Option<i64>,
    /// Handle of whom this post answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_reply_to_handle: Option<String>,
    /// The quoted post, told by the source or by a link to a post at the text's end.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub quoted_post: Option<i64>,
    /// Set when this is a repost; `text` then still begins with `RT @`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repost_of: Option<ArchivedRepost>,
    /// Attachments in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<ArchivedMedia>,
    /// Links in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<ArchivedUrl>,
    /// Mentioned accounts in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<ArchivedMention>,
    /// Ids of all versions, oldest first; empty for a post that was never edited.
    #[serde(with = "ids::list", skip_serializing_if = "Vec::is_empty")]
    pub edit_history: Vec<i64>,
    /// Whether the author or the network marked it so.
    pub possibly_sensitive: bool,
    /// Likes at the time of writing out.
    pub like_count: i64,
    /// Reposts at the time of writing out.
    pub repost_count: i64,
    /// The community that it was posted in.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub community_id: Option<i64>,
    /// The long note whose text replaced the shortened one.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub note: Option<i64>,
    /// Who may reply, `everyone` when absent; in our own lines only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_settings: Option<String>,
    /// For promotion only, in no timeline; in our own lines only.
    #[serde(skip_serializing_if = "is_off")]
    pub nullcast: bool,
    /// For subscribers of the author only; in our own lines only.
    #[serde(skip_serializing_if = "is_off")]
    pub followers_only: bool,
    /// Marked as made with AI; in our own lines only.
    #[serde(skip_serializing_if = "is_off")]
    pub made_with_ai: bool,
    /// Marked as a paid partnership; in our own lines only.
    #[serde(skip_serializing_if = "is_off")]
    pub paid_partnership: bool,
    /// The place that it is tagged with; in our own lines only, as what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Coordinates as shown (JSON), or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub geo: String,
    /// The card that it carries, or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub card: String,
    /// The address that opens a private conversation, or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message_link: String,
    /// The notice of withholding as shown (JSON), or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub withheld: String,
    /// The app that it was posted with.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub app: Option<i64>,
    /// Kept out of the home timelines of the author's followers.
    #[serde(skip_serializing_if = "is_off")]
    pub unshared: bool,
    /// For members of its community only.
    #[serde(skip_serializing_if = "is_off")]
    pub members_only: bool,
    /// The author as embedded in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Box<ArchivedUser>>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference to the field"
)]
pub(crate) fn is_off(switch: &bool) -> bool {
    !*switch
}

/// What a repost tells of its source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedRepost {
    /// The source's author.
    pub handle: String,
    /// The source's text, often cut off at 140 characters.
    pub text: String,
    /// The source; an archive does not tell it.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Id of the source's author where a mention tells it.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub author: Option<i64>,
}

/// What an attachment is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchivedMediaKind {
    /// A still picture.
    #[default]
    Photo,
    /// A film with sound.
    Video,
    /// A short film without sound that repeats.
    AnimatedGif,
    /// What is said in a film; in our own lines only.
    Subtitles,
}

/// One attachment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedMedia {
    /// The original id.
    #[serde(with = "ids")]
    pub id: i64,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: ArchivedMediaKind,
    /// File names to look for in the archive's media folders, best first.
    pub files: Vec<String>,
    /// Where the picture (of a film: its still) was served.
    pub url: String,
    /// Alternative text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
    /// Width in pixels, 0 when unknown.
    pub width: u32,
    /// Height in pixels, 0 when unknown.
    pub height: u32,
    /// Length of a film in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Encodings of a film.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<ArchivedVariant>,
    /// The file's format, or empty; in our own lines only, as what follows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content_type: String,
    /// The file's bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// Bits per second of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bit_rate: Option<i64>,
    /// Smaller pictures beside it, comma-separated.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sizes: String,
    /// Posts that carry it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<i64>,
    /// When it goes unless something carries it, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<i64>,
}

/// One encoding of a film.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedVariant {
    /// Where it was served.
    pub url: String,
    /// `video/mp4` or `application/x-mpegURL`.
    pub content_type: String,
    /// Bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitrate: Option<i64>,
}

/// One link of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedUrl {
    /// The short link that stood in the text.
    pub short: String,
    /// Where it leads.
    pub expanded: String,
    /// How it was shown.
    pub display: String,
    /// False when the link was taken out of the text because it stands for the quoted post.
    pub in_text: bool,
}

/// One mentioned account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchivedMention {
    /// The account; none when it was gone already.
    #[serde(with = "ids::option", skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Without the `@`.
    pub handle: String,
    /// Display name.
    pub name: String,
}
