//! The data of an archive other than posts.

use super::ElementError;
use super::entities::{RawMention, RawUrl};
use crate::lenient::{LenientList, LenientNumber, LenientText};
use crate::text::{TextDraft, unescape_entities};
use crate::{
    ArchivedAccount, ArchivedDeletion, ArchivedLike, ArchivedList, ArchivedListRole, ArchivedNote, ArchivedProfile,
    time,
};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawAccount<'a> {
    account_id: LenientNumber,
    #[serde(borrow)]
    username: LenientText<'a>,
    account_display_name: LenientText<'a>,
    created_at: LenientText<'a>,
}

impl RawAccount<'_> {
    pub(crate) fn to_account(&self) -> Result<ArchivedAccount, ElementError> {
        let id = self.account_id.require("an account without an id")?;
        Ok(ArchivedAccount {
            id,
            handle: self.username.to_text(),
            name: self.account_display_name.to_text(),
            created_at_ms: time::from_id(id).or_else(|| time::parse(&self.created_at)).unwrap_or(0),
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawProfile<'a> {
    #[serde(borrow)]
    description: RawDescription<'a>,
    avatar_media_url: LenientText<'a>,
    header_media_url: LenientText<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawDescription<'a> {
    #[serde(borrow)]
    bio: LenientText<'a>,
    website: LenientText<'a>,
    location: LenientText<'a>,
}

impl RawProfile<'_> {
    pub(crate) fn to_profile(&self) -> ArchivedProfile {
        ArchivedProfile {
            bio: unescape_entities(&self.description.bio),
            website: self.description.website.to_text(),
            location: unescape_entities(&self.description.location),
            avatar_url: self.avatar_media_url.to_text(),
            header_url: self.header_media_url.to_text(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawRelation {
    account_id: LenientNumber,
}

impl RawRelation {
    pub(crate) fn parse_id(&self) -> Result<i64, ElementError> {
        self.account_id.require("an entry without an account id")
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawLike<'a> {
    tweet_id: LenientNumber,
    #[serde(borrow)]
    full_text: LenientText<'a>,
}

impl RawLike<'_> {
    pub(crate) fn to_like(&self) -> Result<ArchivedLike, ElementError> {
        Ok(ArchivedLike {
            user: None,
            post: self.tweet_id.require("a like without a post id")?,
            text: unescape_entities(&self.full_text),
            at_ms: None,
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawListInfo<'a> {
    #[serde(borrow)]
    url: LenientText<'a>,
    urls: LenientList<LenientText<'a>>,
}

impl RawListInfo<'_> {
    pub(crate) fn to_lists(&self, role: ArchivedListRole) -> Vec<ArchivedList> {
        let one = Some(&self.url).filter(|url| !url.is_empty());
        one.into_iter().chain(self.urls.iter()).map(|url| list_from_url(url, role)).collect()
    }
}

/// Parses `https://twitter.com/handle/lists/name` and `https://twitter.com/i/lists/123`.
fn list_from_url(url: &str, role: ArchivedListRole) -> ArchivedList {
    let (before, name) = url.rsplit_once('/').unwrap_or(("", url));
    let handle = before.strip_suffix("/lists").and_then(|path| path.rsplit_once('/'));
    ArchivedList {
        id: name.parse().ok(),
        owner_handle: handle.map(|(_, handle)| handle.to_owned()).filter(|handle| handle != "i"),
        name: name.to_owned(),
        role,
        url: url.to_owned(),
        ..ArchivedList::default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawDeletedHeader<'a> {
    #[serde(rename = "tweet_id")]
    tweet_id: LenientNumber,
    #[serde(borrow, rename = "deleted_at")]
    deleted_at: LenientText<'a>,
}

impl RawDeletedHeader<'_> {
    pub(crate) fn to_deleted_post(&self) -> Result<ArchivedDeletion, ElementError> {
        Ok(ArchivedDeletion {
            id: self.tweet_id.require("a deleted post without an id")?,
            deleted_at_ms: time::parse(&self.deleted_at),
            post: None,
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawNote<'a> {
    note_tweet_id: LenientNumber,
    #[serde(borrow)]
    created_at: LenientText<'a>,
    core: Option<RawCore<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawCore<'a> {
    #[serde(borrow)]
    text: LenientText<'a>,
    urls: LenientList<RawUrl<'a>>,
    mentions: LenientList<RawMention<'a>>,
}

impl RawNote<'_> {
    pub(crate) fn to_note(&self) -> Result<(ArchivedNote, String), ElementError> {
        let id = self.note_tweet_id.require("a note without an id")?;
        let core = self.core.as_ref().ok_or_else(|| ElementError::unreadable("a note without text"))?;
        let time = time::parse(&self.created_at).or_else(|| time::from_id(id));
        let plain = unescape_entities(&core.text);
        let mut draft = TextDraft { text: plain.clone(), urls: core.urls.iter().map(RawUrl::to_url).collect() };
        draft.expand_links();
        let note = ArchivedNote {
            id,
            text: draft.text,
            created_at_ms: time.ok_or_else(|| ElementError::unreadable("a note without a time"))?,
            urls: draft.urls,
            mentions: core.mentions.iter().map(RawMention::to_mention).collect(),
        };
        Ok((note, plain))
    }
}
