//! What an archive holds besides posts.

use super::Fault;
use super::entities::{RawMention, RawUrl};
use crate::lenient::{Items, Number, Text};
use crate::text::{Draft, unescape};
use crate::{Account, DeletedPost, Like, List, ListRole, NoteTweet, Profile, time};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawAccount<'a> {
    account_id: Number,
    #[serde(borrow)]
    username: Text<'a>,
    #[serde(borrow)]
    account_display_name: Text<'a>,
    #[serde(borrow)]
    created_at: Text<'a>,
}

impl RawAccount<'_> {
    pub(crate) fn account(&self) -> Result<Account, Fault> {
        let id = self
            .account_id
            .0
            .ok_or_else(|| Fault::bad("an account without an id"))?;
        Ok(Account {
            id,
            handle: self.username.owned(),
            name: self.account_display_name.owned(),
            created_at_ms: time::of_id(id)
                .or_else(|| time::parse(&self.created_at))
                .unwrap_or(0),
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawProfile<'a> {
    #[serde(borrow)]
    description: RawDescription<'a>,
    #[serde(borrow)]
    avatar_media_url: Text<'a>,
    #[serde(borrow)]
    header_media_url: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawDescription<'a> {
    #[serde(borrow)]
    bio: Text<'a>,
    #[serde(borrow)]
    website: Text<'a>,
    #[serde(borrow)]
    location: Text<'a>,
}

impl RawProfile<'_> {
    pub(crate) fn profile(&self) -> Profile {
        Profile {
            bio: unescape(&self.description.bio),
            website: self.description.website.owned(),
            location: unescape(&self.description.location),
            avatar_url: self.avatar_media_url.owned(),
            header_url: self.header_media_url.owned(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawTie {
    account_id: Number,
}

impl RawTie {
    pub(crate) fn id(&self) -> Result<i64, Fault> {
        self.account_id
            .0
            .ok_or_else(|| Fault::bad("an entry without an account id"))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawLike<'a> {
    tweet_id: Number,
    #[serde(borrow)]
    full_text: Text<'a>,
}

impl RawLike<'_> {
    pub(crate) fn like(&self) -> Result<Like, Fault> {
        Ok(Like {
            user: None,
            post: self
                .tweet_id
                .0
                .ok_or_else(|| Fault::bad("a like without a post id"))?,
            text: unescape(&self.full_text),
            at_ms: None,
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawListInfo<'a> {
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    urls: Items<Text<'a>>,
}

impl RawListInfo<'_> {
    pub(crate) fn lists(&self, role: ListRole) -> Vec<List> {
        let one = Some(&self.url).filter(|url| !url.is_empty());
        one.into_iter()
            .chain(self.urls.iter())
            .map(|url| list(url, role))
            .collect()
    }
}

/// Reads `https://twitter.com/handle/lists/name` and `https://twitter.com/i/lists/123`.
fn list(url: &str, role: ListRole) -> List {
    let (before, name) = url.rsplit_once('/').unwrap_or(("", url));
    let handle = before
        .strip_suffix("/lists")
        .and_then(|path| path.rsplit_once('/'));
    List {
        id: name.parse().ok(),
        owner_handle: handle
            .map(|(_, handle)| handle.to_owned())
            .filter(|handle| handle != "i"),
        name: name.to_owned(),
        role,
        url: url.to_owned(),
        ..List::default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawDeletedHeader<'a> {
    #[serde(rename = "tweet_id")]
    tweet_id: Number,
    #[serde(borrow, rename = "deleted_at")]
    deleted_at: Text<'a>,
}

impl RawDeletedHeader<'_> {
    pub(crate) fn deleted(&self) -> Result<DeletedPost, Fault> {
        Ok(DeletedPost {
            id: self
                .tweet_id
                .0
                .ok_or_else(|| Fault::bad("a deleted post without an id"))?,
            deleted_at_ms: time::parse(&self.deleted_at),
            post: None,
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawNote<'a> {
    note_tweet_id: Number,
    #[serde(borrow)]
    created_at: Text<'a>,
    #[serde(borrow)]
    core: Option<RawCore<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawCore<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    urls: Items<RawUrl<'a>>,
    #[serde(borrow)]
    mentions: Items<RawMention<'a>>,
}

impl RawNote<'_> {
    /// The note, and its text before links were expanded.
    pub(crate) fn note(&self) -> Result<(NoteTweet, String), Fault> {
        let id = self
            .note_tweet_id
            .0
            .ok_or_else(|| Fault::bad("a note without an id"))?;
        let core = self
            .core
            .as_ref()
            .ok_or_else(|| Fault::bad("a note without text"))?;
        let time = time::parse(&self.created_at).or_else(|| time::of_id(id));
        let plain = unescape(&core.text);
        let mut draft = Draft {
            text: plain.clone(),
            urls: core.urls.iter().map(RawUrl::url).collect(),
        };
        draft.expand();
        let note = NoteTweet {
            id,
            text: draft.text,
            created_at_ms: time.ok_or_else(|| Fault::bad("a note without a time"))?,
            urls: draft.urls,
            mentions: core.mentions.iter().map(RawMention::mention).collect(),
        };
        Ok((note, plain))
    }
}
